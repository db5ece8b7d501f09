import { describe, expect, it } from '@jest/globals';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { refresh } from '@relay/testing';
import { scene } from './scene.ts';
import type { Stored } from './desk.ts';
import { logIn } from './world.ts';

const stage = scene();
const soon = (stored: Stored) => void (stored.expiresAt = new Date(Date.now() + 1000).toISOString());

describe('an access token', () => {
  it('is reused while it is valid, and renewed shortly before its expiry, with a new refresh token each time', async () => {
    const { own, world } = stage;
    const asked = world.front.count('POST /auth/oauth2/token');
    await own.json(['whoami']);
    await own.json(['devices']);
    expect(world.front.count('POST /auth/oauth2/token')).toBe(asked);
    const before = own.stored();
    own.change(soon);
    expect(await own.json(['whoami'])).toMatchObject({ exit: 0 });
    const after = own.stored();
    expect(world.front.count('POST /auth/oauth2/token')).toBe(asked + 1);
    expect(after.accessToken).not.toBe(before.accessToken);
    expect(after.renewal!.refreshToken).not.toBe(before.renewal!.refreshToken);
    own.change(soon);
    expect(await own.json(['whoami'])).toMatchObject({ exit: 0 });
  });

  it('that the relay rejects is renewed once', async () => {
    const { own } = stage;
    own.change((stored) => (stored.accessToken = `${stored.accessToken.slice(0, -10)}AAAAAAAAAA`));
    expect(await own.json(['whoami'])).toMatchObject({ exit: 0 });
  });
});

describe('several processes at once', () => {
  it('renew one sign-in and stay signed in', async () => {
    const { own, world } = stage;
    const asked = world.front.count('POST /auth/oauth2/token');
    own.change(soon);
    const results = await Promise.all(Array.from({ length: 5 }, () => own.json(['whoami'])));
    expect(results.map(({ exit }) => exit)).toEqual([0, 0, 0, 0, 0]);
    expect(world.front.count('POST /auth/oauth2/token')).toBe(asked + 1);
    own.change(soon);
    expect(await own.json(['whoami'])).toMatchObject({ exit: 0 });
  });

  it('ignore the lock of a dead process', async () => {
    const { own } = stage;
    const dead = own.start(['--version']);
    await dead.exit;
    writeFileSync(join(own.folder, 'credentials.lock'), `${dead.child.pid} x`);
    own.change(soon);
    expect(await own.json(['whoami'])).toMatchObject({ exit: 0 });
  });

  it('survive a lost answer to a renewal', async () => {
    const { own, world } = stage;
    own.change(soon);
    world.front.loseAnswer('POST /auth/oauth2/token');
    expect(await own.json(['whoami'])).toMatchObject({ exit: 75, code: 'UNREACHABLE' });
    expect(await own.json(['whoami'])).toMatchObject({ exit: 0 });
  });
});

describe('a sign-in that was revoked elsewhere', () => {
  it('is reported with a remedy, exit code 3', async () => {
    const { own, person, world } = stage;
    await person.browser.send('POST', '/auth/relay/sign-out-everywhere', { body: {} });
    const { code, out, err } = await own.run(['devices']);
    expect({ code, out }).toEqual({ code: 3, out: '' });
    expect(err).toContain(`Run "relay login --url ${world.url}".`);
    expect(err).toContain('[SIGNED_OUT]');
    expect(await own.json(['sessions'])).toMatchObject({ exit: 3, code: 'SIGNED_OUT' });
  });

  it("can be repeated without the relay's address", async () => {
    const { own, person, world } = stage;
    await person.browser.send('POST', '/auth/relay/applications/revoke', { body: { clientId: 'relay-cli' } });
    const endedIn = Math.floor(Date.now() / 1000);
    expect((await own.json(['whoami'])).exit).toBe(3);
    // Tokens carry the second of issue: a token of the same second could be older than the revocation.
    while (Math.floor(Date.now() / 1000) === endedIn) await delay(20);
    expect((await logIn(own, world.url, person.browser)).code).toBe(0);
    expect((await own.json(['whoami'])).email).toBe(person.email);
  });
});

describe('relay logout', () => {
  it('revokes the refresh token and deletes it here', async () => {
    const { own, world } = stage;
    const { refreshToken } = own.stored().renewal!;
    const { code, out } = await own.run(['logout']);
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining(`Signed out of ${world.url}`) });
    expect(readFileSync(own.file, 'utf8')).not.toContain(refreshToken);
    expect((await refresh(world.relay, refreshToken)).body.error).toBe('invalid_grant');
    expect(await own.json(['whoami'])).toMatchObject({ exit: 3, code: 'NOT_SIGNED_IN' });
    expect(await own.json(['logout', '--url', world.url])).toMatchObject({ exit: 3, code: 'NOT_SIGNED_IN' });
  });

  it('keeps the sign-in if the relay is unreachable, unless forced', async () => {
    const { own, world } = stage;
    world.front.setDown(true);
    expect(await own.json(['logout'])).toMatchObject({ exit: 75, error: expect.stringContaining('--force') });
    expect(own.stored().renewal).toBeDefined();
    expect(await own.run(['logout', '--force'])).toMatchObject({
      code: 0,
      err: expect.stringContaining('was not revoked'),
    });
    expect(JSON.parse(readFileSync(own.file, 'utf8'))).toEqual({ version: 1, relays: [] });
  });
});

describe('the file of the sign-ins', () => {
  it('is refused if other users can read it', async () => {
    const { own } = stage;
    chmodSync(own.file, 0o644);
    expect(await own.json(['whoami'])).toMatchObject({
      code: 'CREDENTIALS_UNSAFE',
      error: expect.stringContaining('chmod 600'),
    });
  });

  it('stops the command if it is invalid, without printing its content', async () => {
    const { own } = stage;
    const { refreshToken } = own.stored().renewal!;
    writeFileSync(own.file, readFileSync(own.file, 'utf8').slice(0, -20));
    const { code, err } = await own.run(['whoami']);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('[CREDENTIALS_BROKEN]') });
    expect(err).not.toContain(refreshToken.slice(0, 20));
  });
});
