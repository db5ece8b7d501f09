import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type PushReceiver, openPushKeys, startPushReceiver } from '@relay/testing';
import jwt from 'jsonwebtoken';
import { type Fcm, createFcm, readServiceAccount } from '../../src/push/fcm.ts';
import { ServiceRefused, outcomeOf } from '../../src/push/outcome.ts';
import { type Poster, createPoster } from '../../src/push/post.ts';
import type { AppTarget } from '../../src/push/targets.ts';
import { deliveryOf, message } from './delivery.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const sendPath = '/v1/projects/garden-1/messages:send';

/** Rules, 14.10. */
describe('Firebase', () => {
  let google: PushReceiver;
  let poster: Poster;
  let fcm: Fcm;
  let folder: string;
  let now = Date.now();
  let tokens = 0;
  let answer: { status: number; body: unknown; headers?: Record<string, string> };
  const target: AppTarget = { kind: 'fcm', token: 'device-token', registeredAt: 0 };

  beforeAll(async () => {
    google = await startPushReceiver();
    google.answer = (response, { path }) => {
      if (path === '/token') {
        tokens += 1;
        response.end(JSON.stringify({ access_token: `ya29.${tokens}`, expires_in: 3600 }));
        return;
      }
      response.writeHead(answer.status, answer.headers).end(JSON.stringify(answer.body));
    };
    folder = mkdtempSync(join(tmpdir(), 'relay-fcm-'));
    const file = join(folder, 'account.json');
    const account = {
      project_id: 'garden-1',
      client_email: 'relay@garden-1.iam.gserviceaccount.com',
      token_uri: `${google.url}/token`,
      private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    };
    writeFileSync(file, JSON.stringify(account));
    poster = createPoster(undefined);
    fcm = createFcm(readServiceAccount(file), google.url, poster, () => now);
  });
  beforeEach(() => {
    google.received.length = 0;
    answer = { status: 200, body: { name: 'projects/garden-1/messages/1' } };
  });
  afterAll(async () => {
    poster.close();
    await google.close();
    rmSync(folder, { recursive: true });
  });

  const sent = () => google.at(sendPath).map(({ body }) => JSON.parse(body.toString()) as { message: object });

  it('gets one access token for all messages, requested with a signed assertion', async () => {
    await Promise.all(Array.from({ length: 5 }, () => fcm.send(target, message, deliveryOf())));
    expect(google.at('/token')).toHaveLength(1);
    const form = new URLSearchParams(google.at('/token')[0]!.body.toString());
    expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
    expect(jwt.verify(form.get('assertion')!, publicKey, { algorithms: ['RS256'] })).toMatchObject({
      iss: 'relay@garden-1.iam.gserviceaccount.com',
      aud: `${google.url}/token`,
      scope: 'https://www.googleapis.com/auth/firebase.messaging',
    });
    expect(google.at(sendPath).map(({ headers }) => headers.authorization)).toEqual(Array(5).fill('Bearer ya29.1'));
  });

  it('requests another token before the current one expires, and after a refusal', async () => {
    const before = tokens;
    now += 56 * 60_000;
    await fcm.send(target, message, deliveryOf());
    expect(tokens).toBe(before + 1);
    answer = { status: 401, body: { error: { status: 'UNAUTHENTICATED' } } };
    expect(await fcm.send(target, message, deliveryOf())).toMatchObject({ status: 401, meaning: 'ours' });
    answer = { status: 200, body: {} };
    await fcm.send(target, message, deliveryOf());
    expect(tokens).toBe(before + 2);
  });

  it('shows the text of an app without keys, and where to look', async () => {
    const delivery = deliveryOf({ expiresAt: new Date(now + 3600_000) });
    await fcm.send(target, message, delivery);
    expect(sent()).toMatchObject([
      {
        message: {
          token: 'device-token',
          notification: { title: 'An agent needs you', body: 'plant a hedge' },
          data: { cause: 'needs_you', sessionId: delivery.sessionId, deliveryId: delivery.id, link: message.link },
          android: { priority: 'HIGH', ttl: '3600s', collapse_key: expect.stringMatching(/^[\w-]{32}$/) },
        },
      },
    ]);
  });

  it('gets an unreadable payload for an app with keys, within its 4 KiB', async () => {
    const app = openPushKeys();
    const long = { ...message, body: `plant a hedge ${'"\\🌱'.repeat(3000)}` };
    for (const one of [message, long]) await fcm.send({ ...target, keys: app.keys }, one, deliveryOf());
    const [short, cut] = google.at(sendPath);
    expect(short!.body.toString()).not.toMatch(/hedge|sessions/);
    const { data } = sent()[0]!.message as { data: Record<string, string> };
    expect(data).toMatchObject({ title: 'An agent needs you', body: 'Open Relay to see more.' });
    expect(app.read(Buffer.from(data.sealed!, 'base64url'))).toMatchObject({
      notification: { body: 'plant a hedge', data: { sessionId: 'device:agent:session' } },
    });
    expect(JSON.stringify((sent()[1]!.message as { data: object }).data).length).toBeLessThan(4096);
    expect(cut!.body.toString()).not.toMatch(/hedge/);
  });

  const code = (errorCode: string) => ({
    error: { details: [{ '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode }] },
  });
  it.each([
    [404, code('UNREGISTERED'), { state: 'gone' }],
    [404, {}, { state: 'pending' }],
    [403, code('SENDER_ID_MISMATCH'), { state: 'failed', pause: expect.any(String) }],
    [403, { error: { status: 'PERMISSION_DENIED' } }, { state: 'pending', reason: expect.stringMatching(/operator/) }],
    [400, code('INVALID_ARGUMENT'), { state: 'failed', pause: expect.any(String) }],
    [429, code('QUOTA_EXCEEDED'), { state: 'pending', delayMs: 7000 }],
    [503, 'not JSON', { state: 'pending' }],
  ])('%d with %j is %j', async (status, body, outcome) => {
    answer = { status, body, ...(status === 429 ? { headers: { 'Retry-After': '7' } } : {}) };
    expect(outcomeOf(await fcm.send(target, message, deliveryOf()), deliveryOf())).toMatchObject(outcome);
  });

  it("gets no request without a token, and a refused account is not the address's fault", async () => {
    const stranger = await startPushReceiver();
    stranger.answer = (response) => void response.writeHead(400).end('{"error":"invalid_grant"}');
    const account = { projectId: 'garden-1', email: 'x', tokenUrl: new URL(stranger.url), key: privateKey };
    const refused = createFcm(account, google.url, poster, () => now);
    await expect(refused.send(target, message, deliveryOf())).rejects.toBeInstanceOf(ServiceRefused);
    expect(google.at(sendPath)).toEqual([]);
    await stranger.close();
  });
});
