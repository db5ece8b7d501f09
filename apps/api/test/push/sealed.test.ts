import { describe, expect, it } from '@jest/globals';
import { createSeal } from '../../src/push/sealed.ts';

const [first, second] = ['a'.repeat(32), 'b'.repeat(32)];
const address = { kind: 'ntfy', url: 'https://ntfy.sh', topic: 'garden' };

describe('sealed addresses', () => {
  it('are opened by the secret that sealed them, wherever it is in the list', () => {
    const sealed = createSeal([first]).seal(address);
    expect(createSeal([first]).open(sealed)).toEqual(address);
    expect(createSeal([second, first]).open(sealed)).toEqual(address);
  });

  it('are opened by no other secret, and show nothing', () => {
    const sealed = createSeal([first]).seal(address);
    expect(createSeal([second]).open(sealed)).toBeUndefined();
    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('garden');
  });

  it('are not opened when a byte was changed or is missing', () => {
    const seal = createSeal([first]);
    const bytes = Buffer.from(seal.seal(address), 'base64url');
    bytes[bytes.length - 1]! ^= 1;
    expect(seal.open(bytes.toString('base64url'))).toBeUndefined();
    for (const length of [0, 5, 20, bytes.length - 1])
      expect(seal.open(bytes.subarray(0, length).toString('base64url'))).toBeUndefined();
  });

  it('are found again by their hash after the secret was rotated', () => {
    const [before] = createSeal([first]).hashes('address');
    const after = createSeal([second, first]).hashes('address');
    expect(after).toContain(before);
    expect(after[0]).not.toBe(before);
  });
});
