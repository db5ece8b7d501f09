import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { send, startRelayDouble } from '@relay/testing';
import { createDesk } from './desk.ts';
import { type World, followLink, linkIn, logIn, openWorld } from './world.ts';

let world: World;
const desk = createDesk();
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
afterEach(() => desk.clear());

describe('relay login', () => {
  it('prints a link, waits for the browser, shows it a plain page, and saves the sign-in with owner permissions', async () => {
    const person = await world.person();
    const own = desk.open(join(desk.makeFolder(), 'new'));
    const program = own.start(['login', '--no-browser', '--url', `${world.url}/`]);
    await program.says('Waiting for the browser');
    const link = new URL(linkIn(program.out()));
    expect(Object.fromEntries(link.searchParams)).toMatchObject({
      response_type: 'code',
      client_id: 'relay-cli',
      code_challenge_method: 'S256',
      redirect_uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/),
      state: expect.stringMatching(/^.{20,}$/),
    });
    const { page } = await followLink(person.browser, link.href);
    expect(page).toContain('You can close this window');
    expect(page).not.toContain('<script');
    const { code, out, err } = await program.exit;
    expect({ code, err }).toEqual({ code: 0, err: 'Waiting for the browser, at most five minutes…\n' });
    expect(out).toContain(`Signed in to ${world.url} as ${person.email}.`);
    const stored = own.stored();
    expect(stored).toMatchObject({ url: world.url, account: person.email });
    expect(stored.renewal!.refreshToken).toMatch(/^rly_urt_/);
    expect(out).not.toContain(stored.renewal!.refreshToken);
    expect(out).not.toContain(stored.accessToken);
    expect(statSync(own.folder).mode & 0o777).toBe(0o700);
    expect(statSync(own.file).mode & 0o777).toBe(0o600);
    expect(await own.json(['whoami'])).toMatchObject({
      exit: 0,
      relay: world.url,
      email: person.email,
      scopes: ['sessions:read', 'sessions:write', 'devices:read', 'devices:write'],
      renewable: true,
    });
  });

  it('opens the browser unless --no-browser is set', async () => {
    const person = await world.person();
    const own = desk.open();
    // A browser that records its address.
    const opened = join(own.folder, 'opened');
    writeFileSync(
      join(own.folder, 'xdg-open'),
      `#!/bin/sh\nprintf %s "$1" > "${opened}.tmp" && mv "${opened}.tmp" "${opened}"\n`,
      {
        mode: 0o755,
      },
    );
    const program = own.start(['login', '--url', world.url], { PATH: `${own.folder}:${process.env.PATH}` });
    await program.says('Waiting for the browser');
    await followLink(person.browser, linkIn(program.out()));
    expect((await program.exit).code).toBe(0);
    // The program does not wait for the browser, which can start after the sign-in.
    while (!existsSync(opened)) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(readFileSync(opened, 'utf8')).toBe(linkIn(program.out()));
  });

  it('rejects a callback without its state, and keeps waiting', async () => {
    const person = await world.person();
    const own = desk.open();
    const program = own.start(['login', '--no-browser', '--url', world.url, '--json']);
    await program.says('Waiting');
    const { link } = program.lines()[0]!;
    const redirect = new URL(link as string).searchParams.get('redirect_uri')!;
    for (const query of ['?code=stolen', '?code=stolen&state=guess', `?error=access_denied&state=`])
      expect((await send('GET', `${redirect}${query}`)).status).toBe(400);
    expect((await send('GET', new URL('/', redirect).href)).status).toBe(404);
    await followLink(person.browser, link as string);
    expect((await program.exit).code).toBe(0);
    expect(program.lines()[1]).toMatchObject({ event: 'signed_in', email: person.email });
  });

  it('S13: answers broken request targets with 404, and keeps waiting', async () => {
    const person = await world.person();
    const program = desk.open().start(['login', '--no-browser', '--url', world.url]);
    await program.says('Waiting');
    const link = linkIn(program.out());
    const { port } = new URL(new URL(link).searchParams.get('redirect_uri')!);
    for (const target of ['//', '///', '/\\\\[', 'http://[', '*', '//[::1', '/%', '/callback/']) {
      expect([target, await statusOf(Number(port), target)]).toEqual([target, 404]);
    }
    await followLink(person.browser, link);
    expect((await program.exit).code).toBe(0);
  });

  it('S14: refuses http to another machine, unless --insecure allows it', async () => {
    const own = desk.open();
    const refused = await own.run(['login', '--no-browser', '--url', 'http://relay.invalid:4000']);
    expect(refused).toMatchObject({ code: 2, out: '' });
    expect(refused.err).toMatch(
      /^http:\/\/relay\.invalid:4000 is not encrypted: .*https:\/\/.*--insecure\. \[INSECURE_ADDRESS\]\n$/,
    );
    expect(await own.json(['login', '--no-browser', '--insecure', '--url', 'http://relay.invalid:4000'])).toMatchObject(
      {
        exit: 75,
        code: 'UNREACHABLE',
      },
    );
  });

  it('sends a given token over http to another machine only with RELAY_CLI_INSECURE', async () => {
    const own = desk.open();
    const given = { RELAY_CLI_URL: 'http://relay.invalid:4000', RELAY_CLI_TOKEN: 'secret' };
    expect(await own.json(['devices'], given)).toMatchObject({
      exit: 2,
      code: 'INSECURE_ADDRESS',
      error: expect.stringContaining('RELAY_CLI_INSECURE=1'),
    });
    expect(await own.json(['devices'], { ...given, RELAY_CLI_INSECURE: '1' })).toMatchObject({
      exit: 75,
      code: 'UNREACHABLE',
    });
  });

  it("rejects another issuer's answer", async () => {
    const own = desk.open();
    const program = own.start(['login', '--no-browser', '--url', world.url]);
    await program.says('Waiting');
    const { searchParams } = new URL(linkIn(program.out()));
    const redirect = searchParams.get('redirect_uri')!;
    const answer = new URLSearchParams({ code: 'x', state: searchParams.get('state')!, iss: 'https://evil.example' });
    const { text } = await send('GET', `${redirect}?${answer.toString()}`);
    expect(text).toContain('You are not signed in');
    expect(await program.exit).toMatchObject({ code: 1, err: expect.stringContaining('[SIGN_IN_REFUSED]') });
  });

  it('rejects an answer without an issuer', async () => {
    const own = desk.open();
    const program = own.start(['login', '--no-browser', '--url', world.url]);
    await program.says('Waiting');
    const { searchParams } = new URL(linkIn(program.out()));
    await send('GET', `${searchParams.get('redirect_uri')}?code=x&state=${searchParams.get('state')}`);
    expect(await program.exit).toMatchObject({ code: 1, err: expect.stringContaining('[SIGN_IN_REFUSED]') });
  });

  it('reports a refusal by the person', async () => {
    const person = await world.person();
    const own = desk.open();
    const program = own.start(['login', '--no-browser', '--url', world.url]);
    await program.says('Waiting');
    const { page } = await followLink(person.browser, linkIn(program.out()), { allow: false });
    expect(page).toContain('denied');
    expect(await program.exit).toMatchObject({ code: 1, err: expect.stringContaining('[ACCESS_DENIED]') });
    expect((await own.json(['whoami'])).exit).toBe(3);
  });

  it('exits with 130 at Ctrl-C', async () => {
    const program = desk.open().start(['login', '--no-browser', '--url', world.url]);
    await program.says('Waiting');
    program.child.kill('SIGINT');
    expect((await program.exit).code).toBe(130);
  });

  it("prints the relay's public address", async () => {
    const { code, err } = await desk.open().run(['login', '--no-browser', '--url', world.relay.url]);
    expect(code).toBe(2);
    expect(err).toContain(`relay login --url ${world.url}`);
  });

  it.each(['ftp://x', 'relay', 'http://user:pw@h', 'http://h/?a=b'])('refuses the address %s', async (url) => {
    expect(await desk.open().run(['login', '--url', url])).toMatchObject({ code: 2, out: '' });
  });

  it('reports an unreachable relay', async () => {
    const result = await desk.open().json(['login', '--no-browser', '--url', 'http://127.0.0.1:1']);
    expect(result).toMatchObject({
      exit: 75,
      code: 'UNREACHABLE',
      error: expect.stringContaining('Cannot reach http://127.0.0.1:1'),
    });
  });

  it('reports a server that is not a relay', async () => {
    const own = desk.open();
    const url = world.relay.issuer.config.issuer;
    expect(await own.json(['login', '--no-browser', '--url', url])).toMatchObject({ exit: 1, code: 'NOT_A_RELAY' });
  });
});

