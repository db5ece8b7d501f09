import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type RelayDouble, startRelayDouble } from '@relay/testing';
import { WebSocket } from 'ws';
import {
  type AttentionItem,
  type AttentionStream,
  type ClientOptions,
  ClosedError,
  RelayError,
  SignedOutError,
  TimeoutError,
  type WebSocketConstructor,
  createClient,
} from '../src/node.ts';
import { type ConnectionEnd, connect } from '../src/connection.ts';
import type { OpenSocket } from '../src/socket.ts';

let relay: RelayDouble;
beforeEach(async () => {
  relay = await startRelayDouble();
  relay.answers.set('POST /api/ws-tickets', [{ status: 201, body: { ticket: 'ticket-1', expiresIn: 30 } }]);
});
afterEach(() => relay.close());

/** Both ways to open a socket: that of Node, and the standard interface of browsers. */
const kinds: [string, Partial<ClientOptions>][] = [
  ['in Node', {}],
  ['on a standard WebSocket', { WebSocket: WebSocket }],
];
/** Tokens `token-1`, `token-2`, …: a new one after each refusal. */
const renewing = () => {
  let number = 1;
  return ({ refused }: { refused?: string | undefined }) => `token-${refused === undefined ? number : ++number}`;
};
const refusal = (status: number, code: string, headers?: Record<string, string>) => ({
  status,
  body: { error: 'So it is.', code, status },
  ...(headers ? { headers } : {}),
});
const said = (content: string, offset: string) => ({
  type: 'new_message',
  sessionId: 's',
  message: { uuid: content, role: 'AGENT', content, timestamp: '2026-01-01T00:00:00.000Z' },
  offset,
});
/** A short description of an item. */
const word = (item: AttentionItem | undefined): string => {
  if (!item) return 'end';
  if (item.type === 'connection') return item.state === 'live' ? (item.resumed ? 'resumed' : 'live') : item.state;
  if (item.type === 'new_message') return item.message.content;
  return item.type;
};
async function words(stream: AttentionStream, count: number): Promise<string[]> {
  const all: string[] = [];
  while (all.length < count) all.push(word((await stream.next()).value));
  return all;
}
const endOf = (stream: AttentionStream) =>
  (async () => {
    for await (const _item of stream);
    return undefined;
  })().catch((error: unknown) => error);

