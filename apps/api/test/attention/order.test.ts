import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Frame, type TestApp, type TestDaemon, connectApp, connectDaemon } from '@relay/testing';
import { type Begun, type Scene, begin, beginAndEnd, messageOf, openScene, report, sessionOf } from '../scene.ts';

/** Describes a frame in one line: its type and its new content. */
function line(frame: Frame): string {
  if (frame.type === 'new_message') return `message ${messageOf(frame).role}: ${messageOf(frame).content}`;
  if (frame.type === 'device_status') return `device ${frame.status as string}`;
  if (frame.type === 'task_output') return `output ${frame.output as string}`;
  if (frame.type !== 'session_update') return frame.type;
  const { status, progress, prompt } = sessionOf(frame);
  return [
    `session ${status}`,
    ...(frame.previousId === undefined ? [] : ['renamed']),
    ...(progress ? [progress.action] : []),
    ...(prompt ? [`asks ${prompt.prompt}`] : []),
  ].join(' ');
}

/** The table of frames (rules, 11.4): the frames that follow from each daemon frame, and their order. */
describe('frames from a daemon become, in this order,', () => {
  let scene: Scene;
  let app: TestApp;
  let markers = 0;
  beforeAll(async () => {
    const opened = await openScene({ config: { offlineGraceMs: 50 } });
    app = await connectApp(opened.relay, { output: true });
    scene = { ...opened, app };
  });
  afterAll(() => scene.relay.stop());

  /** All frames that the app gets between `act` and a later marker of the same daemon. */
  const heard = async (act: () => void, daemon: TestDaemon = scene.daemon): Promise<string[]> => {
    const from = app.inbox.all.length;
    act();
    const nativeId = `marker ${(markers += 1)}`;
    daemon.send({ type: 'report_sessions', sessions: [{ session_id: nativeId }] });
    const isMarker = (frame: Frame) => frame.type === 'session_update' && sessionOf(frame).id.endsWith(nativeId);
    await app.next('session_update', isMarker);
    const since = app.inbox.all.slice(from);
    return since.slice(0, since.findIndex(isMarker)).map(line);
  };

  const sent = async (): Promise<Begun> => {
    const { body } = await scene.relay.call('createSession', {
      body: { deviceId: scene.daemon.deviceId, message: 'hello' },
    });
    await scene.daemon.next('task_start', (frame) => frame.task_id === body.taskId);
    await app.next(
      'session_update',
      (frame) => sessionOf(frame).id === body.id && sessionOf(frame).lastTask?.state === 'sent',
    );
    return { id: '', placeholder: body.id, nativeId: '', taskId: body.taskId };
  };
  const event =
    (taskId: string, type: string, fields: Record<string, unknown> = {}) =>
    () =>
      scene.daemon.event(taskId, type, fields);

  it('connecting: device_status; staying away: device_status', async () => {
    const daemon = await connectDaemon(scene.relay);
    const ofIt = (frame: Frame) => frame.deviceId === daemon.deviceId;
    await app.next('device_status', ofIt);
    await daemon.close();
    await app.next('device_status', ofIt);
    expect(app.inbox.all.filter(ofIt).map(line)).toEqual(['device online', 'device offline']);
  });

  it('a status that confirms a task: session_update', async () => {
    const { taskId } = await sent();
    const status = { type: 'status', running_tasks: [taskId] };
    expect(await heard(() => scene.daemon.send(status))).toEqual(['session active']);
    expect(await heard(() => scene.daemon.send(status))).toEqual([]);
  });

  it('SESSION_STARTED: session_update with previousId', async () => {
    const { taskId } = await sent();
    expect(await heard(event(taskId, 'SESSION_STARTED', { session_id: 'o1' }))).toEqual(['session active renamed']);
    expect(await heard(event(taskId, 'SESSION_STARTED', { session_id: 'o1' }))).toEqual([]);
  });

  it('PROGRESS: session_update', async () => {
    const { taskId } = await begin(scene, 'o2');
    expect(await heard(event(taskId, 'PROGRESS', { action: 'Reading', target: 'a' }))).toEqual([
      'session active Reading',
    ]);
  });

  it('OUTPUT and VERBOSE: task_output', async () => {
    const { taskId } = await begin(scene, 'o3');
    expect(await heard(event(taskId, 'OUTPUT', { output: 'one' }))).toEqual(['output one']);
    expect(await heard(event(taskId, 'VERBOSE', { content: 'two' }))).toEqual(['output two']);
  });

  it('AGENT_RESPONSE and USER_MESSAGE: new_message, with a task and without', async () => {
    const { taskId, nativeId } = await begin(scene, 'o4');
    expect(await heard(event(taskId, 'AGENT_RESPONSE', { session_id: nativeId, content: 'a' }))).toEqual([
      'message AGENT: a',
    ]);
    expect(await heard(event('', 'AGENT_RESPONSE', { session_id: nativeId, content: 'b' }))).toEqual([
      'message AGENT: b',
    ]);
    expect(await heard(event('', 'USER_MESSAGE', { session_id: nativeId, content: 'c' }))).toEqual(['message USER: c']);
  });

  it('TASK_COMPLETE: new_message, session_update', async () => {
    const { taskId } = await begin(scene, 'o5');
    expect(await heard(event(taskId, 'TASK_COMPLETE', { result: 'done' }))).toEqual([
      'message AGENT: done',
      'session idle',
    ]);
    // A repetition adds no message. The session is published again, because a killed instance might not have done so.
    expect(await heard(event(taskId, 'TASK_COMPLETE', { result: 'done' }))).toEqual(['session idle']);
  });

  it('TASK_COMPLETE of a session that it names: session_update with previousId, new_message, session_update', async () => {
    const { taskId } = await sent();
    expect(await heard(event(taskId, 'TASK_COMPLETE', { session_id: 'o6', result: 'done' }))).toEqual([
      'session idle renamed',
      'message AGENT: done',
      'session idle',
    ]);
  });

  it('WAIT_FOR_USER: new_message with the result, else the prompt, then session_update with the prompt', async () => {
    const one = await begin(scene, 'o7');
    expect(await heard(event(one.taskId, 'WAIT_FOR_USER', { prompt: 'Go?', result: 'I would go.' }))).toEqual([
      'message AGENT: I would go.',
      'session waiting asks Go?',
    ]);
    const other = await begin(scene, 'o8');
    expect(await heard(event(other.taskId, 'WAIT_FOR_USER', { prompt: 'Stay?', options: null }))).toEqual([
      'message AGENT: Stay?',
      'session waiting asks Stay?',
    ]);
  });

  it('ERROR: new_message, session_update', async () => {
    const { taskId } = await begin(scene, 'o9');
    expect(await heard(event(taskId, 'ERROR', { error: 'broken' }))).toEqual([
      'message SYSTEM: broken',
      'session failed',
    ]);
  });

  it('the completion of a task after its PROGRESS: no progress remains', async () => {
    const { taskId } = await begin(scene, 'o10');
    const lines = await heard(() => {
      event(taskId, 'PROGRESS', { action: 'One' })();
      event(taskId, 'PROGRESS', { action: 'Two' })();
      event(taskId, 'TASK_COMPLETE', { result: 'done' })();
    });
    // Whether "Two" is shown depends on the time between them. It must not be shown late.
    expect(lines.filter((shown) => shown !== 'session active Two')).toEqual([
      'session active One',
      'message AGENT: done',
      'session idle',
    ]);
    expect(lines.slice(-2)).toEqual(['message AGENT: done', 'session idle']);
  });

  it('session_activity: session_update, and nothing if it changes nothing', async () => {
    await report(scene, 'o11');
    const activity = {
      type: 'session_activity',
      session_id: 'o11',
      last_message: 'typing',
      message_count: 4,
      is_completion: false,
    };
    expect(await heard(() => scene.daemon.send(activity))).toEqual(['session idle']);
    expect(await heard(() => scene.daemon.send(activity))).toEqual([]);
  });

  it('session_activity that completes work without a task: new_message, session_update', async () => {
    await report(scene, 'o12', { is_active: true });
    const activity = {
      type: 'session_activity',
      session_id: 'o12',
      last_message: 'desk is done',
      message_count: 4,
      is_completion: true,
    };
    expect(await heard(() => scene.daemon.send(activity))).toEqual(['message AGENT: desk is done', 'session idle']);
  });

  it('session_activity that completes the work of a task that just completed: no message', async () => {
    await beginAndEnd(scene, 'o13');
    const activity = {
      type: 'session_activity',
      session_id: 'o13',
      last_message: 'other words',
      message_count: 9,
      is_completion: true,
    };
    expect((await heard(() => scene.daemon.send(activity))).filter((text) => text.startsWith('message'))).toEqual([]);
  });

  it('report_sessions: one session_update per changed session', async () => {
    const entry = (n: number, message: string) => ({ session_id: `o14-${n}`, last_message: message, message_count: n });
    const send =
      (...sessions: unknown[]) =>
      () =>
        scene.daemon.send({ type: 'report_sessions', sessions });
    expect(await heard(send(entry(1, 'a'), entry(2, 'a'), entry(3, 'a')))).toHaveLength(3);
    expect(await heard(send(entry(1, 'a'), entry(2, 'b'), entry(3, 'a')))).toEqual(['session idle']);
    expect(await heard(send(entry(1, 'a'), entry(2, 'b'), entry(3, 'a')))).toEqual([]);
  });

  it('WARNING: a message of the system (F7)', async () => {
    const { taskId } = await begin(scene, 'o16');
    const lines = await heard(event(taskId, 'WARNING', { warning: 'careful' }));
    expect(lines).toEqual(['message SYSTEM: careful']);
  });

  it('pong and unknown frames: nothing', async () => {
    const { taskId } = await begin(scene, 'o15');
    const lines = await heard(() => {
      scene.daemon.send({ type: 'pong' });
      event(taskId, 'NEW_EVENT', { anything: 1 })();
      scene.daemon.send({ type: 'new_frame' });
    });
    expect(lines).toEqual([]);
  });
});
