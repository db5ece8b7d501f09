import { describe, expect, it } from '@jest/globals';
import { withoutMarks } from '../src/without-marks.ts';

describe('the plain text of markdown', () => {
  it.each([
    ['I am **still** here, with `code` and **b**', 'I am still here, with code and b'],
    ['## Done\n> as you said', 'Done\nas you said'],
    ['See [the notes](https://example.com/notes) and ![a picture](x.png)', 'See the notes and a picture'],
    ['```ts\nconst a = 1;\n```\nThat is all.', 'const a = 1;\nThat is all.'],
    ['It is *done*, _really_, and ~~gone~~.', 'It is done, really, and gone.'],
  ])('W25: are %j without marks: %j', (text, words) => {
    expect(withoutMarks(text)).toBe(words);
  });

  it.each([
    '2 ** 3 ** 4',
    '__init__ and a_b_c',
    'a * b',
    '2*3*4 and a_b_c',
    '#hashtag',
    'one ` and no other',
    'x [y] (z)',
    '',
    '****',
    '``',
  ])('%j stays as it is', (text) => {
    expect(withoutMarks(text)).toBe(text);
  });

  it('are there at once for a text that is made to take long', () => {
    for (const piece of ['[', '`', '**', '![', '> ', '```'])
      expect(withoutMarks(piece.repeat(2000)).length).toBeLessThanOrEqual(piece.length * 2000);
  });
});
