import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestApp, type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { counted, end, nextStart, run, tick } from './conversation.ts';

describe('bad frames', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;

  const ignored = (cause: string) => counted(relay, 'relay_daemon_frames_ignored_total', { cause });
  /** A frame as bytes, below everything the WebSocket library would refuse to send. */
  const raw = (peer: TestDaemon, opcode: number, payload: Buffer) => {
    const mask = Buffer.from([1, 2, 3, 4]);
    const length =
      payload.length < 126 ? [0x80 | payload.length] : [0x80 | 126, payload.length >> 8, payload.length & 0xff];
    const masked = payload.map((byte, index) => byte ^ mask[index % 4]!);
    const { _socket } = peer.socket as unknown as { _socket: { write(bytes: Buffer): void } };
    _socket.write(Buffer.concat([Buffer.from([0x80 | opcode, ...length]), mask, masked]));
  };

  beforeAll(async () => {
    relay = await startRelay({ config: { framesPerSecond: 50, frameBurst: 300 } });
    daemon = await connectDaemon(relay);
    app = await connectApp(relay);
  });
  afterAll(() => relay.stop());

  it.each([
    ['no JSON', 'hello'],
    ['half a frame', '{"type":"status"'],
    ['nothing', ''],
    ['a list', '[{"type":"pong"}]'],
    ['a text', '"pong"'],
    ['null', 'null'],
    ['no type', '{"running_tasks":[]}'],
    ['a type that is no text', '{"type":7}'],
  ])('%s, three times within the window, closes 4400', async (_, text) => {
    const peer = await connectDaemon(relay);
    const before = await ignored('malformed');
    peer.socket.send(text);
    peer.socket.send(text);
    // Two are forgiven.
    await tick(peer, app);
    peer.socket.send(text);
    expect(await peer.closed).toEqual({ code: 4400, reason: 'malformed frames' });
    expect(await ignored('malformed')).toBe(before + 3);
  });

  it('malformed frames that lie further apart are forgiven', async () => {
    const forgetful = await startRelay({ config: { malformedWindowMs: 1 } });
    try {
      const peer = await connectDaemon(forgetful);
      const clock = await connectApp(forgetful);
      for (let count = 0; count < 5; count += 1) {
        peer.socket.send('nonsense');
        await tick(peer, clock);
      }
      expect(peer.socket.readyState).toBe(peer.socket.OPEN);
    } finally {
      await forgetful.stop();
    }
  });

  it('a binary frame closes 1003', async () => {
    const peer = await connectDaemon(relay);
    peer.socket.send(Buffer.from('{"type":"pong"}'), { binary: true });
    expect(await peer.closed).toEqual({ code: 1003, reason: 'binary frame' });
  });

  it('invalid UTF-8 closes 1007', async () => {
    const peer = await connectDaemon(relay);
    raw(peer, 1, Buffer.from([0x7b, 0xff, 0xfe, 0x7d]));
    expect(await peer.closed).toMatchObject({ code: 1007 });
  });

  it('a frame that breaks the WebSocket protocol closes 1002', async () => {
    const peer = await connectDaemon(relay);
    raw(peer, 3, Buffer.from('reserved'));
    expect(await peer.closed).toMatchObject({ code: 1002 });
  });

  it('a frame of 16 MiB is taken, and one byte more closes 1009', async () => {
    const peer = await connectDaemon(relay);
    const frame = (bytes: number) => {
      const empty = JSON.stringify({ type: 'something new', filling: '' });
      return JSON.stringify({ type: 'something new', filling: 'x'.repeat(bytes - empty.length) });
    };
    const before = await ignored('unknown');
    peer.socket.send(frame(16 * 1024 * 1024));
    // The rest after it, 30 s on a slow machine, does not apply to a report (rules, 4.8).
    await tick(peer, app);
    expect(await ignored('unknown')).toBe(before + 1);
    peer.socket.send(frame(16 * 1024 * 1024 + 1));
    expect(await peer.closed).toMatchObject({ code: 1009 });
  }, 120_000);

  it('a flood closes 4429, a burst does not', async () => {
    const peer = await connectDaemon(relay);
    for (let count = 0; count < 250; count += 1) peer.send({ type: 'pong' });
    await tick(peer, app);
    for (let count = 0; count < 600; count += 1) peer.send({ type: 'pong' });
    expect(await peer.closed).toEqual({ code: 4429, reason: 'too many frames' });
  });

  it('deep nesting, strange keys and huge numbers are data like any other', async () => {
    const { taskId } = await run(relay, daemon, app, 'strange');
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const before = await ignored('unknown');
    daemon.socket.send(`{"type":"something new","deep":${deep}}`);
    daemon.socket.send(`{"type":"status","running_tasks":["${taskId}"],"deep":${deep}}`);
    daemon.socket.send(`{"type":"status","running_tasks":["${taskId}"],"__proto__":{"type":"pong","polluted":true}}`);
    daemon.socket.send(
      `{"type":"event","event_type":"OUTPUT","task_id":"__proto__","output":"","session_id":"__proto__"}`,
    );
    daemon.socket.send(`{"type":"event","event_type":"constructor","task_id":"${taskId}"}`);
    daemon.socket.send('{"type":"__proto__"}');
    daemon.socket.send('{"type":"hasOwnProperty"}');
    daemon.socket.send('{"type":"session_activity","session_id":"strange","message_count":1e400}');
    await tick(daemon, app);
    expect(await ignored('unknown')).toBe(before + 4);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(await end(daemon, app, taskId)).toMatchObject({ status: 'idle' });
  });

  it('wrong fields of a known type are dropped and counted; the connection stays and later frames count', async () => {
    const { taskId } = await run(relay, daemon, app, 'fields');
    const before = await ignored('invalid');
    for (const frame of [
      { type: 'event', task_id: taskId },
      { type: 'event', task_id: taskId, event_type: 7 },
      { type: 'event', task_id: 7, event_type: 'OUTPUT', output: 'x' },
      { type: 'report_sessions', sessions: { session_id: 'x' } },
      { type: 'messages', messages: [] },
      { type: 'status', running_tasks: null },
    ])
      daemon.send(frame);
    await tick(daemon, app);
    expect(await ignored('invalid')).toBe(before + 6);
    expect(await end(daemon, app, taskId)).toMatchObject({ status: 'idle' });
  });

  it('of one daemon are never felt by another', async () => {
    await nextStart(relay, daemon);
    expect(daemon.socket.readyState).toBe(daemon.socket.OPEN);
    expect(await counted(relay, 'relay_daemon_closes_total', { code: '4400' })).toBe(8);
  });
});
