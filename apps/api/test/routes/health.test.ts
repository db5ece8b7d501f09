import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestRelay, startRelay } from '@relay/testing';
import request from 'supertest';
import { expectSuccess } from '../answers.ts';

describe('GET /health', () => {
  let relay: TestRelay;
  beforeAll(async () => {
    relay = await startRelay();
  });
  afterAll(() => relay.stop());

  it('says ok and the version, without a credential', async () => {
    const answer = await relay.call('health', { user: null });
    expect(expectSuccess('health', 200, answer)).toEqual({ status: 'ok', version: '1.0.0' });
  });

  it('shows no limit, because it has none', async () => {
    const { headers } = await relay.call('health', { user: null });
    expect(Object.keys(headers).filter((name) => name.startsWith('x-ratelimit'))).toEqual([]);
  });

  it('does not look at a credential that is sent all the same', async () => {
    const answer = await relay.call('health', { user: null, headers: { Authorization: 'Bearer garbage' } });
    expectSuccess('health', 200, answer);
  });

  it('keeps the id that a client gives its request, and makes one up for what is no id', async () => {
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
