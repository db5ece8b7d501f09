import { expect, it } from '@jest/globals';
import { openDatabase } from '../src/index.ts';
import { onPostgres } from './databases.ts';
import { addTexts, wrongAnswers } from './words.ts';

onPostgres('the index of words in a database of locale C', (postgres) => {
  it('K1: search works for every script, and the migration indexes older sessions again', async () => {
    const url = await postgres().createDatabase({ locale: 'C' });
    const first = await openDatabase({ url });
    try {
      await addTexts(first);
      expect(await wrongAnswers(first)).toEqual([]);
      await first.sql.execute`UPDATE session_words SET words = '', own = NULL, version = 0`;
      expect(await wrongAnswers(first)).not.toEqual([]);
      await first.sql.execute`DELETE FROM _prisma_migrations WHERE migration_name ~ '_words_(again|of_people_filled)$'`;
    } finally {
      await first.close();
    }
    const second = await openDatabase({ url });
    try {
      expect(await wrongAnswers(second)).toEqual([]);
    } finally {
      await second.close();
    }
  });
});
