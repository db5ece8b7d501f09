import { describe, expect, it } from '@jest/globals';
import { startRelay } from '@relay/testing';

describe('GET /.well-known/oauth-protected-resource', () => {
  it('names the authorization server, without a credential and for any origin', async () => {
    const authIssuers = [{ issuer: 'https://id.example.com', audience: 'http://localhost:4000/api' }];
    const relay = await startRelay({ identity: true, config: { authIssuers, publicUrl: 'http://localhost:4000' } });
    try {
      const { issuer } = relay.apis[0]!.identity!.issuer;
      for (const path of ['', '/api']) {
        const answer = await relay.call('GET', `/.well-known/oauth-protected-resource${path}`, { user: null });
        expect(answer.status).toBe(200);
        expect(answer.headers).toMatchObject({
          'access-control-allow-origin': '*',
          'cache-control': 'public, max-age=300',
        });
        expect(answer.body).toEqual({
          resource: 'http://localhost:4000/api',
          authorization_servers: [issuer, 'https://id.example.com'],
          scopes_supported: expect.arrayContaining([
            'sessions:read',
            'sessions:write',
            'devices:read',
            'devices:write',
          ]),
          bearer_methods_supported: ['header'],
          resource_name: 'Agent session relay',
        });
      }
    } finally {
      await relay.stop();
    }
  });
});