/** The status of a GET whose target no client would write. */
async function statusOf(port: number, target: string): Promise<number> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
  let answer = '';
  for await (const chunk of socket as AsyncIterable<Buffer>) answer += chunk.toString('latin1');
  return Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
}

describe('a relay that announces another address for its sign-in', () => {
  it.each([
    ['a file', 'authorization_endpoint', 'file:///etc/passwd'],
    ['a program', 'authorization_endpoint', 'vscode://x/y?z'],
    ['another origin', 'authorization_endpoint', 'https://evil.example/auth'],
    ['another port of this machine', 'authorization_endpoint', 'http://127.0.0.1:1/auth'],
    ['its own host with user information', 'authorization_endpoint', 'http://user@HOST/auth'],
    ['an escape sequence instead of an address', 'authorization_endpoint', '\u001b]0;x\u0007\u202e'],
    ['another origin for its tokens', 'token_endpoint', 'https://evil.example/token'],
  ])('S5: opens nothing and prints the reason: %s', async (_what, field, address) => {
    const relay = await startRelayDouble();
    const own = desk.open();
    const opened = join(own.folder, 'opened');
    writeFileSync(join(own.folder, 'xdg-open'), `#!/bin/sh\ntouch "${opened}"\n`, { mode: 0o755 });
    const document = {
      issuer: relay.url,
      authorization_endpoint: `${relay.url}/auth/oauth2/authorize`,
      token_endpoint: `${relay.url}/auth/oauth2/token`,
      [field]: address.replace('HOST', new URL(relay.url).host),
    };
    relay.answers.set('GET /.well-known/openid-configuration', [{ status: 200, body: document }]);
    const { code, out, err } = await own.run(['login', '--url', relay.url], {
      PATH: `${own.folder}:${process.env.PATH}`,
    });
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/nothing was opened\..* \[SIGN_IN_ELSEWHERE\]\n$/);
    expect(err).not.toMatch(/[\u0000-\u0009\u001b\u202e]/);
    expect(existsSync(opened)).toBe(false);
    await relay.close();
  });
});

