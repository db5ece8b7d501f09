import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type TestRelay, openTestDatabase, startRelay, Browser, invitation, password } from '@relay/testing';

const tokenOf = (url: string) => new URL(url.replace('#', '?')).searchParams.get('token')!;

// The first account needs an empty relay: many tests start their own.
jest.setTimeout(60_000);

let stops: (() => Promise<void>)[] = [];
async function relayWith(
  signup: 'invite' | 'open' | 'closed',
  more: Parameters<typeof startRelay>[0] = {},
): Promise<TestRelay> {
  const relay = await startRelay({ identity: true, ...more, config: { authSignup: signup, ...more.config } });
  stops.push(() => relay.stop());
  return relay;
}
afterEach(async () => {
  for (const stop of stops.reverse()) await stop();
  stops = [];
});

const create = (browser: Browser, email: string, token?: string, secret = password) =>
  browser.send('POST', '/auth/sign-up/email', {
    body: { email, password: secret, name: 'A', ...(token === undefined ? {} : { invitation: token }) },
  });
const check = (browser: Browser, token: string) =>
  browser.send('POST', '/auth/relay/invitations/check', { body: { token } });

describe('the first account', () => {
  it.each(['invite', 'open', 'closed'] as const)(
    'is created by the link that the relay prints at its start, once (%s)',
    async (signup) => {
      const relay = await relayWith(signup);
      const link = relay.apis[0]!.identity!.setupLink!;
      expect(link.startsWith(`${relay.config.publicUrl}/setup#token=`)).toBe(true);
      const browser = new Browser(relay);
      expect((await browser.send('GET', '/auth/relay/status')).body).toEqual({
        signUp: signup,
        hasAccounts: false,
        minPasswordLength: 10,
        providers: [],
      });
      expect((await check(browser, tokenOf(link))).body).toEqual({ kind: 'setup' });
      expect((await create(browser, 'first@example.com', tokenOf(link))).status).toBe(200);
      expect((await browser.send('GET', '/auth/relay/me')).body).toMatchObject({ email: 'first@example.com' });
      expect((await check(browser, tokenOf(link))).status).toBe(404);
      expect((await create(new Browser(relay), 'second@example.com', tokenOf(link))).status).toBe(403);
      expect((await browser.send('GET', '/auth/relay/status')).body).toMatchObject({ hasAccounts: true });
    },
  );

  it('is a single one, however many links exist and however many users open them at the same time', async () => {
    const relay = await relayWith('invite', { apis: 2 });
    const links = relay.apis.map(({ identity }) => tokenOf(identity!.setupLink!));
    const attempts = await Promise.all(
      Array.from({ length: 6 }, (_, index) => create(new Browser(relay), `p${index}@example.com`, links[index % 2])),
    );
    expect(attempts.map(({ status }) => status).sort()).toEqual([200, 403, 403, 403, 403, 403]);
    expect(await relay.database.models.user.count()).toBe(1);
  });

  it('gets a new link at each restart until it exists', async () => {
    const database = await openTestDatabase();
    stops.push(() => database.close());
    const before = await relayWith('invite', { database });
    const old = before.apis[0]!.identity!.setupLink!;
    const after = await relayWith('invite', { database });
    const link = after.apis[0]!.identity!.setupLink!;
    expect((await create(new Browser(after), 'a@example.com', tokenOf(old))).status).toBe(403);
    expect((await create(new Browser(after), 'a@example.com', tokenOf(link))).status).toBe(200);
    const last = await relayWith('invite', { database });
    expect(last.apis[0]!.identity!.setupLink).toBeUndefined();
  });

  it('cannot be set up by a link if an account exists', async () => {
    const relay = await relayWith('open');
    expect((await create(new Browser(relay), 'a@example.com')).status).toBe(200);
    const link = relay.apis[0]!.identity!.setupLink!;
    expect((await create(new Browser(relay), 'b@example.com', tokenOf(link))).status).toBe(403);
  });
});

