import { describe, expect, it } from '@jest/globals';
import { scene } from './scene.ts';

const stage = scene();

describe('relay send --at', () => {
  it('sends later, lists, moves and removes', async () => {
    const daemon = await stage.daemon('laptop');
    expect((await stage.own.run(['new', 'laptop', 'Look'])).code).toBe(0);
    const { task_id: first } = await daemon.next('task_start');
    daemon.event(first as string, 'SESSION_STARTED', { session_id: 'nightly' });
    daemon.event(first as string, 'TASK_COMPLETE', { session_id: 'nightly', result: 'Done.' });
    await stage.settled(first as string, 'completed');
    const sent = await stage.own.run(['send', 'nightly', 'Run the slow tests', '--in', '2h']);
    expect([sent.code, sent.out]).toEqual([0, expect.stringMatching(/nightly gets it at .*: later\.\n/)]);
    const { tasks } = (await stage.own.json(['later'])) as object as { tasks: { taskId: string; notBefore: string }[] };
    expect(tasks).toEqual([expect.objectContaining({ content: 'Run the slow tests' })]);
    const { taskId, notBefore } = tasks[0]!;
    expect((await stage.own.run(['later'])).out).toContain('Run the slow tests');
    expect((await stage.own.run(['queue', 'nightly'])).out).toMatch(/at .*Run the slow tests/);
    const moved = (await stage.own.json(['queue', 'nightly', 'move', taskId, '--at', 'tomorrow 9:00'])) as object as {
      later: { notBefore: string }[];
    };
    expect(Date.parse(moved.later[0]!.notBefore)).not.toBe(Date.parse(notBefore));
    expect((await stage.own.run(['queue', 'nightly', 'remove', taskId.slice(-8)])).code).toBe(0);
    expect((await stage.own.run(['later'])).out).toContain('No message has a time.');
    const started = await stage.own.run(['new', 'laptop', 'Begin at nine', '--at', 'tomorrow 9:00']);
    expect([started.code, started.out]).toEqual([0, expect.stringContaining('later, at ')]);
  });

  it('excludes other delivery options', async () => {
    for (const more of [['--now'], ['--watch'], ['--in', '1h']])
      expect((await stage.own.run(['send', 'x', 'y', '--at', '9:00', ...more])).code).toBe(2);
  });
});
