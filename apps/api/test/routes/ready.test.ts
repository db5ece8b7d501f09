import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestRelay, startRelay } from '@relay/testing';
import { expectSuccess } from '../answers.ts';
import { type LosableDatabase, openLosableDatabase } from '../lost-database.ts';

describe('GET /ready', () => {
  let relay: TestRelay;
  let database: LosableDatabase;
  beforeAll(async () => {
    database = await openLosableDatabase();
    relay = await startRelay({ database });
  });
  afterAll(async () => {
    database.find();
    await relay.stop();
    await database.close();
  });

  it('says what the instance depends on, without a credential and without a limit', async () => {
    const answer = await relay.call('ready', { user: null });
    expect(expectSuccess('ready', 200, answer)).toEqual({
      status: 'ok',
      checks: { database: 'ok', backplane: 'ok' },
    });
    expect(answer.headers['x-ratelimit-limit']).toBeUndefined();
  });

  it('turns 503 when the database is gone, and names it; the process still lives', async () => {
    database.lose();
    // An answer is kept for a second: ask until it is fetched again.
    let answer = await relay.call('ready', { user: null });
    while (answer.status === 200) answer = await relay.call('ready', { user: null });
    expect(expectSuccess('ready', 503, answer)).toEqual({
      status: 'unavailable',
      checks: { database: 'failed', backplane: 'ok' },
    });
    expectSuccess('health', 200, await relay.call('health', { user: null }));
  });
});
