import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Database, openDatabase } from '@relay/database';
import {
  type TestPostgres,
  type TestRelay,
  startPostgres,
  startRelay,
  Browser,
  callWith,
  invitation,
  password,
  refresh,
  signedInCli,
  signedInWeb,
} from '@relay/testing';

describe('while the database is away', () => {
  let postgres: TestPostgres;
  let database: Database;
  let relay: TestRelay;

  beforeAll(async () => {
    postgres = await startPostgres();
    database = await openDatabase({ url: await postgres.createDatabase() });
    relay = await startRelay({ identity: true, database });
  }, 60_000);
  afterAll(async () => {
    await relay.stop();
    await database.close();
    await postgres.stop();
  });

  it('a sign-in is unavailable and never refused, nothing is half done, and it all goes on afterwards', async () => {
    const browser = new Browser(relay);
    await browser.signUp('alice@example.com');
    const [web, cli] = [await signedInWeb(browser), await signedInCli(browser)];
    const token = await invitation(relay);
    const signUp = () =>
      new Browser(relay).send('POST', '/auth/sign-up/email', {
        body: { email: 'bob@example.com', password, name: 'Bob', invitation: token },
      });

    await postgres.halt();
    const answers = [
      await browser.signIn('alice@example.com'),
      await signUp(),
      await browser.send('GET', '/auth/relay/me'),
      await browser.send('GET', '/auth/get-session'),
      await browser.send('POST', '/auth/sign-out', { body: {} }),
      await browser.send('POST', '/auth/relay/sign-out-everywhere', { body: {} }),
      await refresh(relay, cli.refresh_token!),
      await relay.call('GET', '/auth/jwks', { user: null }),
      await callWith(relay, web.access_token, '/api/devices'),
    ];
    for (const { status, body, headers } of answers) {
      expect([status, (body as { code: string }).code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
      expect(headers['set-cookie']).toBeUndefined();
    }

    await postgres.resume();
    expect((await browser.send('GET', '/auth/relay/me')).body).toMatchObject({ email: 'alice@example.com' });
    expect((await refresh(relay, cli.refresh_token!)).status).toBe(200);
    expect((await signUp()).status).toBe(200);
  });
});
