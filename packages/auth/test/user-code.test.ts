import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createUserCode, normalizeUserCode } from '../src/index.ts';

const allLetters = 'BCDFGHJKLMNPQRSTVWXZ';
const letters = fc.array(fc.constantFrom(...allLetters), { minLength: 8, maxLength: 8 });

describe('a user code', () => {
  it('is eight letters in two groups', () => {
    for (let i = 0; i < 1_000; i += 1)
      expect(createUserCode()).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
  });

  it('uses every letter in every place', () => {
    const codes = Array.from({ length: 2_000 }, createUserCode).map((code) => code.replace('-', ''));
    // 20 letters in 2,000 codes: a letter missing at some place would be a 1 in 10^42 accident.
    for (let place = 0; place < 8; place += 1) {
      expect(new Set(codes.map((code) => code[place])).size).toBe(allLetters.length);
    }
  });

  it('matches in any spelling', () => {
    const noise = fc.array(fc.constantFrom(' ', '-', '\t', '\u2013', '\u2014', '\u00a0'), { maxLength: 3 });
    fc.assert(
      fc.property(letters, fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }), noise, (code, lower, between) => {
        const typed = code.map((letter, i) => (lower[i] ? letter.toLowerCase() : letter) + between.join('')).join('');
        expect(normalizeUserCode(` ${typed}`)).toBe(`${code.slice(0, 4).join('')}-${code.slice(4).join('')}`);
      }),
    );
  });

  it('that was understood is understood again as the same', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const once = normalizeUserCode(text);
        if (once !== undefined) expect(normalizeUserCode(once)).toBe(once);
      }),
    );
    const code = createUserCode();
    expect(normalizeUserCode(code)).toBe(code);
  });

  it.each(['', 'BCDF-GHJ', 'BCDF-GHJKL', 'ACDF-GHJK', 'BCDF-GHJ1'])('is not meant by %j', (text) => {
    expect(normalizeUserCode(text)).toBeUndefined();
  });

  it.each(['BCDF\u2212GHJK', '\uff22\uff23\uff24\uff26\uff0d\uff47\uff48\uff4a\uff4b', 'BCDF_GHJK', ' bcdf.ghjk '])(
    'B12: is meant by %j, as on the page',
    (text) => expect(normalizeUserCode(text)).toBe('BCDF-GHJK'),
  );

  it('is not looked for in a long text', () => {
    expect(normalizeUserCode(`BCDFGHJK${' '.repeat(100)}`)).toBeUndefined();
  });
});
