import { describe, expect, it } from '@jest/globals';
import { AddressRefused, createGuard } from '../../src/push/guard.ts';

const guard = createGuard(['ntfy.internal:8080', '127.0.0.1:9000']);

describe('the guard of addresses that people give', () => {
  it.each([
    'https://ntfy.sh',
    'https://ntfy.sh:443/topic',
    'https://93.184.216.34/hook',
    'https://[2606:2800:220:1:248:1893:25c8:1946]/',
    'http://ntfy.internal:8080/x',
    'http://127.0.0.1:9000/',
  ])('takes %s', (address) => {
    expect(guard.check(address)).toMatchObject({ url: expect.any(URL) });
  });

  it.each([
    'http://ntfy.sh',
    'https://ntfy.sh:8443',
    'ftp://ntfy.sh',
    'javascript:alert(1)',
    'not an address',
    'https://ada:secret@ntfy.sh/',
    'https://127.0.0.1/',
    'https://0x7f.1/',
    'https://2130706433/',
    'https://017700000001/',
    'https://10.0.0.1/',
    'https://169.254.169.254/latest/meta-data',
    'https://100.64.0.1/',
    'https://0.0.0.0/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[fd00::1]/',
    'https://[fe80::1]/',
    'https://localhost/',
    'https://redis/',
    'https://relay.cluster.local/',
    'https://metadata.google.internal/',
    'http://ntfy.internal:8081/',
    'http://127.0.0.1:9001/',
    `https://ntfy.sh/${'x'.repeat(1000)}`,
  ])('refuses %s', (address) => {
    expect(guard.check(address)).toMatchObject({ why: expect.any(String) });
  });

  const lookUp = (given: { address: string; family: number }[], url = 'https://hook.example.com/') =>
    new Promise<unknown>((resolve) => {
      const looking = createGuard(['hook.example.com:8080'], (_host, then) => then(null, given)).lookupFor(
        new URL(url),
      );
      looking('hook.example.com', { all: true }, (error, found) => resolve(error ?? found));
    });
  const open = { address: '93.184.216.34', family: 4 };
  const inner = { address: '10.1.2.3', family: 4 };

  it('gives the socket exactly the addresses that were checked', async () => {
    expect(await lookUp([open])).toEqual([open]);
  });

  it.each([
    ['a name that leads inside', [inner]],
    ['a name with one address inside among others', [open, inner]],
    ['a name of the loopback in IPv6', [{ address: '::ffff:127.0.0.1', family: 6 }]],
  ])('refuses %s', async (_name, found) => {
    expect(await lookUp(found)).toBeInstanceOf(AddressRefused);
  });

  it('fails for a name without an address', async () => {
    expect(await lookUp([])).toBeInstanceOf(Error);
  });

  it('lets a host that the operator named lead inside, on its port alone', async () => {
    expect(await lookUp([inner], 'http://hook.example.com:8080/')).toEqual([inner]);
    expect(await lookUp([inner], 'https://hook.example.com/')).toBeInstanceOf(AddressRefused);
  });
});