describe('an account', () => {
  type Signup = 'invite' | 'open' | 'closed';
  let relays: Record<Signup, TestRelay>;
  beforeAll(async () => {
    const start = (authSignup: Signup) => startRelay({ identity: true, config: { authSignup } });
    relays = { invite: await start('invite'), open: await start('open'), closed: await start('closed') };
  });
  afterAll(() => Promise.all(Object.values(relays).map((relay) => relay.stop())));

  const accounts = (relay: TestRelay, ...emails: string[]) =>
    relay.database.models.user.count({ where: { email: { in: emails } } });

  it('needs an invitation unless sign-up is open', async () => {
    for (const [signup, status] of [
      ['invite', 403],
      ['closed', 403],
      ['open', 200],
    ] as const) {
      const relay = relays[signup];
      const browser = new Browser(relay);
      const answer = await create(browser, 'a@example.com');
      expect(answer.status).toBe(status);
      if (status === 403) expect(answer.body).toMatchObject({ code: 'FORBIDDEN', status: 403 });
      expect(await accounts(relay, 'a@example.com')).toBe(status === 200 ? 1 : 0);
    }
  });

  it("is created once by an existing user's invitation", async () => {
    const relay = relays.invite;
    const alice = new Browser(relay);
    await alice.signUp('alice@example.com');
    const { status, body } = await alice.send('POST', '/auth/relay/invitations', { body: {} });
    expect(status).toBe(201);
    expect(body.url).toMatch(/\/invite#token=/);
    const inDays = (new Date(body.expiresAt as string).getTime() - Date.now()) / 86_400_000;
    expect(Math.round(inDays)).toBe(7);
    const token = tokenOf(body.url as string);
    const bob = new Browser(relay);
    expect((await check(bob, token)).body).toEqual({ kind: 'invite', expiresAt: body.expiresAt });
    const attempts = await Promise.all([
      create(bob, 'bob@example.com', token),
      create(new Browser(relay), 'eve@example.com', token),
    ]);
    expect(attempts.map(({ status: code }) => code).sort()).toEqual([200, 403]);
    expect((await create(new Browser(relay), 'eve2@example.com', token)).status).toBe(403);
    expect(await accounts(relay, 'bob@example.com', 'eve@example.com', 'eve2@example.com')).toBe(1);
  });

  it('is not created by an expired invitation, nor by any when sign-up is closed', async () => {
    const relay = relays.invite;
    const token = await invitation(relay);
    await relay.database.models.invitation.updateMany({ data: { expiresAt: new Date(Date.now() - 1) } });
    expect((await create(new Browser(relay), 'a@example.com', token)).status).toBe(403);
    const { closed } = relays;
    expect((await create(new Browser(closed), 'a@example.com', await invitation(closed))).status).toBe(403);
  });

  it('cannot be offered by a stranger, nor when sign-up is closed', async () => {
    const relay = relays.closed;
    expect((await new Browser(relay).send('POST', '/auth/relay/invitations', { body: {} })).status).toBe(401);
    const alice = new Browser(relay);
    await create(alice, 'alice@example.com', tokenOf(relay.apis[0]!.identity!.setupLink!));
    const refused = await alice.send('POST', '/auth/relay/invitations', { body: {} });
    expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
  });

  it('needs a password of ten characters, and a typing error does not use the invitation up', async () => {
    const relay = relays.invite;
    const browser = new Browser(relay);
    const token = await invitation(relay);
    const short = await create(browser, 'ten@example.com', token, 'x'.repeat(9));
    expect(short).toMatchObject({ status: 400, body: { code: 'PASSWORD_TOO_SHORT' } });
    expect((await create(browser, 'ten@example.com', token, 'x'.repeat(129))).status).toBe(400);
    expect((await create(browser, 'not an address', token)).status).toBe(400);
    expect((await create(browser, 'ten@example.com', token, 'ten chars!')).status).toBe(200);
    const again = await invitation(relay);
    expect((await create(new Browser(relay), 'TEN@example.com', again)).status).toBe(422);
    expect((await check(browser, again)).status).toBe(200);
  });

  it('is rolled back when the database fails midway, and the invitation stays valid', async () => {
    const relay = relays.invite;
    const database = relay.database;
    await database.sql.execute`ALTER TABLE credentials ADD CONSTRAINT none CHECK (false) NOT VALID`;
    const browser = new Browser(relay);
    const token = await invitation(relay);
    expect((await create(browser, 'half@example.com', token)).status).toBeGreaterThanOrEqual(400);
    expect(await accounts(relay, 'half@example.com')).toBe(0);
    await database.sql.execute`ALTER TABLE credentials DROP CONSTRAINT none`;
    expect((await create(browser, 'half@example.com', token)).status).toBe(200);
  });
});
