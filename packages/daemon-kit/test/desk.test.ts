/**
 * A session that is open in another program: the daemon asks before the agent gets a message, waits, or closes the
 * program (rules, 24).
 */
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Held } from '@relay/protocol';
import type { Agent, DaemonOptions, Ended, Outside, PastUpdate, Turn } from '../src/index.ts';
import { daemonTimings } from '../src/daemon-options.ts';
import type { DoubleConnection } from '../src/conformance/relay-double.ts';
import { manualClock } from './clocks.ts';
import { house } from './house.ts';
import { reasons } from './reasons.ts';

const home = house();
afterEach(() => home.clear());

const held: Held = {
  state: 'idle',
  program: 'Claude Code',
  terminal: 'pts/3',
  since: '2026-11-28T08:52:11.000Z',
  at: '2026-11-28T09:04:02.000Z',
  sure: true,
  ends: true,
};
const declares = ['transcript', 'prompts', 'settings', 'desk'];

/** An agent that answers at once, and a desk where the test opens and closes sessions. */
function world() {
  const turns: Turn[] = [];
  const open = new Map<string, Held>();
  const calls: string[] = [];
  let outcome: Ended = { result: 'released' };
  let letGo = 0;
  let before: () => void = () => undefined;
  const agent: Agent = {
    holdsQuestions: true,
    capabilities: ['images'],
    holders: {
      look: () => new Map(open),
      of: (sessionId) => open.get(sessionId),
      end(sessionId, stopTurn) {
        calls.push(`end ${stopTurn}`);
        if (outcome.result === 'released') open.delete(sessionId);
        return Promise.resolve(outcome);
      },
      command: (sessionId, cwd) => `cd ${cwd} && claude --resume ${sessionId}`,
    },
    letGo: () => Promise.resolve(void letGo++),
    start(turn, report) {
      before();
      if (open.has(turn.sessionId)) report.held?.();
      else {
        turns.push(turn);
        report.complete(`did: ${turn.message}`);
      }
      return { ended: Promise.resolve(), cancel: () => Promise.resolve() };
    },
  };
  return {
    agent,
    turns,
    open,
    calls,
    letGo: () => letGo,
    ends: (result: Ended) => (outcome = result),
    beforeStart: (run: () => void) => (before = run),
  };
}

async function begin(options: Partial<DaemonOptions> = {}, names: readonly string[] = declares) {
  const desk = world();
  const relay = await home.relay({ declares: names });
  const timings = { deskIntervalMs: 10, ...options.timings };
  const daemon = home.daemon(relay, desk.agent, { ...options, timings });
  const connection = await relay.connection();
  connection.send({ type: 'task_start', task_id: 't0', instruction: 'first', project_path: '/garden' });
  const { session_id: id } = await connection.event('TASK_COMPLETE', 't0');
  desk.turns.length = 0;
  let tasks = 0;
  const send = (message: string, more: Record<string, unknown> = {}) => {
    const taskId = `t${++tasks}`;
    connection.send({ type: 'task_resume', task_id: taskId, session_id: id, message, ...more });
    return taskId;
  };
  return { ...desk, relay, daemon, connection, id: id!, send };
}

/** The question about a message, and a function that answers it. */
async function asked({ connection, send }: Awaited<ReturnType<typeof begin>>, taskId: string) {
  const { question } = await connection.event('WAIT_FOR_USER', taskId);
  return {
    question: question!,
    answer: (option: string) =>
      send(question!.options.find(({ id }) => id === option)!.label, {
        prompt_uuid: question!.uuid,
        option_id: option,
        digest: question!.digest,
      }),
  };
}

async function words(connection: DoubleConnection, sessionId: string) {
  connection.send({ type: 'get_messages', request_id: 'r', session_id: sessionId, limit: 50, parts: true });
  const { messages } = await connection.frame('messages');
  return messages!.map(({ role, content, part }) => `${role} ${part?.kind} ${content}`);
}

