import { describe, expect, it } from '@jest/globals';
import { scene } from './scene.ts';

const stage = scene();

describe('relay send --now', () => {
  const takesSteers = { 'X-Daemon-Capabilities': 'transcript, prompts, steer' };

  it('sends into the running turn, and reports it', async () => {
    const daemon = await stage.daemon('laptop', undefined, takesSteers);
    expect((await stage.own.run(['new', 'laptop', 'Look'])).code).toBe(0);
    const { task_id: into } = await daemon.next('task_start');
    daemon.event(into as string, 'SESSION_STARTED', { session_id: 'working' });
    await stage.settled(into as string, 'running');
    const { code, out } = await stage.own.run(['send', 'working', 'Only 20', '--now']);
    expect([code, out]).toEqual([0, expect.stringContaining('It goes into the running turn.')]);
    const { task_id: taskId } = await daemon.next('task_steer', (frame) => frame.into === into);
    daemon.event(taskId as string, 'STEERED', { session_id: 'working', outcome: 'injected' });
    daemon.event(into as string, 'TASK_COMPLETE', { session_id: 'working', result: 'Done.' });
    await stage.settled(taskId as string, 'completed');
    const later = await stage.own.run(['send', 'working', 'And now', '--now']);
    expect([later.code, later.out]).toEqual([0, expect.stringContaining('No turn runs, so it begins the next one.')]);
    expect(await daemon.next('task_resume')).toMatchObject({ message: 'And now' });
  });

  it('prints the reason why a device without the capability refuses', async () => {
    const daemon = await stage.daemon('plain', undefined, { 'X-Daemon-Capabilities': 'receipts' });
    expect((await stage.own.run(['new', 'plain', 'Look'])).code).toBe(0);
    const { task_id: into } = await daemon.next('task_start');
    daemon.event(into as string, 'SESSION_STARTED', { session_id: 'older' });
    await stage.settled(into as string, 'running');
    const { code, err } = await stage.own.run(['send', 'older', 'x', '--now']);
    expect([code, err]).toEqual([1, expect.stringContaining('takes no message into a running turn')]);
  });
});
