import { describe, expect, it } from '@jest/globals';
import { networkOf } from '../../src/http/address.ts';

describe('S8: the network that limits count', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:0201', '192.0.2.1'],
    ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::'],
    ['2001:0DB8:0001:0002::1', '2001:db8:1:2::'],
    ['2001:db8::1', '2001:db8::'],
    ['2001:db8:0:5::', '2001:db8:0:5::'],
    ['fe80::1%eth0', 'fe80::'],
    ['::1', '::'],
    ['64:ff9b::192.0.2.1', '64:ff9b::'],
    ['unknown', 'unknown'],
    ['', ''],
  ])('S8: %s is %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  it('S8: two addresses of one customer share a network, addresses of two customers do not', () => {
    expect(networkOf('2001:db8:1:2:ffff::1')).toBe(networkOf('2001:db8:1:2::9'));
    expect(networkOf('2001:db8:1:3::1')).not.toBe(networkOf('2001:db8:1:2::1'));
  });
});
