import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { wellFormedJson } from '../src/connection.ts';

describe('B12: frames of a daemon', () => {
  it('contain no half character, and all other text unchanged', () => {
    const odd = fc.constantFrom('\\', 'u', '\ud83d', '\udd8a', '\u{1f98a}', 'd83d', '"');
    fc.assert(
      fc.property(fc.array(odd), (pieces) => {
        const text = pieces.join('');
        const whole = Buffer.from(text).toString();
        expect(JSON.parse(wellFormedJson(JSON.stringify({ text, [text]: 1 })))).toEqual({
          text: whole,
          [whole]: 1,
        });
      }),
    );
  });
});