describe('a message to a session that is open in a terminal', () => {
  it('44: becomes a question, and the agent gets nothing', async () => {
    const one = await begin();
    one.open.set(one.id, held);
    const { question } = await asked(one, one.send('go on'));
    expect(question).toMatchObject({ kind: 'choice', text: false });
    expect(question.title).toMatch(
      /^This session is open at the desk \(Claude Code, idle for \d+ min\)\. Close it there and send\?$/,
    );
    expect(question.options.map(({ id, label }) => `${id}: ${label}`)).toEqual([
      'take: Close it there and send',
      'wait: Send when it’s closed there',
      'drop: Don’t send',
    ]);
    expect(one.turns).toEqual([]);
  });

  it('44: goes to the agent after the program has closed (take), with its text and images, once', async () => {
    const one = await begin();
    one.open.set(one.id, held);
    const { answer } = await asked(one, one.send('go on', { images: ['data:image/png;base64,aGk='] }));
    const taskId = answer('take');
    expect((await one.connection.event('TASK_COMPLETE', taskId)).result).toBe('did: go on');
    expect(one.calls).toEqual(['end false']);
    expect(one.turns).toMatchObject([{ message: 'go on', images: ['data:image/png;base64,aGk='] }]);
    expect(one.turns[0]?.answer).toBeUndefined();
    const said = await words(one.connection, one.id);
    expect(said.filter((line) => line === 'USER user go on')).toHaveLength(1);
  });

  it.each(['take', 'wait', 'drop'])(
    '44, S2: leaves the question to the person when an agent answers: %s',
    async (option) => {
      const one = await begin();
      one.open.set(one.id, held);
      const { question, answer } = await asked(one, one.send('go on'));
      const { label } = question.options.find(({ id }) => id === option)!;
      const named = { prompt_uuid: question.uuid, option_id: option, digest: question.digest };
      const taskId = one.send(label, { ...named, restricted: 'agent' });
      expect(await one.connection.event('ERROR', taskId)).toMatchObject({ code: 'PERSON_MUST_ANSWER' });
      expect([one.calls, one.turns]).toEqual([[], []]);
      // The message still waits for its person.
      expect((await one.connection.event('PROMPT_OPEN', taskId)).question).toEqual(question);
      expect((await one.connection.event('TASK_COMPLETE', answer('take'))).result).toBe('did: go on');
    },
  );

  it('44, S2: becomes a question for the person if an agent wants the program closed', async () => {
    const one = await begin();
    one.open.set(one.id, held);
    const { question } = await asked(one, one.send('go on', { desk: 'take', restricted: 'agent' }));
    expect(question).toMatchObject({ person: true });
    expect([one.calls, one.turns]).toEqual([[], []]);
  });

  it('44: waits until the program has closed (wait), and then starts by itself', async () => {
    const one = await begin();
    one.open.set(one.id, held);
    const { answer } = await asked(one, one.send('go on'));
    const taskId = answer('wait');
    const { action } = await one.connection.event('PROGRESS', taskId);
    expect(action).toBe('Waiting for the desk');
    await one.connection.settle();
    expect(one.turns).toEqual([]);
    one.open.delete(one.id);
    expect((await one.connection.event('TASK_COMPLETE', taskId)).result).toBe('did: go on');
    expect(one.calls).toEqual([]);
  });

  it('44, desk 3: that waits begins within 5 s of the exit there, after the added messages', async () => {
    const clock = manualClock();
    const steps: string[] = [];
    const at = new Date(clock.now()).toISOString();
    const outside: Outside = {
      sessions: () => [],
      stamp: () => undefined,
      read: () => undefined,
    };
    const one = await begin({ clock, outside, timings: { deskIntervalMs: daemonTimings.deskIntervalMs } });
    const added: PastUpdate = {
      at,
      update: {
        sessionUpdate: 'user_message_chunk',
        messageId: 'm1',
        content: { type: 'text', text: 'written there' },
      },
    };
    outside.stamp = (id) => (id === one.id ? String(one.open.size) : undefined);
    outside.read = () => {
      const updates = one.open.size === 0 ? [added] : [];
      return { projectPath: '/garden', updates, open: false, start: 1 };
    };
    one.agent.outdated = () => void steps.push('outdated');
    one.beforeStart(() => steps.push('start'));
    one.open.set(one.id, held);
    clock.advance(daemonTimings.deskIntervalMs);
    const taskId = one.send('go on', { desk: 'wait' });
    await one.connection.event('PROGRESS', taskId);
    clock.advance(60_000);
    await one.connection.settle();
    expect(one.turns).toEqual([]);
    one.open.delete(one.id);
    await one.connection.settle();
    expect(one.turns).toEqual([]);
    // The next look is at most one interval away.
    expect(daemonTimings.deskIntervalMs).toBeLessThanOrEqual(5000);
    clock.advance(daemonTimings.deskIntervalMs);
    expect((await one.connection.event('TASK_COMPLETE', taskId)).result).toBe('did: go on');
    // The agent loads the session again before it gets the message.
    expect(steps).toEqual(['outdated', 'start']);
    expect(await words(one.connection, one.id)).toEqual(
      expect.arrayContaining([expect.stringContaining('written there'), expect.stringContaining('go on')]),
    );
  });

  it('44: is not sent (drop): the transcript marks that, and the session stays open there', async () => {
    const one = await begin();
    one.open.set(one.id, held);
    const { answer } = await asked(one, one.send('go on'));
    const { result } = await one.connection.event('TASK_COMPLETE', answer('drop'));
    expect(result).toBe('Not sent: the session stays open at the desk.');
    expect(await words(one.connection, one.id)).toContain('SYSTEM mark Not sent');
    expect(await reasons(one.connection, one.id)).toEqual([{ code: 'not_sent' }, { code: 'held_kept' }]);
    expect(one.turns).toEqual([]);
    expect(one.open.size).toBe(1);
  });

  it('44: is not sent after a dismissal of the question', async () => {
    const one = await begin();
    one.open.set(one.id, held);
    const taskId = one.send('go on');
    await asked(one, taskId);
    one.connection.send({ type: 'task_cancel', task_id: taskId });
    await one.connection.settle();
    expect(await words(one.connection, one.id)).toContain('SYSTEM mark Not sent');
    one.open.clear();
    expect((await one.connection.event('TASK_COMPLETE', one.send('another'))).result).toBe('did: another');
    expect(one.turns.map(({ message }) => message)).toEqual(['another']);
  });

  it.each(['take', 'wait'] as const)('44: with the choice %s causes no question', async (desk) => {
    const one = await begin();
    one.open.set(one.id, held);
    const taskId = one.send('go on', { desk });
    if (desk === 'wait') {
      await one.connection.event('PROGRESS', taskId);
      one.open.delete(one.id);
    }
    expect((await one.connection.event('TASK_COMPLETE', taskId)).result).toBe('did: go on');
    expect(one.calls).toEqual(desk === 'take' ? ['end true'] : []);
    expect(one.connection.frames.some((frame) => frame.type === 'event' && frame.event_type === 'WAIT_FOR_USER')).toBe(
      false,
    );
  });

  it('44: fails with HELD_AT_DESK if the program does not close', async () => {
    const one = await begin();
    one.open.set(one.id, held);
    one.ends({ result: 'failed', detail: 'It did not end. Close it in pts/3.' });
    const failed = await one.connection.event('ERROR', one.send('go on', { desk: 'take' }));
    expect(failed).toMatchObject({ code: 'HELD_AT_DESK', error: 'Not sent: It did not end. Close it in pts/3.' });
    expect(one.turns).toEqual([]);
    one.open.clear();
    expect((await one.connection.event('TASK_COMPLETE', one.send('again'))).result).toBe('did: again');
  });

  it('44: becomes a question again if a terminal opens between the question and the turn', async () => {
    const one = await begin();
    one.beforeStart(() => {
      one.beforeStart(() => undefined);
      one.open.set(one.id, held);
    });
    const { answer } = await asked(one, one.send('go on'));
    expect(one.turns).toEqual([]);
    expect((await one.connection.event('TASK_COMPLETE', answer('take'))).result).toBe('did: go on');
    expect((await words(one.connection, one.id)).filter((line) => line === 'USER user go on')).toHaveLength(1);
  });

  it('44: interrupts work there only after an option that names this', async () => {
    const one = await begin();
    one.open.set(one.id, { ...held, state: 'busy' });
    const { question, answer } = await asked(one, one.send('go on'));
    expect(question.options.map(({ label }) => label)).toEqual([
      'Send when it’s closed there',
      'Stop it there and send',
      'Don’t send',
    ]);
    await one.connection.event('TASK_COMPLETE', answer('take'));
    expect(one.calls).toEqual(['end true']);
  });

  it('44: can be sent anyway if it is uncertain whether a program has it open', async () => {
    const one = await begin();
    one.open.set(one.id, { ...held, sure: false, ends: false });
    const { question, answer } = await asked(one, one.send('go on'));
    expect(question.options.map(({ id }) => id)).toEqual(['wait', 'anyway', 'drop']);
    one.beforeStart(() => one.open.clear());
    expect((await one.connection.event('TASK_COMPLETE', answer('anyway'))).result).toBe('did: go on');
  });

  it('44: keeps its place: a second one follows it, and a cancel removes it', async () => {
    const one = await begin();
    one.open.set(one.id, held);
    const first = one.send('one', { desk: 'wait' });
    await one.connection.event('PROGRESS', first);
    const second = one.send('two', { desk: 'wait' });
    one.connection.send({ type: 'task_cancel', task_id: first });
    await one.connection.event('PROGRESS', second);
    one.open.clear();
    await one.connection.event('TASK_COMPLETE', second);
    expect(one.turns.map(({ message }) => message)).toEqual(['two']);
  });

  it('44: closes the program once for two messages (take), which keep their order', async () => {
    const one = await begin();
    one.open.set(one.id, held);
    one.send('one', { desk: 'take' });
    const second = one.send('two', { desk: 'take' });
    await one.connection.event('TASK_COMPLETE', second);
    expect(one.turns.map(({ message }) => message)).toEqual(['one', 'two']);
    expect(one.calls).toEqual(['end true']);
  });

  it('44: fails with its daemon while it waits', async () => {
    const one = await begin();
    one.open.set(one.id, held);
    const taskId = one.send('go on', { desk: 'wait' });
    await one.connection.event('PROGRESS', taskId);
    const stopped = one.daemon.stop();
    expect(await one.connection.event('ERROR', taskId)).toMatchObject({
      code: 'HELD_AT_DESK',
      error: 'The daemon was restarted while this waited. Send it again.',
    });
    await stopped;
  });
});

