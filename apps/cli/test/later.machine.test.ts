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

describe('relay schedule', () => {
  it('adds, changes, pauses, runs and removes', async () => {
    const daemon = await stage.daemon('desk');
    const added = await stage.own.run([
      'schedule',
      'add',
      'desk',
      'Check the inbox',
      '--cron',
      '30 7 * * 1-5',
      '--zone',
      'Europe/Paris',
      '--wait',
      '0',
    ]);
    expect([added.code, added.out]).toEqual([
      0,
      expect.stringMatching(/^Schedule \w{8}: 30 7 \* \* 1-5 \(Europe\/Paris\)\. Next: .*, .*, .*\.\n$/),
    ]);
    const { schedules } = (await stage.own.json(['schedule'])) as object as {
      schedules: { id: string; waitSeconds: number }[];
    };
    expect(schedules).toEqual([expect.objectContaining({ message: 'Check the inbox', waitSeconds: 0 })]);
    const id = schedules[0]!.id.slice(-8);
    expect((await stage.own.run(['schedule', 'pause', id])).out).toContain('paused (person)');
    expect((await stage.own.run(['schedule', 'resume', id])).out).toContain('Next: ');
    expect(
      (await stage.own.json(['schedule', 'change', id, 'Check it twice', '--times', '3'])) as object,
    ).toMatchObject({
      message: 'Check it twice',
      times: 3,
    });
    expect((await stage.own.run(['schedule', 'run', id])).out).toContain('started');
    expect(await daemon.next('task_start')).toMatchObject({ instruction: 'Check it twice' });
    expect((await stage.own.run(['schedule', 'runs', id])).out).toContain('started');
    expect((await stage.own.run(['schedule'])).out).toContain('Check it twice');
    expect((await stage.own.run(['schedule', 'remove', id])).code).toBe(0);
    expect((await stage.own.run(['schedule'])).out).toContain('No message repeats.');
  });

  it('refuses a rule that runs too often, and needs one', async () => {
    await stage.daemon('desk');
    const run = async (...more: string[]) => stage.own.run(['schedule', 'add', 'desk', 'x', ...more]);
    expect((await run('--cron', '* * * * *')).err).toContain('nearer than 15 minutes');
    expect((await run()).code).toBe(2);
    expect((await stage.own.run(['schedule', 'remove', 'zzzz'])).err).toContain('no schedule');
  });
});