describe('a relay with an external sign-in', () => {
  it('is reported as such, and accepts tokens from elsewhere', async () => {
    const other = await openWorld({ identity: false });
    const own = desk.open();
    expect(await own.json(['login', '--no-browser', '--url', other.url])).toMatchObject({
      exit: 1,
      code: 'SIGN_IN_ELSEWHERE',
      error: expect.stringContaining('--token'),
    });
    const token = other.relay.token('alice', { email: 'alice@example.org' });
    const wrong = await own.run(['login', '--url', other.url, '--token', `${token.slice(0, -8)}AAAAAAAA`]);
    expect(wrong).toMatchObject({ code: 3, err: expect.stringContaining('[INVALID_TOKEN]') });
    expect((await own.json(['whoami', '--url', other.url])).exit).toBe(3);

    const right = await own.run(['login', '--url', other.url, '--token', '-'], {}, `${token}\n`);
    expect(right).toMatchObject({ code: 0, out: expect.stringContaining('cannot be renewed') });
    expect(right.out).not.toContain(token);
    expect(await own.json(['whoami'])).toMatchObject({
      email: 'alice@example.org',
      renewable: false,
      relay: other.url,
    });

    const bob = other.relay.token('bob');
    const asBob = await own.json(['whoami'], { RELAY_CLI_TOKEN: bob });
    expect(asBob.id).toBe(other.relay.issuer.userId('bob'));
    const nowhere = desk.open();
    expect(await nowhere.json(['devices'], { RELAY_CLI_TOKEN: bob, RELAY_CLI_URL: other.url })).toMatchObject({
      exit: 0,
      devices: [],
    });
    const old = other.relay.token('bob', { expiresInSeconds: -60 });
    expect(await nowhere.json(['devices'], { RELAY_CLI_TOKEN: old, RELAY_CLI_URL: other.url })).toMatchObject({
      exit: 3,
      code: 'TOKEN_EXPIRED',
    });
    own.change((stored) => (stored.expiresAt = new Date(0).toISOString()));
    expect((await own.run(['whoami'])).err).toContain('--token');
    await other.close();
  });
});

describe('several relays', () => {
  it('each keep a sign-in, and the last one is the default', async () => {
    const other = await openWorld({ identity: false });
    const person = await world.person();
    const own = desk.open();
    await logIn(own, world.url, person.browser);
    await own.run(['login', '--url', other.url, '--token', other.relay.token('alice')]);
    expect((await own.json(['whoami'])).relay).toBe(other.url);
    expect((await own.json(['whoami', '--url', world.url])).email).toBe(person.email);
    expect((await own.json(['whoami'], { RELAY_CLI_URL: world.url })).email).toBe(person.email);
    expect((await own.json(['whoami', '--all'])).relays).toEqual([
      { relay: other.url, account: expect.any(String), renewable: false, default: true },
      { relay: world.url, account: person.email, renewable: true, default: false },
    ]);
    expect((await own.json(['logout'])).relay).toBe(other.url);
    expect((await own.json(['whoami'])).relay).toBe(world.url);
    await other.close();
  });
});
