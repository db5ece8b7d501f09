import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createDeviceCode, deriveDeviceToken, hashDeviceCode, hashDeviceToken, isDeviceToken } from '../src/index.ts';

const tokens = fc.tuple(fc.string(), fc.string()).map(([code, salt]) => deriveDeviceToken(code, salt));
const charset = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_ .~\u00e9'];

describe('a device token', () => {
  it('has the shape that secret scanners know', () => {
    fc.assert(
      fc.property(tokens, (token) => {
        expect(token).toMatch(/^rly_drt_[A-Za-z0-9_-]{43}[0-9A-Za-z]{6}$/);
        expect(isDeviceToken(token)).toBe(true);
      }),
    );
  });

  it('never changes for the same code and salt: devices in the field depend on it', () => {
    expect(deriveDeviceToken('code', 'salt')).toBe(deriveDeviceToken('code', 'salt'));
    expect(deriveDeviceToken('code', 'salt')).toBe('rly_drt_3qEzUPCNpl2MEPIXhELeGvpADgXHNXTrteGVE-kwwbQ1KwMOX');
  });

  it('differs for another code or another salt', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), fc.string(), (codeA, saltA, codeB, saltB) => {
        fc.pre(codeA !== codeB || saltA !== saltB);
        // HMAC pads a short key with zeros and hashes a long one; real codes are 43 characters without zeros.
        fc.pre(![codeA, codeB].some((code) => code.includes('\0') || Buffer.byteLength(code) > 64));
        expect(deriveDeviceToken(codeA, saltA)).not.toBe(deriveDeviceToken(codeB, saltB));
      }),
    );
  });

  it('with any one character changed fails, and would have another hash', () => {
    fc.assert(
      fc.property(tokens, fc.nat(56), fc.constantFrom(...charset), (token, position, character) => {
        fc.pre(token[position] !== character);
        const changed = token.slice(0, position) + character + token.slice(position + 1);
        expect(isDeviceToken(changed)).toBe(false);
        expect(hashDeviceToken(changed)).not.toBe(hashDeviceToken(token));
      }),
      { numRuns: 2_000 },
    );
  });

  it('with a character more or less, or two neighbours swapped, fails', () => {
    fc.assert(
      fc.property(tokens, fc.nat(55), (token, position) => {
        const [a = '', b = ''] = [token[position], token[position + 1]];
        expect(isDeviceToken(token.slice(0, position) + token.slice(position + 1))).toBe(false);
        expect(isDeviceToken(token.slice(0, position) + a + token.slice(position))).toBe(false);
        if (a !== b) expect(isDeviceToken(token.slice(0, position) + b + a + token.slice(position + 2))).toBe(false);
      }),
    );
  });

  it('is nothing that strangers send', () => {
    fc.assert(fc.property(fc.string(), (text) => expect(isDeviceToken(text)).toBe(false)));
    const shaped = fc.stringMatching(/^rly_drt_[A-Za-z0-9_-]{43}000000$/);
    fc.assert(fc.property(shaped, (text) => expect(isDeviceToken(text)).toBe(false)));
    expect(isDeviceToken(`${deriveDeviceToken('a', 'b')}\n`)).toBe(false);
    expect(isDeviceToken('rly_drt_'.repeat(100_000))).toBe(false);
  });

  it('is stored as SHA-256', () => {
    expect(hashDeviceToken('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});

describe('a device code', () => {
  it('is 256 random bits', () => {
    const codes = new Set(Array.from({ length: 1_000 }, createDeviceCode));
    expect(codes.size).toBe(1_000);
    for (const code of codes) expect(code).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  it('is stored as SHA-256', () => {
    expect(hashDeviceCode('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});