describe('a relay with desk', () => {
  it('44: learns of each change of the holder of a session, and again with the report of each connection', async () => {
    const one = await begin();
    one.open.set(one.id, held);
    expect(await one.connection.frame('session_held')).toEqual({ type: 'session_held', session_id: one.id, held });
    one.open.set(one.id, { ...held, state: 'busy' });
    expect((await one.connection.frame('session_held')).held).toMatchObject({ state: 'busy' });
    one.connection.terminate();
    const again = await one.relay.connection();
    const { sessions } = await again.frame('report_sessions');
    expect(sessions).toMatchObject([{ session_id: one.id, held: { state: 'busy' } }]);
    one.open.clear();
    expect((await again.frame('session_held')).held).toBeNull();
  });

  it('44: gets the command, and the daemon lets the idle process go only on request', async () => {
    const one = await begin();
    const ask = (letGo: boolean) => {
      one.connection.send({ type: 'desk_request', request_id: 'r1', session_id: one.id, let_go: letGo });
      return one.connection.frame('desk_response');
    };
    const command = `cd /garden && claude --resume ${one.id}`;
    expect(await ask(false)).toMatchObject({ request_id: 'r1', free: true, command, cwd: '/garden' });
    expect(one.letGo()).toBe(0);
    expect(await ask(true)).toMatchObject({ free: true });
    expect(one.letGo()).toBe(1);
    one.open.set(one.id, held);
    expect(await ask(true)).toMatchObject({ free: false, why: 'held', held });
    const question = one.send('go on');
    await asked(one, question);
    expect(await ask(true)).toMatchObject({ free: false, why: 'question' });
    one.connection.send({ type: 'task_cancel', task_id: question });
    await one.connection.event('PROGRESS', one.send('go on', { desk: 'wait' }));
    expect(await ask(true)).toMatchObject({ free: false, why: 'waiting' });
    expect(one.letGo()).toBe(1);
  });

  it.each(['released', 'not_held', 'busy', 'foreign', 'shared', 'failed'] as const)(
    '44: gets the outcome of a release: %s',
    async (result) => {
      const one = await begin();
      one.open.set(one.id, held);
      one.ends({ result, detail: 'for people' });
      one.connection.send({ type: 'force_quit_session', request_id: 'r1', session_id: one.id, stop_turn: true });
      expect(await one.connection.frame('force_quit_result')).toMatchObject({ status: result, detail: 'for people' });
      expect(one.calls).toEqual(['end true']);
    },
  );
});

it('44: a release of a session that the daemon does not know is unknown_session, and closes nothing', async () => {
  const one = await begin();
  one.connection.send({ type: 'force_quit_session', request_id: 'r1', session_id: 'another' });
  expect(await one.connection.frame('force_quit_result')).toMatchObject({ status: 'unknown_session' });
  expect(one.calls).toEqual([]);
});

it('44: a relay without desk gets no field of it', async () => {
  const one = await begin({ timings: { reportIntervalMs: 20 } }, ['transcript', 'prompts']);
  one.open.set(one.id, held);
  await one.connection.frame('report_sessions');
  await one.connection.frame('report_sessions');
  expect(one.connection.texts.join('\n')).not.toContain('held');
});
