import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Database } from '../src/index.ts';
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
});
