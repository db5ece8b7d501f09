import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestRelay, startRelay } from '@relay/testing';
import request from 'supertest';
import { expectSuccess } from '../answers.ts';
import { type LosableDatabase, openLosableDatabase } from '../lost-database.ts';
import { until } from '../until.ts';

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

describe('GET /health', () => {
  it('returns ok and the version, without a credential', async () => {
    const answer = await relay.call('health', { user: null });
    expect(expectSuccess('health', 200, answer)).toEqual({
      ...{ status: 'ok', version: '1.0.0' },
      capabilities: [
        'transcript',
        'prompts',
        'settings',
        'desk',
        'steer',
        'controls',
        'limits',
        'files',
        'spending',
        'later',
        'schedules',
      ],
    });
  });

  it('shows no limit', async () => {
    const { headers } = await relay.call('health', { user: null });
    expect(Object.keys(headers).filter((name) => name.startsWith('x-ratelimit'))).toEqual([]);
  });

  it('ignores a credential', async () => {
    const answer = await relay.call('health', { user: null, headers: { Authorization: 'Bearer garbage' } });
    expectSuccess('health', 200, answer);
  });

  it("keeps a client's request id, and replaces an invalid one", async () => {
    await request(relay.url).get('/health').set('X-Request-Id', 'mine-1').expect('X-Request-Id', 'mine-1');
    await request(relay.url)
      .get('/health')
      .set('X-Request-Id', 'no id at all')
      .expect('X-Request-Id', /^[0-9a-f-]{36}$/);
  });

  it('answers HEAD without a body', async () => {
    const answer = await request(relay.url).head('/health').expect(200);
    expect(answer.text ?? '').toBe('');
  });
});

describe('GET /ready', () => {
  it('reports the dependencies of the instance, without a credential and without a limit', async () => {
    const answer = await relay.call('ready', { user: null });
    expect(expectSuccess('ready', 200, answer)).toEqual({
      status: 'ok',
      checks: { database: 'ok', backplane: 'ok' },
    });
    expect(answer.headers['x-ratelimit-limit']).toBeUndefined();
  });

  it('S15: has one spelling, which edges keep from strangers', async () => {
    for (const path of ['/ready/', '/READY', '/Ready/', '//ready', '/ready%2f', '/%72eady', '/./ready'])
      expect([path, (await request(relay.url).get(path)).status]).toEqual([path, 404]);
  });

  // Last, because the database stays away.
  it('turns 503 when the database is gone, and names it; the process survives', async () => {
    database.lose();
    // The api caches an answer for a second: ask until it fetches a new one.
    let answer = await relay.call('ready', { user: null });
    await until('it asks again', async () => {
      answer = await relay.call('ready', { user: null });
      return answer.status !== 200;
    });
    expect(expectSuccess('ready', 503, answer)).toEqual({
      status: 'unavailable',
      checks: { database: 'failed', backplane: 'ok' },
    });
    expectSuccess('health', 200, await relay.call('health', { user: null }));
  });
});
