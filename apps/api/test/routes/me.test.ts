import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestRelay, startRelay } from '@relay/testing';
import { expectSuccess } from '../answers.ts';
import { bearer, itAsksForCredentials } from '../credentials.ts';

describe('GET /api/me', () => {
  let relay: TestRelay;
  beforeAll(async () => {
    relay = await startRelay();
  });
  afterAll(() => relay.stop());

  itAsksForCredentials(() => relay, 'me');

  it('returns the user of the token and its scopes', async () => {
    const token = relay.token('alice', { email: 'alice@example.com', name: 'Alice', scopes: ['sessions:read'] });
    const answer = await relay.call('me', { user: null, headers: bearer(token) });
    expect(expectSuccess('me', 200, answer)).toEqual({
      id: relay.issuer.userId('alice'),
      email: 'alice@example.com',
      name: 'Alice',
      scopes: ['sessions:read'],
    });
  });

  it('omits claims that the token lacks, and needs no scope', async () => {
    const answer = await relay.call('me', { user: null, headers: bearer(relay.token('bob', { scopes: [] })) });
    expect(expectSuccess('me', 200, answer)).toEqual({ id: relay.issuer.userId('bob'), scopes: [] });
  });
});
