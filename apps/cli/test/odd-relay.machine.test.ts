import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type RelayDouble, startRelayDouble } from '@relay/testing';
import { createDesk } from './desk.ts';

let relay: RelayDouble;
const desk = createDesk();
beforeEach(async () => {
  relay = await startRelayDouble();
});
afterEach(async () => {
  await desk.clear();
  await relay.close();
});

/** Signed in to the double, without the steps in a browser. */
function signedIn(more: object = {}) {
  const own = desk.open();
  mkdirSync(own.folder, { recursive: true });
  const profile = {
    url: relay.url,
    account: 'alice',
    accessToken: 'access-0',
    expiresAt: new Date(Date.now() + 600_000).toISOString(),
    renewal: { clientId: 'relay-cli', refreshToken: 'refresh-0', tokenEndpoint: `${relay.url}/auth/oauth2/token` },
    ...more,
  };
  writeFileSync(own.file, JSON.stringify({ version: 1, relays: [profile] }), { mode: 0o600 });
  return own;
}

const error = (status: number, code: string, headers?: Record<string, string>) => ({
  status,
  body: { error: 'So it is.', code, status },
  ...(headers ? { headers } : {}),
});
const session = (status: string) => ({
  id: 'd1:demo:s1',
  title: 'Talk',
  status,
  agentType: 'demo',
  deviceId: 'd1',
  projectPath: '',
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
});
const message = (uuid: string, content: string) => ({
  uuid,
  role: 'AGENT',
  content,
  timestamp: '2026-01-01T00:00:00.000Z',
});
const detail = (...messages: object[]) => ({ status: 200, body: { ...session('idle'), messages, hasMore: false } });
const said = (content: string, offset: string) => ({
  type: 'new_message',
  sessionId: 'd1:demo:s1',
  message: message(content, content),
  offset,
});

