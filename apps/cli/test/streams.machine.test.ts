import { describe, expect, it } from '@jest/globals';
import type { TestDaemon } from '@relay/testing';
import { scene, tellHistory } from './scene.ts';

const stage = scene();

async function nextTask(daemon: TestDaemon): Promise<string> {
  return ((await daemon.next('task_resume')) as unknown as { task_id: string }).task_id;
}

describe('relay tail', () => {
  it('prints history, then messages, progress and output until Ctrl-C', async () => {
    const daemon = await stage.daemon('laptop');
    const id = await stage.session(daemon, 'talk', 'A talk');
    const program = stage.own.start(['tail', id]);
    await tellHistory(daemon, ['USER', 'begin'], ['AGENT', 'begun']);
    await program.says('begun');
    await stage.own.run(['send', id, 'Go on']);
    const task = await nextTask(daemon);
    daemon.event(task, 'PROGRESS', { session_id: 'talk', action: 'Thinking', target: '' });
    daemon.event(task, 'OUTPUT', { session_id: 'talk', output: 'hmm' });
    await program.says('hmm');
    daemon.event(task, 'TASK_COMPLETE', { session_id: 'talk', result: 'Here it is' });
    await program.says('Here it is');
    await program.says('· idle');
    program.child.kill('SIGINT');
    const { code, out, err } = await program.exit;
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^A talk · scripted · idle\n/);
    const order = ['begin', 'begun', 'Go on', '· Thinking', 'hmm', 'Here it is'].map((text) => out.indexOf(text));
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(order).not.toContain(-1);
  });

  it('with --once exits after the running task, and immediately without one', async () => {
    const daemon = await stage.daemon('laptop');
    const id = await stage.session(daemon, 'once');
    const nothing = stage.own.start(['tail', 'once', '--once', '--json']);
    await tellHistory(daemon, ['USER', 'begin']);
    expect((await nothing.exit).code).toBe(0);
    expect(nothing.lines()).toMatchObject([
      { type: 'session_update', session: { id } },
      { type: 'new_message', message: { content: 'begin' }, history: true },
    ]);

    await stage.own.run(['send', id, 'Work']);
    const task = await nextTask(daemon);
    daemon.event(task, 'PROGRESS', { session_id: 'once', action: 'Working', target: '' });
    const program = stage.own.start(['tail', id, '--once', '-n', '0', '--json']);
    await tellHistory(daemon);
    await program.says('session_update');
    daemon.event(task, 'TASK_COMPLETE', { session_id: 'once', result: 'Worked' });
    expect((await program.exit).code).toBe(0);
    expect(program.lines().at(-1)).toMatchObject({
      type: 'task',
      task: { id: task, state: 'completed', result: 'Worked' },
    });
  });

  it('with --once exits with 130 at Ctrl-C and with 1 when the task is cancelled', async () => {
    const daemon = await stage.daemon('laptop');
    const id = await stage.session(daemon, 'stop');
    await stage.own.run(['send', id, 'Work']);
    await nextTask(daemon);
    // One after the other: two requests for the same page in flight share one frame.
    const left = stage.own.start(['tail', id, '--once']);
    await tellHistory(daemon, ['USER', 'Work']);
    await left.says('Work');
    const stays = stage.own.start(['tail', id, '--once']);
    await tellHistory(daemon, ['USER', 'Work']);
    await stays.says('Work');
    left.child.kill('SIGINT');
    expect(await left.exit).toMatchObject({ code: 130, err: expect.stringContaining('keeps working') });
    expect((await stage.own.run(['cancel', id])).code).toBe(0);
    expect(await stays.exit).toMatchObject({ code: 1, err: expect.stringContaining('was cancelled') });
  });

  it('reports why there is no history, and continues', async () => {
    const daemon = await stage.daemon('laptop');
    const id = await stage.session(daemon, 'quiet');
    await daemon.drop();
    const program = stage.own.start(['tail', id]);
    await program.says('(DEVICE_OFFLINE)');
    const again = await stage.daemon('laptop', daemon.registration);
    again.send({
      type: 'event',
      task_id: '',
      event_type: 'AGENT_RESPONSE',
      session_id: 'quiet',
      content: 'From the desk',
    });
    await program.says('From the desk');
  });

  it('resumes after an outage without a gap or a duplicate', async () => {
    const daemon = await stage.daemon('laptop');
    const id = await stage.session(daemon, 'bumpy');
    const program = stage.own.start(['tail', id, '-n', '0', '--json']);
    await tellHistory(daemon);
    await program.says('session_update');
    await stage.own.run(['send', id, 'One']);
    await program.says('"One"');
    stage.world.front.setDown(true);
    await program.says('"state":"lost"');
    const task = await nextTask(daemon);
    daemon.event(task, 'TASK_COMPLETE', { session_id: 'bumpy', result: 'While you were away' });
    stage.world.front.setDown(false);
    await program.says('While you were away');
    await stage.own.run(['send', id, 'Two']);
    await program.says('"Two"');
    const messages = program.lines().filter(({ type }) => type === 'new_message');
    expect(messages.map(({ message }) => (message as { content: string }).content)).toEqual([
      'One',
      'While you were away',
      'Two',
    ]);
    expect(program.lines()).toContainEqual({ type: 'connection', state: 'back' });
    expect(program.lines()).not.toContainEqual({ type: 'resync' });
  });

  it('reloads history after an outage before the first frame', async () => {
    const daemon = await stage.daemon('laptop');
    const id = await stage.session(daemon, 'early');
    const program = stage.own.start(['tail', id, '-n', '5']);
    await tellHistory(daemon, ['USER', 'begin']);
    await program.says('begin');
    stage.world.front.cut();
    await program.says('Some events may have been missed');
    await tellHistory(daemon, ['USER', 'begin'], ['AGENT', 'missed until now']);
    await program.says('missed until now');
    program.child.kill('SIGINT');
    expect((await program.exit).out.split('begin\n')).toHaveLength(2);
  });

  it('renews its credential on the living socket', async () => {
    const daemon = await stage.daemon('laptop');
    const id = await stage.session(daemon, 'long');
    const sockets = stage.world.front.count('GET /ws/attention');
    const renewals = stage.world.front.count('"auth_ok"');
    stage.own.change((stored) => (stored.expiresAt = new Date(Date.now() + 66_000).toISOString()));
    const before = stage.own.stored();
    const program = stage.own.start(['tail', id, '-n', '0']);
    await tellHistory(daemon);
    await stage.world.front.seen('"auth_ok"', renewals + 1);
    expect(stage.own.stored().renewal!.refreshToken).not.toBe(before.renewal!.refreshToken);
    await stage.own.run(['send', id, 'Still there?']);
    await program.says('Still there?');
    expect(stage.world.front.count('GET /ws/attention')).toBe(sockets + 1);
  });

  it('exits with 3 when the sign-in is revoked elsewhere', async () => {
    const daemon = await stage.daemon('laptop');
    const id = await stage.session(daemon, 'ended');
    const program = stage.own.start(['tail', id, '-n', '0']);
    await tellHistory(daemon);
    await program.says('idle');
    await stage.person.browser.send('POST', '/auth/relay/sign-out-everywhere', { body: {} });
    expect(await program.exit).toMatchObject({ code: 3, err: expect.stringContaining('relay login') });
  });

  it('exits with 4 when the session is removed or unknown', async () => {
    const daemon = await stage.daemon('laptop');
    const id = await stage.session(daemon, 'short');
    const program = stage.own.start(['tail', id, '-n', '0']);
    await tellHistory(daemon);
    await program.says('idle');
    await stage.person.relay.call('DELETE', `/api/sessions/${encodeURIComponent(id)}`);
    expect(await program.exit).toMatchObject({ code: 4, err: 'The session was removed.\n' });
    expect(await stage.own.run(['tail', id])).toMatchObject({
      code: 4,
      out: '',
      err: expect.stringContaining('[SESSION_NOT_FOUND]'),
    });
    expect((await stage.own.run(['tail', id, '-n', '201'])).code).toBe(2);
  });

  it('exits with 75 when the relay is unreachable at the start', async () => {
    const daemon = await stage.daemon('laptop');
    const id = await stage.session(daemon, 'down');
    stage.world.front.setDown(true);
    expect(await stage.own.run(['tail', id])).toMatchObject({
      code: 75,
      err: expect.stringContaining('[UNREACHABLE]'),
    });
  });
});