describe.each(kinds)('a stream %s', (_kind, options) => {
  const open = (more: Partial<ClientOptions> = {}) =>
    createClient({ baseUrl: relay.url, getToken: renewing(), ...options, ...more });

  it('reports its connection and every frame in order, and resumes after the last one', async () => {
    const stream = open().attention({ events: ['output'] });
    expect(stream.state).toEqual({ state: 'idle' });
    const first = words(stream, 3);
    const one = await relay.socket();
    expect([one.since, one.query.get('events')]).toEqual(['', 'output']);
    expect(await first).toEqual(['connecting', 'live', 'resync']);
    one.send(said('one', 'o.1'));
    one.send(said('two', 'o.2'));
    expect(await words(stream, 1)).toEqual(['one']);
    expect(stream.offset).toBe('o.1');
    one.close(1001, 'going away');
    expect(await words(stream, 2)).toEqual(['two', 'waiting']);
    expect(stream.state).toMatchObject({ state: 'waiting', error: { code: 'CLOSED', closeCode: 1001 } });
    stream.refresh();
    const two = await relay.socket();
    expect(two.since).toBe('o.2');
    expect(await words(stream, 2)).toEqual(['connecting', 'resumed']);
    two.send({ type: 'resync' });
    expect(await words(stream, 1)).toEqual(['resync']);
    await stream.return();
    expect([await two.closed, stream.state]).toEqual([1000, { state: 'closed' }]);
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  it('K4: sends a resync when the numbers of output jump, but not when output is late or starts over', async () => {
    const stream = open().attention({ events: ['output'] });
    const first = words(stream, 3);
    const socket = await relay.socket();
    await first;
    const heard: string[] = [];
    const output = (sequence: number, taskId = 't') =>
      socket.send({ type: 'task_output', sessionId: 's', taskId, output: `${taskId}${sequence}`, sequence });
    for (const sequence of [4, 5, 8, 7, 9, 1, 2]) output(sequence);
    output(6, 'u');
    while (!heard.includes('u6')) {
      const { value } = await stream.next();
      heard.push(value?.type === 'task_output' ? value.output : word(value));
    }
    expect(heard).toEqual(['t4', 't5', 'resync', 't8', 't7', 't9', 't1', 't2', 'u6']);
    await stream.return();
  });

  it('starts after a given offset, and completes without an error when it is aborted', async () => {
    const controller = new AbortController();
    const stream = open().attention({ since: 'o.7', signal: controller.signal });
    const first = words(stream, 2);
    const socket = await relay.socket();
    expect(socket.since).toBe('o.7');
    expect(await first).toEqual(['connecting', 'resumed']);
    expect(stream.offset).toBe('o.7');
    const ended = endOf(stream);
    controller.abort();
    expect(await ended).toBeUndefined();
    expect(await socket.closed).toBe(1000);
    expect(await endOf(open().attention({ signal: AbortSignal.abort() }))).toBeUndefined();
  });

  it('reconnects once with another credential after a close for the first one', async () => {
    const ended = endOf(open().attention());
    (await relay.socket()).close(4401);
    (await relay.socket()).close(4401);
    expect(await ended).toBeInstanceOf(ClosedError);
    const fixed = endOf(createClient({ baseUrl: relay.url, token: 'fixed', ...options }).attention());
    (await relay.socket()).close(4401);
    expect(await fixed).toMatchObject({ closeCode: 4401 });
    const same = endOf(open({ getToken: () => 'the only one' }).attention());
    (await relay.socket()).close(4401);
    expect(await same).toMatchObject({ closeCode: 4401 });
  });

  it.each([
    [4403, 'end'],
    [4404, 'end'],
    [4409, 'end'],
    [4426, 'end'],
    [1001, 'waiting'],
    [1011, 'waiting'],
    [1013, 'waiting'],
    [4408, 'waiting'],
    [4429, 'waiting'],
    [4999, 'waiting'],
  ])('honours the close code %d', async (code, then) => {
    const stream = open().attention();
    const first = words(stream, 3);
    (await relay.socket()).close(code);
    await first;
    if (then === 'waiting') expect(await words(stream, 1)).toEqual(['waiting']);
    else expect(await endOf(stream)).toMatchObject({ closeCode: code });
    await stream.return();
  });

  it('passes on frames of later releases, and drops broken ones', async () => {
    const stream = open().attention();
    const first = words(stream, 3);
    const socket = await relay.socket();
    await first;
    for (const broken of ['{', '[]', '"x"', '{"type":1}', '{"type":"new_message"}', '{"type":"session_update"}'])
      socket.send(broken);
    socket.send({ type: 'something_new', value: 1, offset: 'o.1' });
    expect((await stream.next()).value).toEqual({
      type: 'unknown',
      frame: { type: 'something_new', value: 1, offset: 'o.1' },
    });
    expect(stream.offset).toBe('o.1');
    await stream.return();
  });

  it('renews its credential on the open connection before the token expires', async () => {
    const wishes: unknown[] = [];
    const stream = open({
      getToken: (wish) => {
        wishes.push(wish);
        const isRenewal = wish.minValidMs !== undefined;
        return { token: isRenewal ? 'fresh' : 'old', expiresAt: Date.now() + (isRenewal ? 600_000 : 2000) };
      },
    }).attention();
    const first = words(stream, 3);
    const socket = await relay.socket();
    await first;
    expect(JSON.parse(await socket.nextFrame())).toEqual({ type: 'auth', token: 'fresh' });
    expect(wishes.at(-1)).toEqual({ minValidMs: 90_000 });
    socket.send({ type: 'auth_ok', expiresAt: new Date().toISOString() });
    socket.send(said('still here', 'o.1'));
    expect(await words(stream, 1)).toEqual(['still here']);
    stream.refresh();
    expect(JSON.parse(await socket.nextFrame())).toEqual({ type: 'auth', token: 'old' });
    await stream.return();
  });

  it('waits while fetching a token fails, and stops when the person is signed out', async () => {
    let token: string | Error = new Error('the sign-in is away');
    const getToken = () => (token instanceof Error ? Promise.reject(token) : token);
    const stream = open({ getToken }).attention();
    expect(await words(stream, 2)).toEqual(['connecting', 'waiting']);
    expect(stream.state).toMatchObject({ error: token });
    token = 'token-1';
    stream.refresh();
    await relay.socket();
    expect(await words(stream, 2)).toEqual(['connecting', 'live']);
    await stream.return();
    token = new SignedOutError('Sign in again.');
    expect(await endOf(open({ getToken }).attention())).toBe(token);
  });
});

describe('a connection', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  /** An open connection whose token is renewed after a minute; the other side never replies. */
  const opened = () => {
    const sent: unknown[] = [];
    const open: OpenSocket = (_wish, events) => {
      setTimeout(() => events.onOpen(), 0);
      const nothing = () => undefined;
      return { send: (text) => void sent.push(JSON.parse(text)), close: nothing, pause: nothing, resume: nothing };
    };
    const grantOf = (token: string, forMs: number) => ({ token, expiresAt: Date.now() + forMs });
    const connection = connect({
      open,
      tokens: { renewable: true, get: () => Promise.resolve(grantOf('fresh', 600_000)) },
      grant: grantOf('old', 120_000),
      url: relay.url,
      ticket: () => Promise.resolve(''),
      onOpen: () => undefined,
      onText: () => undefined,
    });
    const endings: ConnectionEnd[] = [];
    void connection.ended.then((ending) => endings.push(ending));
    return { connection, sent, endings };
  };

  it('closes if its renewed credential gets no reply', async () => {
    const { sent, endings } = opened();
    await jest.advanceTimersByTimeAsync(61_000);
    expect([sent, endings]).toEqual([[{ type: 'auth', token: 'fresh' }], []]);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(endings).toMatchObject([{ error: expect.any(TimeoutError), token: 'fresh' }]);
  });

  it.each(['before', 'after'])('does not time out while it is paused, from %s the renewal', async (when) => {
    const { connection, sent, endings } = opened();
    if (when === 'before') connection.pause();
    await jest.advanceTimersByTimeAsync(61_000);
    if (when === 'after') connection.pause();
    expect(sent).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(endings).toEqual([]);
    connection.resume();
    await connection.refresh();
    await jest.advanceTimersByTimeAsync(10_000);
    expect(endings).toMatchObject([{ error: expect.any(TimeoutError) }]);
  });
});

describe('a stream in Node', () => {
  const open = () => createClient({ baseUrl: relay.url, getToken: renewing() });

  it('fails with the refusal of the relay, and waits as long as the relay demands', async () => {
    relay.refusals.push(refusal(403, 'INSUFFICIENT_SCOPE'));
    const ended = await endOf(open().attention());
    expect(ended).toBeInstanceOf(RelayError);
    expect(ended).toMatchObject({ code: 'INSUFFICIENT_SCOPE', status: 403, message: 'So it is.' });
    relay.refusals.push(refusal(503, 'SERVICE_UNAVAILABLE', { 'Retry-After': '7' }));
    const stream = open().attention();
    expect(await words(stream, 2)).toEqual(['connecting', 'waiting']);
    const { state } = stream;
    expect(state.state === 'waiting' && state.waitMs >= 7000).toBe(true);
    await stream.return();
    relay.refusals.push(refusal(401, 'TOKEN_EXPIRED'));
    const renewed = open().attention();
    const first = words(renewed, 3);
    expect((await relay.socket()).token).toBe('token-2');
    expect(await first).toEqual(['connecting', 'connecting', 'live']);
    await renewed.return();
  });

  it('reads only as fast as its frames are consumed, and loses no frame', async () => {
    const stream = open().attention();
    const first = words(stream, 3);
    const socket = await relay.socket();
    await first;
    const frames = 10_000;
    for (let n = 1; n <= frames; n += 1) socket.send(said(`${n}`, `o.${n}`));
    const all = await words(stream, frames);
    expect(all).toEqual(Array.from({ length: frames }, (_, n) => `${n + 1}`));
    await stream.return();
  });
});

describe('a stream on a standard WebSocket', () => {
  const open = (more: Partial<ClientOptions> = {}) =>
    createClient({ baseUrl: relay.url, getToken: renewing(), ...kinds[1]![1], ...more });

  it('gets a ticket for each connection, and reports why it got no ticket', async () => {
    const stream = open().attention();
    const first = words(stream, 2);
    expect((await relay.socket()).query.get('ticket')).toBe('ticket-1');
    await first;
    await stream.return();
    relay.answers.set('POST /api/ws-tickets', [refusal(403, 'INSUFFICIENT_SCOPE')]);
    expect(await endOf(open().attention())).toMatchObject({ code: 'INSUFFICIENT_SCOPE' });
    relay.answers.set('POST /api/ws-tickets', [refusal(401, 'TOKEN_REVOKED')]);
    expect(await endOf(open().attention())).toMatchObject({ code: 'TOKEN_REVOKED' });
  });

  it('drops unread frames of a slow reader, and sends it a resync', async () => {
    const frames = 5000;
    let count = 0;
    let allCame: () => void;
    const came = new Promise<void>((resolve) => (allCame = resolve));
    class Counting extends WebSocket {
      constructor(url: string) {
        super(url);
        this.on('message', () => ++count === frames && allCame());
      }
    }
    const stream = open({ WebSocket: Counting as unknown as WebSocketConstructor }).attention();
    const first = words(stream, 3);
    const socket = await relay.socket();
    await first;
    for (let n = 1; n <= frames; n += 1) socket.send(said(`${n}`, `o.${n}`));
    await came;
    socket.send(said('last', 'o.last'));
    const all: string[] = [];
    while (all.at(-1) !== 'last') all.push(...(await words(stream, 1)));
    const kept = all.slice(1, -1);
    expect(all[0]).toBe('resync');
    expect(kept.length).toBeLessThan(4096);
    expect(kept).toEqual(kept.map((_, n) => `${frames - kept.length + 1 + n}`));
    expect(stream.offset).toBe('o.last');
    await stream.return();
  });
});