describe('a stream', () => {
  it('continues from the last offset, with a growing delay when the relay asks to back off', async () => {
    relay.answers.set('GET /api/sessions/d1%3Ademo%3As1', [detail()]);
    const program = signedIn().start(['tail', 'd1:demo:s1', '--json']);
    const first = await relay.socket();
    expect(first.since).toBe('');
    await program.says('session_update');
    first.send(said('one', 'o.1'));
    await program.says('"one"');
    first.close(1013, 'overloaded or too slow');
    await program.says('1013');
    const second = await relay.socket();
    expect(second.since).toBe('o.1');
    second.send(said('two', 'o.2'));
    await program.says('"two"');
    second.close(1001, 'going away');
    expect((await relay.socket()).since).toBe('o.2');
  });

  it('reports a resync and reloads the available history', async () => {
    relay.answers.set('GET /api/sessions/d1%3Ademo%3As1', [
      detail(message('m1', 'early')),
      detail(message('m1', 'early'), message('m2', 'between')),
    ]);
    const program = signedIn().start(['tail', 'd1:demo:s1']);
    const socket = await relay.socket();
    await program.says('early');
    socket.send({ type: 'resync' });
    await program.says('between');
    expect(program.err()).toContain('Some events may have been missed');
    expect(program.out().split('early')).toHaveLength(2);
    program.child.kill('SIGINT');
    expect((await program.exit).code).toBe(0);
  });

  const busy = Array.from({ length: 3 }, () => error(503, 'SERVICE_UNAVAILABLE', { 'Retry-After': '0' }));

  it.each([
    ['tail', ['tail', 'd1:demo:s1'], 'GET /api/sessions/d1%3Ademo%3As1', detail(message('m1', 'there')), 'there'],
    ['watch', ['watch'], 'GET /api/sessions', { status: 200, body: { sessions: [session('idle')] } }, 'Reconnected'],
    [
      'inbox --watch',
      ['inbox', '--watch'],
      'GET /api/inbox',
      { status: 200, body: { version: 7, counts: { total: 7 }, items: [] } },
      '7 waiting',
    ],
  ])('of %s continues after a temporary read failure', async (_name, words, route, answer, told) => {
    relay.answers.set('GET /api/sessions', [{ status: 200, body: { sessions: [] } }]);
    relay.answers.set('GET /api/sessions/d1%3Ademo%3As1', [detail()]);
    relay.answers.set('GET /api/inbox', [{ status: 200, body: { version: 1, counts: { total: 1 }, items: [] } }]);
    const program = signedIn().start(words);
    const socket = await relay.socket();
    await program.says(/Listening|idle|1 waiting/);
    relay.answers.set(route, [...busy, answer]);
    socket.send({ type: 'resync' });
    await program.says(told);
    program.child.kill('SIGINT');
    const { code, err } = await program.exit;
    expect(code).toBe(0);
    if (words[0] !== 'inbox') expect(err).toMatch(/the relay answered 503\. Retrying in 1 s\.\n[^]*Reconnected\./);
  });

  it('retries a read until it is interrupted, and exits on a permanent failure', async () => {
    const route = 'GET /api/sessions/d1%3Ademo%3As1';
    relay.answers.set(route, [error(503, 'SERVICE_UNAVAILABLE', { 'Retry-After': '60' })]);
    const waiting = signedIn().start(['tail', 'd1:demo:s1', '--json']);
    await waiting.says('"lost"');
    waiting.child.kill('SIGINT');
    expect(await waiting.exit).toMatchObject({ code: 0, err: '' });
    relay.answers.set(route, [...busy, error(404, 'SESSION_NOT_FOUND')]);
    const gone = signedIn().run(['tail', 'd1:demo:s1']);
    expect(await gone).toMatchObject({ code: 4, err: expect.stringContaining('[SESSION_NOT_FOUND]') });
  });

  it('reconnects once with a new credential after it was closed for its credential', async () => {
    const program = signedIn().start(['watch', '--json']);
    const first = await relay.socket();
    expect(first.token).toBe('access-0');
    first.close(4401);
    const second = await relay.socket();
    expect(second.token).toBe('access-1');
    second.close(4401);
    expect(await program.exit).toMatchObject({ code: 3, err: expect.stringContaining('relay login') });
  });

  it('exits when its token cannot be renewed', async () => {
    const program = signedIn({ renewal: undefined }).start(['watch', '--json']);
    (await relay.socket()).close(4401);
    expect(await program.exit).toMatchObject({ code: 3, err: expect.stringContaining('"TOKEN_REVOKED"') });
  });

  it('does not reconnect after a permanent refusal', async () => {
    relay.refusals.push(error(403, 'INSUFFICIENT_SCOPE'));
    expect(await signedIn().run(['watch', '--json'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('INSUFFICIENT_SCOPE'),
    });
    relay.refusals.push(error(404, 'NOT_FOUND'));
    expect(await signedIn().run(['watch', '--json'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('NOT_A_RELAY'),
    });
    const program = signedIn().start(['watch', '--json']);
    (await relay.socket()).close(4403, 'forbidden');
    expect((await program.exit).code).toBe(1);
  });

  it('waits after a refused reconnection as long as the refusal asks', async () => {
    const program = signedIn().start(['watch', '--json']);
    const first = await relay.socket();
    relay.refusals.push(error(503, 'SERVICE_UNAVAILABLE', { 'Retry-After': '1' }));
    first.close(1001);
    await program.says('answered 503: So it is.');
    await relay.socket();
    const lost = program.lines().filter(({ state }) => state === 'lost');
    expect(lost[1]!.waitMs).toBeGreaterThanOrEqual(1000);
  });

  it('forwards frames of later releases with --json, and survives invalid ones', async () => {
    const program = signedIn().start(['watch', '--json']);
    const socket = await relay.socket();
    for (const broken of [
      '{',
      '[]',
      '"x"',
      '{"type":1}',
      '{"type":"new_message"}',
      '{"type":"session_update","session":null}',
    ])
      socket.send(broken);
    socket.send({ type: 'something_new', value: 1 });
    await program.says('something_new');
    expect(program.lines()).toEqual([
      { type: 'connection', state: 'open' },
      { type: 'something_new', value: 1 },
    ]);
  });
});

describe('a command for several sessions', () => {
  it('reports the result for each, and exits with the code of the first failure', async () => {
    const path = (native: string) => `/api/sessions/d1%3Ademo%3A${native}`;
    const one = (native: string) => ({ ...session('idle'), id: `d1:demo:${native}`, archived: true });
    for (const native of ['s1', 's2', 's3']) {
      relay.answers.set(`GET ${path(native)}`, [
        { status: 200, body: { ...one(native), messages: [], hasMore: false } },
      ]);
      relay.answers.set(`PATCH ${path(native)}`, [{ status: 200, body: one(native) }]);
    }
    relay.answers.set(`PATCH ${path('s2')}`, [error(404, 'SESSION_NOT_FOUND')]);
    const names = ['d1:demo:s1', 'd1:demo:s2', 'd1:demo:s3'];
    const { code, out, err } = await signedIn().run(['archive', ...names, '--json']);
    const ids = out.split('\n').flatMap((line) => (line === '' ? [] : [(JSON.parse(line) as { id: string }).id]));
    expect([code, ids]).toEqual([4, ['d1:demo:s1', 'd1:demo:s3']]);
    expect(JSON.parse(err)).toMatchObject({ id: 'd1:demo:s2', code: 'SESSION_NOT_FOUND', status: 404 });
    expect(await signedIn().run(['archive', ...names])).toEqual({
      code: 4,
      out: 's1 is archived; "relay sessions --all" lists it.\ns3 is archived; "relay sessions --all" lists it.\n',
      err: 's2: So it is. "relay sessions --all" lists them. [SESSION_NOT_FOUND]\n',
    });
  });
});

describe('an inbox with more items than the page', () => {
  const counts = { question: 1, failure: 3, unknown: 0, finished: 700, device: 0, snoozed: 9, total: 704, badge: 4 };
  const item = { id: 'item', kind: 'failure', state: 'open', createdAt: '2026-01-01T00:00:00.000Z' };
  it.each([
    { words: [], last: '703 more. 9 snoozed (--snoozed).' },
    { words: ['--kind', 'failure'], last: '2 more.' },
    { words: ['--snoozed'], last: '8 more.' },
    { words: ['--snoozed', '--kind', 'failure'], last: 'failed' },
    { words: ['--snoozed', '--kind', 'failure'], nextCursor: 'c2', last: 'There are more.' },
  ])('counts the items that it does not show: $words $last', async ({ words, last, nextCursor }) => {
    relay.answers.set('GET /api/inbox', [
      { status: 200, body: { version: 1, counts, items: [item], ...(nextCursor ? { nextCursor } : {}) } },
    ]);
    const { out } = await signedIn().run(['inbox', ...words]);
    expect(out.trimEnd().split('\n').at(-1)!.slice(0, last.length)).toBe(last);
    expect(out.trimEnd().split('\n')).toHaveLength(last === 'failed' ? 2 : 3);
  });
});

describe('a request', () => {
  it('is retried when the relay is busy for a moment', async () => {
    relay.answers.set('GET /api/devices', [
      error(503, 'SERVICE_UNAVAILABLE', { 'Retry-After': '0' }),
      { status: 200, body: { devices: [] } },
    ]);
    expect(await signedIn().json(['devices'])).toEqual({ exit: 0, devices: [] });
  });

  it('over the limit exits with 75 and prints the retry time', async () => {
    relay.answers.set('GET /api/devices', [error(429, 'RATE_LIMITED', { 'Retry-After': '17' })]);
    expect(await signedIn().json(['devices'])).toMatchObject({
      exit: 75,
      code: 'RATE_LIMITED',
      retryAfter: 17,
      status: 429,
    });
    expect((await signedIn().run(['devices'])).err).toBe('So it is. Try again in 17 s. [RATE_LIMITED]\n');
  });

  it.each([
    ['a page of a proxy', { status: 502, text: '<html>Bad Gateway</html>' }, 75, 'UNREACHABLE'],
    ['a server that is not a relay', { status: 200, text: '<html>Welcome</html>' }, 1, 'NOT_A_RELAY'],
    ['a redirect', { status: 308, headers: { Location: 'https://elsewhere.example/api/devices' } }, 2, 'REDIRECTED'],
    ['an internal error of the relay', error(500, 'INTERNAL_ERROR', { 'X-Request-Id': 'r-1' }), 1, 'INTERNAL_ERROR'],
    ['a missing scope', error(403, 'INSUFFICIENT_SCOPE'), 1, 'INSUFFICIENT_SCOPE'],
  ])('that gets %s exits with one sentence', async (_what, answer, exit, code) => {
    relay.answers.set('GET /api/devices', [answer]);
    const result = await signedIn().json(['devices']);
    expect(result).toMatchObject({ exit, code });
    expect(result.error).not.toContain('\n');
  });

  it('shows unknown values and fields of a newer relay', async () => {
    relay.answers.set('GET /api/sessions', [
      { status: 200, body: { sessions: [{ ...session('dreaming'), mood: 'calm' }] } },
    ]);
    relay.answers.set('GET /api/devices', [{ status: 200, body: { devices: [] } }]);
    expect((await signedIn().run(['sessions'])).out).toMatch(/s1 +dreaming +d1 +Talk/);
    expect((await signedIn().json(['sessions'])).sessions[0].mood).toBe('calm');
  });

  it('for a list reads all its pages', async () => {
    relay.answers.set('GET /api/sessions', [
      { status: 200, body: { sessions: [session('idle')], nextCursor: 'c2' } },
      { status: 200, body: { sessions: [{ ...session('idle'), id: 'd1:demo:s2' }] } },
    ]);
    expect((await signedIn().json(['sessions'])).sessions).toHaveLength(2);
  });

  it('prints its whole answer to a reader that is slower than the command', async () => {
    const sessions = Array.from({ length: 1000 }, () => ({ ...session('idle'), title: 'x'.repeat(2000) }));
    relay.answers.set('GET /api/sessions', [{ status: 200, body: { sessions } }]);
    const program = signedIn().start(['sessions', '--json']);
    program.child.stdout.pause();
    while (!relay.calls.includes('GET /api/sessions')) await delay(20);
    // A finished command can live for a second.
    await Promise.race([once(program.child, 'exit'), delay(2000)]);
    program.child.stdout.resume();
    const { code, out } = await program.exit;
    expect([code, (JSON.parse(out) as { sessions: unknown[] }).sessions.length]).toEqual([0, 1000]);
  });

  it('keeps the sign-in when the relay cannot renew it right now', async () => {
    relay.answers.set('POST /auth/oauth2/token', [error(503, 'SERVICE_UNAVAILABLE', { 'Retry-After': '5' })]);
    const own = signedIn({ expiresAt: new Date(0).toISOString() });
    expect(await own.json(['devices'])).toMatchObject({ exit: 75, code: 'SERVICE_UNAVAILABLE' });
    expect(own.stored().renewal!.refreshToken).toBe('refresh-0');
    relay.answers.delete('POST /auth/oauth2/token');
    relay.answers.set('GET /api/devices', [{ status: 200, body: { devices: [] } }]);
    expect(await own.json(['devices'])).toMatchObject({ exit: 0 });
    expect(own.stored().renewal!.refreshToken).toBe('refresh-1');
  });
});
