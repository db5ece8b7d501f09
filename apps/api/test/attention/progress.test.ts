import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Frame } from '@relay/testing';
import { type Scene, begin, messageOf, openScene, sessionOf, updateOf } from '../scene.ts';

/** Rules, 11.4: two updates a second per session; the latest wins, and other frames are never delayed. */
describe('PROGRESS', () => {
  /** Publishes progress once in the lifetime of this file. */
  let rare: Scene;
  /** Publishes progress often. */
  let often: Scene;
  let scene: Scene;
  beforeAll(async () => {
    [rare, often] = await Promise.all([
      openScene({ config: { progressIntervalMs: 3_600_000 } }),
      openScene({ config: { progressIntervalMs: 100 } }),
    ]);
  });
  afterAll(() => Promise.all([rare, often].map(({ relay }) => relay.stop())));

  const actionOf = (frame: Frame) => sessionOf(frame).progress?.action;
  const actions = (id: string) =>
    scene.app.inbox.all
      .filter((frame) => frame.type === 'session_update' && sessionOf(frame).id === id)
      .flatMap((frame) => actionOf(frame) ?? []);
  const work = (taskId: string, from: number, to: number) => {
    for (let n = from; n <= to; n += 1) scene.daemon.event(taskId, 'PROGRESS', { action: `${n}`, target: `file ${n}` });
  };

  it('is shown immediately, and not again within its interval, however much arrives', async () => {
    scene = rare;
    const [one, other] = [await begin(scene, 'one'), await begin(scene, 'other')];
    work(one.taskId, 1, 100);
    work(other.taskId, 1, 100);
    scene.daemon.event(one.taskId, 'TASK_COMPLETE', { result: 'one is done' });
    scene.daemon.event(other.taskId, 'TASK_COMPLETE', { result: 'other is done' });
    await updateOf(scene.app, other.id, ({ status }) => status === 'idle');
    expect(actions(one.id)).toEqual(['1']);
    expect(actions(other.id)).toEqual(['1']);
  });

  it('delays no other frame: final results arrive while progress waits for its interval', async () => {
    scene = rare;
    const { id, taskId } = await begin(scene, 'final');
    work(taskId, 1, 50);
    scene.daemon.event(taskId, 'AGENT_RESPONSE', { session_id: 'final', content: 'in between' });
    await scene.app.next('new_message', (frame) => messageOf(frame).content === 'in between');
    work(taskId, 51, 100);
    scene.daemon.event(taskId, 'WAIT_FOR_USER', { prompt: 'Go on?' });
    const waiting = await updateOf(scene.app, id, ({ status }) => status === 'waiting');
    expect(sessionOf(waiting)).not.toHaveProperty('progress');
    expect(actions(id)).toEqual(['1']);
  });

  it('shows the latest after the interval, and skips earlier ones', async () => {
    scene = often;
    const { id, taskId } = await begin(scene, 'latest');
    work(taskId, 1, 200);
    const last = await updateOf(scene.app, id, ({ progress }) => progress?.action === '200');
    expect(sessionOf(last).progress).toEqual({ action: '200', target: 'file 200', at: expect.any(String) });
    const shown = actions(id).map(Number);
    expect(shown[0]).toBe(1);
    expect(shown).toEqual([...shown].sort((a, b) => a - b));
    expect(shown.length).toBeLessThan(200);
  });

  it('disappears when the task has completed', async () => {
    scene = often;
    const { id, taskId } = await begin(scene, 'ended');
    work(taskId, 1, 2);
    scene.daemon.event(taskId, 'TASK_COMPLETE', { result: 'done' });
    const next = await begin(scene, 'later');
    // The second progress of another session arrives after its interval; the dropped one would have arrived too.
    work(next.taskId, 1, 2);
    await updateOf(scene.app, next.id, ({ progress }) => progress?.action === '2');
    const updates = scene.app.inbox.all.filter(
      (frame) => frame.type === 'session_update' && sessionOf(frame).id === id,
    );
    expect(sessionOf(updates.at(-1)!)).toMatchObject({ status: 'idle' });
  });

  it('is not in the history: a client that returns sees the final state of the session', async () => {
    scene = often;
    const { id, taskId } = await begin(scene, 'history');
    work(taskId, 1, 10);
    await updateOf(scene.app, id, ({ progress }) => progress?.action === '10');
    const { body } = await scene.relay.call('listSessions');
    expect(body.sessions).toContainEqual(expect.objectContaining({ id, status: 'active' }));
    const { backplane } = scene.relay.gateways[0]!;
    const { top } = await backplane.read(scene.relay.issuer.userId('alice'));
    work(taskId, 11, 20);
    await updateOf(scene.app, id, ({ progress }) => progress?.action === '20');
    expect(await backplane.read(scene.relay.issuer.userId('alice'), top)).toEqual({ top, recovered: true, items: [] });
  });
});
