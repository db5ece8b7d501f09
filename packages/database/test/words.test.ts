import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Database, sql } from '../src/index.ts';
import { onBoth } from './databases.ts';
import { addTexts, wrongAnswers } from './words.ts';

onBoth('the index of words', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
    await addTexts(database);
  });
  afterAll(() => database.close());

  it('K1: search works for every script, numbers inside versions, and both forms of an accent', async () => {
    expect(await wrongAnswers(database)).toEqual([]);
  });

  it('finds the same terms in ASCII with and without the patterns for other scripts', async () => {
    const pieces = fc.constantFrom(
      'Fix',
      'v2',
      'A1b2',
      'RFC9110',
      '42',
      '_',
      '-',
      '/',
      '.',
      ' ',
      '\n',
      "it's",
      'x'.repeat(70),
      '~',
    );
    const ascii = fc.string({ unit: 'binary-ascii' }).map((text) => text.replaceAll('\0', ' '));
    const texts = fc.sample(
      fc.array(fc.oneof(pieces, ascii), { maxLength: 12 }).map((parts) => parts.join('')),
      300,
    );
    // A letter beyond ASCII is a word of its own, and the last one in bytes.
    const differing = await database.sql.query`
      SELECT text FROM unnest(${sql.texts(texts)}) AS text WHERE relay_words(text) || 'é'::text <> relay_words(text || ' é')`;
    expect(differing).toEqual([]);
    const [row] = await database.sql.query<{ words: string[] }>`SELECT relay_words('Fix v2 of RFC9110') AS words`;
    expect(row!.words).toEqual(['2', '9110', 'fix', 'of', 'rfc9110', 'v2']);
  });
});
