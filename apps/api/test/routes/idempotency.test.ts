import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Session } from '@relay/protocol';
import { registerDevice } from '@relay/testing';
import { expectRefusal, expectSuccess } from '../answers.ts';
import { type Scene, beginAndEnd, openScene, pathOf, report, sessionOf } from '../scene.ts';

/** Rules, 6.6: the same key and body return the same result and create nothing. */
describe('Idempotency-Key', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene({ apis: 2 });
  });
  afterAll(() => scene.relay.stop());

  const post = (key: string, body: Record<string, unknown>, { user = 'alice', api = 0, path = '/api/sessions' } = {}) =>
    scene.relay.call('POST', path, { user, api, body, headers: { 'Idempotency-Key': key } });
  const create = (key: string, body: Record<string, unknown> = {}, options: { user?: string; api?: number } = {}) =>
    post(key, { deviceId: scene.daemon.deviceId, message: 'hello', ...body }, options);
  const titled = async (title: string) =>
    ((await scene.relay.call('listSessions')).body.sessions as Session[]).filter((session) => session.title === title);

  it('repeats status, body and Location of a new session, marks the replay, and creates nothing', async () => {
    const first = await create('k1', { title: 'once' });
    const second = await create('k1', { title: 'once' }, { api: 1 });
    expectSuccess('createSession', 201, second);
    expect(second.body).toEqual(first.body);
    expect(second.headers.location).toBe(first.headers.location);
    expect(first.headers['idempotent-replay']).toBeUndefined();
    expect(second.headers['idempotent-replay']).toBe('true');
    expect(await titled('once')).toHaveLength(1);
    await scene.daemon.next('task_start', (frame) => frame.task_id === first.body.taskId);
    expect(scene.daemon.inbox.count('task_start', (frame) => frame.task_id === first.body.taskId)).toBe(1);
  });

  it('repeats status and body of a message, and sends nothing', async () => {
    const begun = await beginAndEnd(scene, 'repeated');
    const path = pathOf(begun.id, '/messages');
    const first = await post('k1', { content: 'go' }, { path });
    const second = await post('k1', { content: 'go' }, { path });
    expectSuccess('sendMessage', 202, second);
    expect(second.body).toEqual(first.body);
    expect(second.headers['idempotent-replay']).toBe('true');
    const marker = await scene.relay.call('POST', path, { body: { content: 'marker' } });
    await scene.daemon.next('task_resume', (frame) => frame.task_id === first.body.taskId);
    scene.daemon.event(first.body.taskId as string, 'TASK_COMPLETE', { result: 'went' });
    await scene.daemon.next('task_resume', (frame) => frame.task_id === marker.body.taskId);
    expect(scene.daemon.inbox.count('task_resume', (frame) => frame.session_id === 'repeated')).toBe(2);
  });

  it('still repeats after the daemon named the session, or merged it into a known one', async () => {
    const { body } = await create('k2', { title: 'named meanwhile' });
    const taskId = body.taskId as string;
    await scene.daemon.next('task_start', (frame) => frame.task_id === taskId);
    const path = pathOf(body.id as string, '/messages');
    const first = await post('k2', { content: 'and this' }, { path });
    const known = await report(scene, 'known before');
    scene.daemon.event(taskId, 'SESSION_STARTED', { session_id: 'known before' });
    await scene.app.next('session_update', (frame) => frame.previousId === body.id && sessionOf(frame).id === known);
    for (const again of [
      await post('k2', { content: 'and this' }, { path }),
      await post('k2', { content: 'and this' }, { path: pathOf(known, '/messages') }),
    ]) {
      expectSuccess('sendMessage', 202, again);
      expect(again.body).toEqual(first.body);
    }
  });

  it('is a conflict with another body', async () => {
    await create('k3', { title: 'one' });
    expectRefusal(await create('k3', { title: 'two' }), 'IDEMPOTENCY_CONFLICT');
    expectRefusal(await create('k3', { title: 'one', queueTtlSeconds: 5 }), 'IDEMPOTENCY_CONFLICT');
    expect(await titled('two')).toEqual([]);
  });

  it('is a conflict with another session', async () => {
    const [one, two] = [await report(scene, 'one of two'), await report(scene, 'two of two')];
    await post('k4', { content: 'to one' }, { path: pathOf(one, '/messages') });
    expectRefusal(await post('k4', { content: 'to one' }, { path: pathOf(two, '/messages') }), 'IDEMPOTENCY_CONFLICT');
  });

  it('ignores formatting of the body and unknown fields', async () => {
    const { deviceId } = scene.daemon;
    const first = await post('k5', { deviceId, message: 'written', title: 'differently' });
    const raw = `{ "title":"differently",\n "unknown": {"a":1}, "message":"\\u0077ritten", "deviceId":${JSON.stringify(deviceId)} }`;
    const second = await scene.relay.call('POST', '/api/sessions', { raw, headers: { 'Idempotency-Key': 'k5' } });
    expect(second.body).toEqual(first.body);
    expect(second.headers['idempotent-replay']).toBe('true');
  });

  it('creates one session for many simultaneous requests, and answers all of them alike', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => create('k6', { title: 'at once' }, { api: n % 2 })),
    );
    for (const answer of answers) {
      expectSuccess('createSession', 201, answer);
      expect(answer.body).toEqual(answers[0]!.body);
    }
    expect(answers.filter(({ headers }) => headers['idempotent-replay'] === 'true')).toHaveLength(7);
    expect(await titled('at once')).toHaveLength(1);
  });

  it('gives the session to one of two devices in simultaneous requests', async () => {
    const others = [await registerDevice(scene.relay), await registerDevice(scene.relay)];
    const answers = await Promise.all(others.map(({ deviceId }) => create('k7', { deviceId, title: 'one device' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect(await titled('one device')).toHaveLength(1);
  });

  it('belongs to one user and one route', async () => {
    const registration = await registerDevice(scene.relay, { user: 'bob' });
    const mine = await create('k8', { title: 'mine' });
    const his = await create('k8', { title: 'his', deviceId: registration.deviceId }, { user: 'bob' });
    expectSuccess('createSession', 201, his);
    const id = await report(scene, 'other route');
    expectSuccess('sendMessage', 202, await post('k8', { content: 'hello' }, { path: pathOf(id, '/messages') }));
    expect((await create('k8', { title: 'mine' })).body).toEqual(mine.body);
  });

  it('can be reused after a refusal: the relay keeps only successes', async () => {
    const { deviceId } = await registerDevice(scene.relay);
    expectRefusal(await create('k9', { deviceId, queueTtlSeconds: 0 }), 'DEVICE_OFFLINE');
    expectRefusal(await create('k9', { deviceId, message: ' ' }), 'INVALID_REQUEST');
    const answer = await create('k9', { deviceId });
    expectSuccess('createSession', 201, answer);
    expect(answer.headers['idempotent-replay']).toBeUndefined();
  });

  it('repeats the answer after the session was deleted, without its texts (S4)', async () => {
    const first = await create('k10', { queueTtlSeconds: 0, title: 'while it was there' });
    expectSuccess('createSession', 201, first);
    await scene.relay.call('deleteSession', { params: { id: first.body.id as string } });
    const { title, lastMessage, message, ...rest } = first.body;
    expect([title, lastMessage]).toEqual(['while it was there', 'hello']);
    const again = await create('k10', { queueTtlSeconds: 0, title: 'while it was there' });
    // The message text comes from the repeated request: the relay does not keep it.
    expect(again.body).toEqual({ ...rest, title: '', lastMessage: '', message });
  });

  it('has 1 to 200 characters', async () => {
    expectSuccess('createSession', 201, await create('x'.repeat(200)));
    expectRefusal(await create('x'.repeat(201)), 'INVALID_REQUEST', 'Idempotency-Key');
    expectRefusal(await create(''), 'INVALID_REQUEST', 'Idempotency-Key');
    expectSuccess('createSession', 201, await create('with spaces, "quotes" & é'));
  });

  it('ignores unknown fields of any nesting depth', async () => {
    const depth = 50_000;
    const nested = `${'['.repeat(depth)}${']'.repeat(depth)}`;
    const raw = `{"deviceId":${JSON.stringify(scene.daemon.deviceId)},"message":"deep","extra":${nested}}`;
    const send = () => scene.relay.call('POST', '/api/sessions', { raw, headers: { 'Idempotency-Key': 'k11' } });
    const first = await send();
    expectSuccess('createSession', 201, first);
    expect((await send()).body).toEqual(first.body);
  });
});
