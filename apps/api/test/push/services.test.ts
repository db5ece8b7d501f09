import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConfigError } from '@relay/config';
import { type TestRelay, startRelay, testConfig } from '@relay/testing';
import { type Poster, createPoster } from '../../src/push/post.ts';
import { openServices } from '../../src/push/services.ts';
import { expectRefusal, expectSuccess } from '../answers.ts';

const pem = { type: 'pkcs8', format: 'pem' } as const;
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export(pem);
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export(pem);
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey.export(pem);
const account = {
  project_id: 'p',
  client_email: 'a@b',
  token_uri: 'https://oauth2.example.com/token',
  private_key: rsa,
};
const ofApple = { apnsKeyId: 'KEY4567890', apnsTeamId: 'TEAM567890', apnsTopic: 'com.example.relay' };

/** The operator's files: docs/push.md. */
describe('push services of apps', () => {
  let folder: string;
  let poster: Poster;
  let relay: TestRelay;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'relay-services-'));
    poster = createPoster(undefined);
    relay = await startRelay({ config: { pushSecret: ['p'.repeat(32)], ...files() } });
  });
  afterAll(async () => {
    await relay.stop();
    poster.close();
    rmSync(folder, { recursive: true });
  });
  const write = (name: string, text: string | Buffer) => {
    const file = join(folder, name);
    writeFileSync(file, text);
    return file;
  };
  const open = (config: object) => openServices({ ...testConfig(), ...config }, poster, undefined);
  const refusalOf = (config: object) => {
    try {
      open(config);
    } catch (error) {
      return error;
    }
    return undefined;
  };

  const files = () => ({
    fcmServiceAccountFile: write('fcm.json', JSON.stringify(account)),
    ...ofApple,
    apnsKeyFile: write('apns.p8', p256),
  });

  it('are available if their files are', async () => {
    expect(open({})).toMatchObject({ fcm: undefined, apns: undefined, vapid: undefined });
    const { fcm, apns } = open(files());
    expect([fcm, apns]).toEqual([expect.any(Object), expect.any(Object)]);
    const { body } = await relay.call('readPushConfig');
    expect(body).toMatchObject({ kinds: expect.arrayContaining(['fcm', 'apns']), limits: { subscriptions: 20 } });
    const added = await relay.call('addSubscription', { body: { kind: 'apns', token: 'ab12' } });
    expectSuccess('addSubscription', 201, added);
    expect(added.body.subscription).toMatchObject({ kind: 'apns', address: 'Apple', detail: 'none', state: 'active' });
    expectRefusal(
      await relay.call('addSubscription', { body: { kind: 'fcm', token: 'x', detail: 'text' } }),
      'INVALID_REQUEST',
    );
    // The same device in upper case is the same address.
    expectSuccess(
      'addSubscription',
      200,
      await relay.call('addSubscription', { body: { kind: 'apns', token: 'AB12' } }),
    );
  });

  it.each([
    [
      'FCM_SERVICE_ACCOUNT_FILE',
      'a file that does not exist',
      () => ({ fcmServiceAccountFile: join(folder, 'none') }),
      /ENOENT/,
    ],
    [
      'FCM_SERVICE_ACCOUNT_FILE',
      'a file that is not JSON',
      () => ({ fcmServiceAccountFile: write('text', rsa) }),
      /no such key/,
    ],
    [
      'FCM_SERVICE_ACCOUNT_FILE',
      'a file without a field',
      () => ({ fcmServiceAccountFile: write('field', JSON.stringify({ ...account, token_uri: undefined })) }),
      /it has no "token_uri"/,
    ],
    ['APNS_KEY_FILE', 'a key of another kind', () => ({ ...ofApple, apnsKeyFile: write('rsa', rsa) }), /P-256/],
    ['APNS_KEY_FILE', 'a key of another curve', () => ({ ...ofApple, apnsKeyFile: write('p384', p384) }), /P-256/],
    ['VAPID_PRIVATE_KEY', 'an invalid key', () => ({ vapidPrivateKey: ['A'.repeat(43)] }), /P-256/],
  ] as const)('stop the start with the name of %s for %s, and without its text', (variable, _, config, why) => {
    const refusal = refusalOf(config());
    expect(refusal).toBeInstanceOf(ConfigError);
    const { message } = refusal as ConfigError;
    expect(message).toContain(variable);
    expect(message).toMatch(why);
    expect(message).not.toMatch(/PRIVATE KEY|MII/);
  });
});