describe('relay watch', () => {
  it('prints every event, one line each', async () => {
    const daemon = await stage.daemon('laptop');
    const id = await stage.session(daemon, 'watched-one', 'One');
    const program = stage.own.start(['watch']);
    await program.says('Listening');
    await stage.own.run(['send', id, 'Go']);
    const task = await nextTask(daemon);
    daemon.event(task, 'PROGRESS', { session_id: 'watched-one', action: 'Reading', target: 'a.ts' });
    await program.says('Reading a.ts');
    daemon.event(task, 'TASK_COMPLETE', { session_id: 'watched-one', result: 'Gone\nand back' });
    await program.says('agent: Gone and back');
    await program.says(/laptop · One \[watched-one\]: idle/);
    program.child.kill('SIGINT');
    const { code, out } = await program.exit;
    expect(code).toBe(0);
    expect(out).toMatch(/^\d\d:\d\d:\d\d laptop · One \[watched-one\]: you: Go$/m);
  });

  it('F16: prints the number of sessions that changed at once, and knows them from then on', async () => {
    const daemon = await stage.daemon('laptop');
    const program = stage.own.start(['watch']);
    await program.says('Listening');
    const sessions = Array.from({ length: 60 }, (_, n) => ({ session_id: `old-${n}`, title: `Old ${n}` }));
    daemon.send({ type: 'report_sessions', sessions });
    await program.says('60 sessions changed');
    await stage.own.run(['send', `${daemon.deviceId}:scripted:old-59`, 'Go']);
    await program.says(/laptop · Old 59 \[old-59\]: you: Go/);
    program.child.kill('SIGINT');
    expect((await program.exit).code).toBe(0);
  });

  it('marks sessions for notifications, prints only theirs, and unwatch removes the mark', async () => {
    const daemon = await stage.daemon('laptop');
    const [one, two] = [await stage.session(daemon, 'alpha'), await stage.session(daemon, 'beta')];
    const program = stage.own.start(['watch', 'alpha', '--json']);
    await program.says('"open"');
    expect((await stage.person.relay.call('GET', '/api/watched-sessions')).body).toMatchObject({ sessionIds: [one] });
    await stage.own.run(['send', two, 'to beta']);
    await stage.own.run(['send', one, 'to alpha']);
    await program.says('to alpha');
    expect(program.out()).not.toContain('to beta');
    expect(program.lines()[0]).toEqual({ type: 'watched', sessionId: one, watched: true });
    program.child.kill('SIGTERM');
    expect((await program.exit).code).toBe(0);
    expect(await stage.own.json(['unwatch', 'alpha'])).toEqual({ exit: 0, unwatched: [one] });
    expect((await stage.person.relay.call('GET', '/api/watched-sessions')).body).toMatchObject({ sessionIds: [] });
    expect(await stage.own.run(['watch', 'beta', '--no-follow'])).toMatchObject({ code: 0, out: '' });
    expect(await stage.own.json(['watch', 'gamma', '--no-follow'])).toMatchObject({ exit: 4 });
    expect(await stage.own.json(['watch', '--no-follow'])).toMatchObject({ exit: 2 });
  });
});
