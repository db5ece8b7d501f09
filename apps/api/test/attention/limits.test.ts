import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { type TestApp, type TestRelay, connectApp, startRelay } from '@relay/testing';
import { clientFrame, closedWith, dialDeaf, sayer } from './app-door.ts';
import { until } from '../until.ts';

describe('a frame from an app', () => {
  let relay: TestRelay;
  let app: TestApp;
  beforeAll(async () => {
    // Apps and relay share this process: a pause of it must be shorter than the silence that closes.
    relay = await startRelay({ config: { pingIntervalMs: 20, silenceTimeoutMs: 4000 } });
    app = await connectApp(relay);
  });
  afterAll(() => relay.stop());

  let said = 0;
  const stillHears = async (to: TestApp = app) => {
    await sayer(relay, 'alice').append((said += 1));
    await to.next('numbered', ({ n }) => n === said);
  };
  const renewed = async (to: TestApp = app) => {
    to.send({ type: 'auth', token: relay.token() });
    await to.next('auth_ok');
  };

  it.each<[string, string]>([
    ['invalid JSON', 'hello'],
    ['half an object', '{"type":'],
    ['an array', '[]'],
    ['a number', '7'],
    ['null', 'null'],
    ['nothing', ''],
    ['an object without a type', '{}'],
    ['a type that is not text', '{"type":7}'],
    ['a frame type of the relay', '{"type":"session_update","session":{}}'],
    ['a frame type of daemons', '{"type":"status","running_tasks":[]}'],
    ['auth without a token', '{"type":"auth"}'],
    ['auth with a token that is not text', '{"type":"auth","token":{}}'],
    ['a prototype', '{"__proto__":{"type":"auth","token":"x"}}'],
    ['deep nesting', '['.repeat(60_000)],
    ['U+0000', '{"type":"\\u0000"}'],
  ])('is ignored: %s', async (_what, text) => {
    app.socket.send(text);
    await renewed();
    await stillHears();
  });

  it('is ignored at any frame rate', async () => {
    for (let n = 0; n < 500; n += 1) app.socket.send(`garbage ${n}`);
    await renewed();
  });

  it('can have 64 KiB, and closes with 1009 past it', async () => {
    const own = await connectApp(relay);
    own.socket.send('x'.repeat(64 * 1024));
    await renewed(own);
    own.socket.send('x'.repeat(64 * 1024 + 1));
    expect((await own.closed).code).toBe(1009);
    await stillHears();
  });

  it('can have 64 KiB in all its fragments together', async () => {
    const own = await connectApp(relay);
    own.socket.on('error', () => undefined);
    for (let part = 0; part < 5; part += 1) own.socket.send('x'.repeat(16 * 1024), { fin: part === 4 });
    expect((await own.closed).code).toBe(1009);
  });

  it('must be text: a binary frame closes with 1003', async () => {
    const own = await connectApp(relay);
    own.socket.send(Buffer.from('{"type":"auth"}'));
    expect((await own.closed).code).toBe(1003);
  });

  it('must be UTF-8: anything else closes with 1007', async () => {
    const line = await dialDeaf(relay, 'alice');
    line.resume();
    line.write(clientFrame(1, Buffer.from([0xff, 0xfe])));
    await until('it is closed', async () => (await closedWith(relay, 1007)) === 1);
    line.destroy();
  });

  it('gets a pong if it is a WebSocket ping', async () => {
    app.socket.ping('are you there');
    const [data] = (await once(app.socket, 'pong')) as [Buffer];
    expect(data.toString()).toBe('are you there');
  });

  it('is optional for a client that answers pings: only a silent client is closed, with 4408', async () => {
    const before = await closedWith(relay, 4408);
    const mute = await dialDeaf(relay, 'alice');
    await until('the mute one is closed', async () => (await closedWith(relay, 4408)) === before + 1);
    // This client has also sent nothing, but its WebSocket answers pings.
    await stillHears();
    mute.destroy();
  });
});
