import { describe, expect, it } from '@jest/globals';
import { createSeal } from '../../src/push/sealed.ts';

const [first, second] = ['a'.repeat(32), 'b'.repeat(32)];
const address = { kind: 'ntfy', url: 'https://ntfy.sh', topic: 'garden' };

describe('sealed addresses', () => {
  it('open with the secret that encrypted them, anywhere in the list', () => {
    const sealed = createSeal([first]).seal(address);
    expect(createSeal([first]).open(sealed)).toEqual(address);
    expect(createSeal([second, first]).open(sealed)).toEqual(address);
  });

  it('open with no other secret, and reveal nothing', () => {
    const sealed = createSeal([first]).seal(address);
    expect(createSeal([second]).open(sealed)).toBeUndefined();
    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('garden');
  });

  it('do not open if a byte is changed or missing', () => {
    const seal = createSeal([first]);
    const bytes = Buffer.from(seal.seal(address), 'base64url');
    bytes[bytes.length - 1]! ^= 1;
    expect(seal.open(bytes.toString('base64url'))).toBeUndefined();
    for (const length of [0, 5, 20, bytes.length - 1])
      expect(seal.open(bytes.subarray(0, length).toString('base64url'))).toBeUndefined();
  });

  it('keep their hash after the secret rotates', () => {
    const [before] = createSeal([first]).hashes('address');
    const after = createSeal([second, first]).hashes('address');
    expect(after).toContain(before);
    expect(after[0]).not.toBe(before);
  });
});
