import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { visible } from '../src/texts.ts';

/** Characters that steer terminals or deceive readers, among ordinary ones. */
const hostile = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0, max: 0x9f }).map((code) => String.fromCharCode(code)),
      fc.constantFrom(
        '\u202e',
        '\u2066',
        '\u061c',
        '\u200b',
        '\u2028',
        '\ufeff',
        '\u00ad',
        '\u{e0041}',
        '\ud800',
        '\r\n',
      ),
      fc.string({ unit: 'binary', maxLength: 4 }),
      fc.constantFrom('\u001b[2J', '\u001b]0;x\u0007', '\u009b31m', '👩‍💻', 'é'),
    ),
  )
  .map((parts) => parts.join(''));

describe('text of strangers on a terminal', () => {
  it('S6: shows controls, bidirectional and invisible characters, and leaves the rest alone', () => {
    expect(visible('a\u001b[2Jb\u0007c\u009bd\u202ee\u2066f\u200bg\u2028h\u{e0041}i\u00adj\u007fk')).toBe(
      'a\\u001b[2Jb\\u0007c\\u009bd\\u202ee\\u2066f\\u200bg\\u2028h\\udb40\\udc41i\\u00adj\\u007fk',
    );
    expect(visible('10 %\r20 %')).toBe('10 %\\u000d20 %');
    const fine = 'naïve\t— 電腦\r\n👩‍💻 ❤️ می‌خواهم\n';
    expect(visible(fine)).toBe(fine.replace('\r', ''));
  });

  it('S6: never holds a raw control except newline and tab, for any input', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const shown = visible(text);
        expect(shown).not.toMatch(
          /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/,
        );
        expect(visible(shown)).toBe(shown);
      }),
    );
  });

  it('S6: leaves a JSON document one, with the same meaning', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(JSON.parse(visible(JSON.stringify({ text })))).toEqual({ text });
      }),
    );
  });
});
