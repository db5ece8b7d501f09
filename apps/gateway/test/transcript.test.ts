import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { transcriptLimits } from '@relay/protocol';
import { type TestApp, type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { begin, counted, end, idOf, path, run, sessionIn, tick } from './conversation.ts';

const add = (text: string, uuid = 'u1') => ({ op: 'add', uuid, text });

/** ADR 35: operations of a daemon → apps. */
describe('event TRANSCRIPT', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;
  let listener: TestApp;
  const texts: string[] = [];

  beforeAll(async () => {
    // A sweep drops remembered sessions, in case another instance changed one.
    relay = await startRelay({ config: { sweepIntervalMs: 600_000 } });
    daemon = await connectDaemon(relay, { capabilities: ['transcript'] });
    app = await connectApp(relay, { transcript: true });
    listener = await connectApp(relay, { output: true });
    app.socket.on('message', (data: Buffer) => texts.push(data.toString('utf8')));
  });
  afterAll(() => relay.stop());

  const frameOf = (nativeId: string, v?: number) =>
    app.next('transcript', (frame) => frame.sessionId === idOf(daemon, nativeId) && (v === undefined || frame.v === v));
  /** The text that follows these first members of the daemon's frame, as the app gets it. */
  const forwarded = async (taskId: string, nativeId: string, v: number, text: string) => {
    daemon.sendText(text);
    await frameOf(nativeId, v);
    const start = `{"type":"transcript","sessionId":${JSON.stringify(idOf(daemon, nativeId))},`;
    const found = texts.findLast((one) => one.startsWith('{"type":"transcript"'))!;
    expect(found.slice(0, start.length)).toBe(start);
    return found.slice(start.length);
  };
  const envelope = (taskId: string, nativeId: string) =>
    `{"type":"event","event_type":"TRANSCRIPT","task_id":"${taskId}","session_id":"${nativeId}",`;

  it('is declared on the 101', () => {
    expect(daemon.relayCapabilities).toContain('transcript');
  });

  it('is forwarded as it is written: unknown operations, kinds and wrong shapes, white space and escapes', async () => {
    const { taskId } = await run(relay, daemon, app, 'raw');
    const rest = [
      '"v":5,"ops":[{"op":"put","item":{"uuid":"u1","part":{"kind":"hologram","x":{"v":1}}}}]}',
      '"v":6 , "ops":[ {"op":"fold"}, {"op":"add","uuid":7,"text":"\\u00e9\\ud83d\\ude00"} ]}',
      '"v":7,"ops":[{"op":"add","uuid":"u1","text":"{\\"v\\":1}"},{}]}',
    ];
    for (const [n, text] of rest.entries())
      expect(await forwarded(taskId, 'raw', 5 + n, envelope(taskId, 'raw') + text)).toBe(text);
  });

  it('is encoded again where more members, another order or a brace could put something else in place of ours', async () => {
    const { taskId } = await run(relay, daemon, app, 'a{b');
    const { taskId: plain } = await run(relay, daemon, app, 'anew');
    const ops = '[{"op":"add","uuid":"u1","text":"x"}]';
    const clean = (v: number) => `"v":${v},"ops":${ops}}`;
    const cases: [string, string, string][] = [
      [taskId, 'a{b', `${envelope(taskId, 'a{b')}"v":1,"ops":${ops}}`],
      [plain, 'anew', `${envelope(plain, 'anew')}"v":2,"ops":${ops},"sessionId":"d:a:stolen","type":"event"}`],
      [plain, 'anew', `${envelope(plain, 'anew')}"v":3,"ops":${ops},"sess\\u0069onId":"d:a:stolen"}`],
      [
        plain,
        'anew',
        `{"v":4,"ops":${ops},"type":"event","event_type":"TRANSCRIPT","task_id":"${plain}","session_id":"anew"}`,
      ],
      [plain, 'anew', `${envelope(plain, 'anew')}"\\u0076":5,"ops":${ops}}`],
      [plain, 'anew', `${envelope(plain, 'anew')}"extra":{"v":9},"v":6,"ops":${ops}}`],
    ];
    for (const [n, [task, nativeId, text]] of cases.entries())
      expect(await forwarded(task, nativeId, n + 1, text)).toBe(clean(n + 1));
  });

  it('costs no statement and no lock while its task is known to run, nor in a local session', async () => {
    const { taskId } = await run(relay, daemon, app, 'hot');
    // The first ones make both known, the desk's session to the relay at all.
    for (const v of [1, 2]) {
      daemon.transcript('', 'desk', [add('first')]);
      await frameOf('desk', v);
      daemon.transcript(taskId, 'hot', [add('first')]);
      await frameOf('hot', v);
    }
    await relay.database.models.$transaction(
      async (tx) => {
        await tx.$executeRaw`LOCK TABLE devices, sessions, tasks IN ACCESS EXCLUSIVE MODE`;
        daemon.transcript(taskId, 'hot', [add('second')]);
        daemon.transcript('', 'desk', [add('second')]);
        await Promise.all([frameOf('hot', 3), frameOf('desk', 3)]);
      },
      { timeout: 60_000 },
    );
  });

  it('is a sign of life and names the session, as any event', async () => {
    const { taskId, pendingId } = await begin(relay, daemon);
    daemon.transcript(taskId, 'named by it', [add('x')]);
    const renamed = await app.next('session_update', (frame) => frame.previousId === pendingId);
    expect(sessionIn(renamed)).toMatchObject({ id: idOf(daemon, 'named by it'), lastTask: { state: 'running' } });
    expect((await frameOf('named by it')).v).toBe(1);
  });

  it('continues for a finished task, a cancelled one for instance', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'cancelled');
    expect((await relay.call('POST', path(id, '/cancel'))).status).toBe(202);
    await daemon.next('task_cancel', (frame) => frame.task_id === taskId);
    for (let n = 1; n <= 3; n += 1) {
      daemon.transcript(taskId, 'cancelled', [add(`after ${n}`)]);
      expect((await frameOf('cancelled', n)).ops).toEqual([add(`after ${n}`)]);
    }
  });

  it('of a session deleted in between reaches no app', async () => {
    daemon.transcript('', 'gone', [add('x')]);
    const { sessionId } = await frameOf('gone', 1);
    expect((await relay.call('DELETE', path(sessionId as string))).status).toBe(204);
    const before = app.inbox.count('transcript');
    daemon.transcript('', 'gone', [add('y')]);
    await tick(daemon, app);
    expect(app.inbox.count('transcript')).toBe(before);
  });

  it('R5: is task_output with its sequence for apps that asked for output alone; only frames that add text count', async () => {
    const { taskId } = await run(relay, daemon, app, 'old app');
    daemon.transcript(taskId, 'old app', [add('one'), { op: 'add', uuid: 't', to: 'output', text: ' and a half' }]);
    daemon.transcript(taskId, 'old app', [{ op: 'set', uuid: 'u1', part: { open: null } }]);
    daemon.event(taskId, 'OUTPUT', { output: 'two' });
    daemon.transcript(taskId, 'old app', [add('three')]);
    await listener.next('task_output', ({ output }) => output === 'three');
    expect(listener.inbox.all.filter((frame) => frame.type === 'task_output' && frame.taskId === taskId)).toEqual(
      ['one and a half', 'two', 'three'].map((output, n) => ({
        type: 'task_output',
        sessionId: idOf(daemon, 'old app'),
        taskId,
        output,
        sequence: n + 1,
      })),
    );
    expect(listener.inbox.count('transcript')).toBe(0);
  });

  it('over 64 KiB is dropped, and so is one of a daemon that did not declare it', async () => {
    const { taskId } = await run(relay, daemon, app, 'long');
    daemon.transcript(taskId, 'long', [add('x'.repeat(transcriptLimits.frameBytes))]);
    daemon.transcript(taskId, 'long', [add('ü'.repeat(transcriptLimits.frameBytes / 2))]);
    daemon.transcript(taskId, 'long', [add('x'.repeat(transcriptLimits.operationBytes))]);
    await frameOf('long', 3);
    expect(app.inbox.count('transcript', ({ sessionId }) => sessionId === idOf(daemon, 'long'))).toBe(1);
    expect(await counted(relay, 'relay_daemon_frames_ignored_total', { cause: 'long transcript' })).toBe(2);
    const silent = await connectDaemon(relay);
    const begun = await run(relay, silent, app, 'undeclared');
    silent.transcript(begun.taskId, 'undeclared', [add('x')]);
    await end(silent, app, begun.taskId);
    expect(app.inbox.count('transcript', ({ sessionId }) => sessionId === idOf(silent, 'undeclared'))).toBe(0);
    expect(await counted(relay, 'relay_daemon_frames_ignored_total', { cause: 'undeclared event' })).toBe(1);
  });

  it('reaches apps at another instance', async () => {
    const two = await startRelay({ apis: 2, gateways: 2 });
    try {
      const there = await connectDaemon(two, { gateway: 1, capabilities: ['transcript'] });
      const apps = [await connectApp(two, { transcript: true }), await connectApp(two, { api: 1, transcript: true })];
      const { taskId } = await run(two, there, apps[0]!, 'far');
      there.transcript(taskId, 'far', [add('x')]);
      for (const one of apps) expect(await one.next('transcript')).toMatchObject({ v: 1, ops: [add('x')] });
    } finally {
      await two.stop();
    }
  });
});
