/** Questions with an identity: an answer reaches only the question that it names. */
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Item, Question } from '@relay/protocol';
import { questionDigest } from '@relay/protocol/identity';
import type { Agent, Question as Asked, Turn, TurnReport } from '../src/index.ts';
import type { DoubleConnection } from '../src/conformance/relay-double.ts';
import { house } from './house.ts';

const home = house();
afterEach(() => home.clear());

/** An agent whose turns the test plays. By default it holds its questions, like ACP agents. */
async function begun(declares = ['transcript', 'prompts'], holdsQuestions = true) {
  const turns: { turn: Turn; report: TurnReport }[] = [];
  const abandoned: string[] = [];
  let wake = (): void => undefined;
  const agent: Agent = {
    tellsUpdates: true,
    holdsQuestions,
    start(turn, report) {
      let end = (): void => undefined;
      const ended = new Promise<void>((resolve) => (end = resolve));
      const over =
        <T extends unknown[]>(tell: (...words: T) => void) =>
        (...words: T) => {
          tell(...words);
          end();
        };
      const ending: Partial<TurnReport> = {
        complete: over((result: string) => report.complete(result)),
        wait: over((asked: Asked) => report.wait(asked)),
      };
      turns.push({ turn, report: { ...report, ...ending } });
      wake();
      return { ended, cancel: () => Promise.resolve(end()) };
    },
    abandon: (taskId) => void abandoned.push(taskId),
  };
  const relay = await home.relay({ declares });
  const storeDir = home.folder();
  const daemon = home.daemon(relay, agent, { storeDir });
  const connection = await relay.connection();
  const next = async () => {
    while (turns.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    return turns.shift()!;
  };
  connection.send({ type: 'task_start', task_id: 't1', instruction: 'Fix it' });
  const { session_id: sessionId } = await connection.event('SESSION_STARTED', 't1');
  return { relay, daemon, agent, connection, storeDir, sessionId: sessionId ?? '', next, abandoned, ...(await next()) };
}

const permission = (uuid: string, prompt = 'Run the tests?') => ({
  uuid,
  prompt,
  result: prompt,
  kind: 'permission',
  options: ['Yes', 'No'],
  choices: [
    { id: 'yes', label: 'Yes', kind: 'allow_once' },
    { id: 'no', label: 'No', kind: 'reject_once' },
  ],
  subject: { type: 'command', command: 'npm test' },
});
const answer = (connection: DoubleConnection, sessionId: string, taskId: string, more: object) =>
  connection.send({ type: 'task_resume', task_id: taskId, session_id: sessionId, message: 'Yes', ...more });
const page = async (connection: DoubleConnection, sessionId: string) => {
  connection.send({ type: 'get_messages', request_id: 'r', session_id: sessionId, limit: 50, parts: true });
  return ((await connection.frame('messages')).messages ?? []) as Item[];
};
const states = (items: readonly Item[]) =>
  items.flatMap(({ uuid, part }) => (part.kind === 'question' ? [[uuid, part.state]] : []));

describe('a question', () => {
  it('is sent with its id, the options of the agent, its subject and its digest', async () => {
    const { connection, report, sessionId } = await begun();
    report.wait(permission('q1'));
    const { question, message_uuid: uuid } = await connection.event('WAIT_FOR_USER', 't1');
    const { choices, subject } = permission('q1');
    expect(question).toMatchObject({
      uuid: 'q1',
      title: 'Run the tests?',
      kind: 'permission',
      options: choices,
      subject,
    });
    expect(question!.digest).toBe(questionDigest(question as Question));
    expect(uuid).toBe('q1');
    expect((await connection.status()).open_prompts).toEqual(['q1']);
    expect((await page(connection, sessionId)).at(-1)).toMatchObject({ uuid: 'q1', part: { question, state: 'open' } });
  });

  it('accepts the answer with its id, and gets the chosen option', async () => {
    const { connection, report, sessionId, next } = await begun();
    report.wait(permission('q1'));
    const { question } = await connection.event('WAIT_FOR_USER', 't1');
    answer(connection, sessionId, 't2', { prompt_uuid: 'q1', option_id: 'yes', digest: question!.digest });
    const { turn, report: second } = await next();
    expect(turn.answer).toEqual({ question: 'q1', option: 'yes' });
    second.complete('Done.');
    await connection.event('TASK_COMPLETE', 't2');
    const items = await page(connection, sessionId);
    expect(items.map(({ part }) => part.kind)).toEqual(['user', 'question', 'user', 'text']);
    expect(items[1]!.part).toMatchObject({ state: 'answered', answer: { option: 'yes', text: 'Yes' } });
    expect(items[2]).toMatchObject({ turn: items[0]!.uuid, part: { answers: 'q1' } });
  });

  it.each([
    ['another question', { prompt_uuid: 'q0', option_id: 'yes' }],
    ['another shown text', { prompt_uuid: 'q1', option_id: 'yes', digest: 'x' }],
    ['fields of a form that is gone', { prompt_uuid: 'q0', fields: { colour: 'blue' } }],
  ])('refuses a choice for %s, and passes nothing to the agent', async (_what, more) => {
    const { connection, report, sessionId, next } = await begun();
    report.wait(permission('q1'));
    await connection.event('WAIT_FOR_USER', 't1');
    answer(connection, sessionId, 't2', more);
    expect(await connection.event('ERROR', 't2')).toMatchObject({ code: 'PROMPT_SUPERSEDED' });
    // The next turn belongs to the correct answer.
    answer(connection, sessionId, 't3', { prompt_uuid: 'q1', option_id: 'no' });
    expect((await next()).turn).toMatchObject({ taskId: 't3', answer: { question: 'q1', option: 'no' } });
  });

  it('closes when it is withdrawn: a late choice is refused, while a text becomes a message', async () => {
    const { connection, report, sessionId, next } = await begun();
    report.wait(permission('q1'));
    await connection.event('WAIT_FOR_USER', 't1');
    report.withdrawn?.('it was not answered in time.', 'q1');
    expect(await connection.event('PROMPT_CLOSED', 't1')).toMatchObject({
      uuid: 'q1',
      state: 'superseded',
      status: 'active',
    });
    report.complete('I went on without.');
    await connection.event('TASK_COMPLETE', 't1');
    answer(connection, sessionId, 't2', { prompt_uuid: 'q1', option_id: 'yes' });
    expect(await connection.event('ERROR', 't2')).toMatchObject({ code: 'PROMPT_SUPERSEDED' });
    answer(connection, sessionId, 't3', { prompt_uuid: 'q1', message: 'Do it differently' });
    const { turn } = await next();
    expect(turn).toMatchObject({ taskId: 't3', message: 'Do it differently' });
    expect(turn.answer).toBeUndefined();
    expect(states(await page(connection, sessionId))).toEqual([['q1', 'superseded']]);
  });

  it('closes no other item of its turn when it is withdrawn, and keeps later items', async () => {
    const { connection, report, sessionId } = await begun();
    report.call?.({ toolCallId: 'c1', title: 'Run the tests', kind: 'execute', status: 'pending' });
    report.wait(permission('q1'));
    await connection.event('WAIT_FOR_USER', 't1');
    report.withdrawn?.('it was not answered in time.', 'q1');
    await connection.event('PROMPT_CLOSED', 't1');
    report.update?.({ sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'failed' });
    report.update?.({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'I go on without.' } });
    report.call?.({ toolCallId: 'c2', title: 'Look', kind: 'read', status: 'pending' });
    const told = (items: readonly Item[]) => items.map(({ content, part }) => [part.kind, content, part.status]);
    const whole = [
      ['tool', 'Run the tests', 'failed'],
      ['question', 'Run the tests?', undefined],
      ['text', 'I go on without.', undefined],
      ['tool', 'Look', 'pending'],
    ];
    expect(told(await page(connection, sessionId)).slice(1)).toEqual(whole);
    report.complete('Done.');
    await connection.event('TASK_COMPLETE', 't1');
    expect(told(await page(connection, sessionId))[1]).toEqual(whole[0]);
  });

  it('of kind form gets the values of its fields, and is asked again after invalid values', async () => {
    const { connection, report, sessionId, next } = await begun();
    const fields = [
      { name: 'size', title: 'Size', type: 'choice', choices: [{ id: 's', label: 'Small' }], required: true },
      { name: 'count', title: 'Count', type: 'integer', min: 1 },
    ];
    report.wait({ uuid: 'q1', prompt: 'Two things', kind: 'form', fields });
    const { question } = await connection.event('WAIT_FOR_USER', 't1');
    expect(question).toMatchObject({ kind: 'form', fields, text: true });
    for (const [task, values] of [
      ['t2', { size: 'xl' }],
      ['t3', { size: 's', count: 0 }],
      ['t4', { size: 's', colour: 'red' }],
      ['t5', {}],
    ] as const) {
      answer(connection, sessionId, task, { prompt_uuid: 'q1', fields: values });
      expect(await connection.event('ERROR', task)).toMatchObject({ code: 'PROMPT_SUPERSEDED' });
      expect(await connection.event('PROMPT_OPEN', task)).toMatchObject({ question: { uuid: 'q1' } });
    }
    answer(connection, sessionId, 't6', { prompt_uuid: 'q1', fields: { size: 's', count: 2 } });
    const { turn, report: second } = await next();
    expect(turn).toMatchObject({ taskId: 't6', answer: { question: 'q1', fields: { size: 's', count: 2 } } });
    second.complete('Done.');
    await connection.event('TASK_COMPLETE', 't6');
    expect(states(await page(connection, sessionId))).toEqual([['q1', 'answered']]);
  });

  it('of kind form with too many fields can be answered by its options or a text', async () => {
    const { connection, report } = await begun();
    const fields = Array.from({ length: 101 }, (_, n) => ({ name: `${n}`, title: 'x', type: 'text' }));
    report.wait({ uuid: 'q1', prompt: 'Much', kind: 'form', fields, options: ['Decline'] });
    const { question } = await connection.event('WAIT_FOR_USER', 't1');
    expect(question).toMatchObject({ kind: 'choice', options: [{ id: '1', label: 'Decline' }] });
    expect(question).not.toHaveProperty('fields');
  });

  it('is sent at once next to another, and each accepts its own answer in any order', async () => {
    const { connection, report, sessionId, next } = await begun();
    report.wait(permission('q1', 'First?'));
    await connection.event('WAIT_FOR_USER', 't1');
    report.further?.(permission('q2', 'Second?'));
    expect(await connection.event('PROMPT_OPEN', 't1')).toMatchObject({ question: { uuid: 'q2', title: 'Second?' } });
    answer(connection, sessionId, 't2', { prompt_uuid: 'q2', option_id: 'yes' });
    answer(connection, sessionId, 't3', { prompt_uuid: 'q1', option_id: 'no' });
    const second = await next();
    expect(second.turn.answer).toEqual({ question: 'q2', option: 'yes' });
    // The other question is still open: this task completes with it, and the waiting answer goes to it.
    second.report.wait(permission('q1', 'First?'));
    expect(await connection.event('WAIT_FOR_USER', 't2')).toMatchObject({ message_uuid: 'q1' });
    const first = await next();
    expect(first.turn).toMatchObject({ taskId: 't3', answer: { question: 'q1', option: 'no' } });
    expect(states(await page(connection, sessionId))).toEqual([
      ['q1', 'answered'],
      ['q2', 'answered'],
    ]);
  });

  it.each([
    ['is gone', 'q0', {}],
    ['was shown with another text', 'q1', { digest: 'x' }],
  ])('accepts no text for a question that %s', async (_what, asked, more) => {
    const { connection, report, sessionId, next } = await begun();
    report.wait(permission('q1'));
    await connection.event('WAIT_FOR_USER', 't1');
    answer(connection, sessionId, 't2', { prompt_uuid: asked, ...more });
    expect(await connection.event('ERROR', 't2')).toMatchObject({ code: 'PROMPT_SUPERSEDED' });
    expect(states(await page(connection, sessionId))).toEqual([['q1', 'open']]);
    answer(connection, sessionId, 't3', { prompt_uuid: 'q1', option_id: 'no' });
    expect((await next()).turn).toMatchObject({ taskId: 't3', answer: { question: 'q1', option: 'no' } });
  });

  it('is dismissed by a text without an id, which reaches the agent as a message', async () => {
    const { connection, report, sessionId, next, abandoned } = await begun();
    report.wait(permission('q1', 'First?'));
    await connection.event('WAIT_FOR_USER', 't1');
    report.further?.(permission('q2', 'Second?'));
    await connection.event('PROMPT_OPEN', 't1');
    answer(connection, sessionId, 't2', {});
    const { turn } = await next();
    expect(turn).toMatchObject({ taskId: 't2', message: 'Yes' });
    expect(turn.answer).toBeUndefined();
    expect(abandoned).toEqual(['t1']);
    expect(states(await page(connection, sessionId))).toEqual([
      ['q1', 'superseded'],
      ['q2', 'superseded'],
    ]);
  });

  it('of a killed daemon is superseded at its next start, and no longer listed (A5)', async () => {
    const { connection, report, relay, daemon, agent, storeDir, sessionId } = await begun();
    report.wait(permission('q1'));
    await connection.event('WAIT_FOR_USER', 't1');
    await daemon.stop();
    home.daemon(relay, agent, { storeDir });
    const again = await relay.connection();
    expect((await again.frame('status')).open_prompts).toEqual([]);
    answer(again, sessionId, 't2', { prompt_uuid: 'q1', option_id: 'yes' });
    expect(await again.event('ERROR', 't2')).toMatchObject({ code: 'PROMPT_SUPERSEDED' });
  });

  it('is superseded when it is cancelled', async () => {
    const { connection, report, sessionId } = await begun();
    report.wait(permission('q1'));
    await connection.event('WAIT_FOR_USER', 't1');
    connection.send({ type: 'task_cancel', task_id: 't1' });
    expect(await connection.event('PROMPT_CLOSED')).toMatchObject({ uuid: 'q1', state: 'superseded', status: 'idle' });
    expect(states(await page(connection, sessionId))).toEqual([['q1', 'superseded']]);
  });

  it('of an agent that does not hold it is superseded by a dismissal too, even after a restart', async () => {
    const { connection, report, relay, daemon, agent, storeDir, sessionId, abandoned } = await begun(undefined, false);
    report.wait(permission('q1'));
    await connection.event('WAIT_FOR_USER', 't1');
    await daemon.stop();
    home.daemon(relay, agent, { storeDir });
    const again = await relay.connection();
    expect((await again.frame('status')).open_prompts).toEqual(['q1']);
    again.send({ type: 'task_cancel', task_id: 't1' });
    expect(await again.event('PROMPT_CLOSED')).toMatchObject({ uuid: 'q1', state: 'superseded' });
    expect((await again.status()).open_prompts).toEqual([]);
    expect(states(await page(again, sessionId))).toEqual([['q1', 'superseded']]);
    expect(abandoned).toEqual(['t1']);
    // A late choice never reaches the agent, with or without the id of the question.
    answer(again, sessionId, 't2', { prompt_uuid: 'q1', option_id: 'yes' });
    expect(await again.event('ERROR', 't2')).toMatchObject({ code: 'PROMPT_SUPERSEDED' });
    answer(again, sessionId, 't3', {});
    expect((await again.event('ERROR', 't3')).error).toContain('it was dismissed.');
  });

  it('of an agent that does not hold it completes the turn with its tools, and a restart interrupts nothing', async () => {
    const { connection, report, relay, daemon, agent, storeDir, sessionId } = await begun(undefined, false);
    report.update?.({ sessionUpdate: 'tool_call', toolCallId: 'c1', title: 'Look', status: 'in_progress' });
    report.wait(permission('q1'));
    await connection.event('WAIT_FOR_USER', 't1');
    const before = await page(connection, sessionId);
    expect(before.map(({ part }) => [part.kind, part.status ?? part.state])).toEqual([
      ['user', undefined],
      ['tool', 'unknown'],
      ['question', 'open'],
    ]);
    await daemon.stop();
    home.daemon(relay, agent, { storeDir });
    expect(await page(await relay.connection(), sessionId)).toEqual(before);
  });

  it.each(['complete', 'error'] as const)('is superseded when its turn completes (%s)', async (how) => {
    const { connection, report, sessionId } = await begun();
    report.further?.(permission('q1', 'First?'));
    report.further?.(permission('q2', 'Second?'));
    await connection.event('PROMPT_OPEN', 't1');
    report[how]('That was it.');
    const { message_uuid: last } = await connection.event(how === 'complete' ? 'TASK_COMPLETE' : 'ERROR', 't1');
    expect((await connection.status()).open_prompts).toEqual([]);
    const items = await page(connection, sessionId);
    expect(states(items)).toEqual([
      ['q1', 'superseded'],
      ['q2', 'superseded'],
    ]);
    expect(items.at(-1)!.uuid).toBe(last);
  });

  it('stays open next to one that got a late answer', async () => {
    const { connection, report, sessionId, next } = await begun();
    report.wait(permission('q1', 'First?'));
    await connection.event('WAIT_FOR_USER', 't1');
    report.further?.(permission('q2', 'Second?'));
    await connection.event('PROMPT_OPEN', 't1');
    answer(connection, sessionId, 't2', { prompt_uuid: 'q1', option_id: 'yes' });
    const second = await next();
    second.report.error('The first one is gone.', 'PROMPT_SUPERSEDED');
    expect(await connection.event('ERROR', 't2')).toMatchObject({ code: 'PROMPT_SUPERSEDED' });
    expect(states(await page(connection, sessionId))).toEqual([
      ['q1', 'answered'],
      ['q2', 'open'],
    ]);
  });

  it('next to another, asked during an outage of the relay, is sent after it, and not again once the relay has it', async () => {
    const { connection, report, relay } = await begun();
    report.wait(permission('q1', 'First?'));
    await connection.event('WAIT_FOR_USER', 't1');
    await connection.settle();
    connection.terminate();
    report.further?.(permission('q2', 'Second?'));
    const again = await relay.connection();
    const { question } = await again.event('PROMPT_OPEN', 't1');
    expect(question).toMatchObject({ uuid: 'q2', digest: questionDigest(question) });
    await again.settle();
    const asked = (of: DoubleConnection) => of.words().filter((word) => /^status|^PROMPT_OPEN/.test(word));
    // After `status`, which the relay uses to settle its open questions.
    expect(asked(again)).toEqual(['status[]', 'PROMPT_OPEN t1']);
    again.terminate();
    const third = await relay.connection();
    expect((await third.frame('status')).open_prompts).toEqual(['q1', 'q2']);
    await third.settle();
    expect(asked(third)).toEqual(['status[]']);
  });

  it('of an agent that does not hold it is asked again after a restart', async () => {
    const { connection, report, relay, daemon, agent, storeDir, sessionId } = await begun(undefined, false);
    report.wait(permission('q1'));
    await connection.event('WAIT_FOR_USER', 't1');
    await daemon.stop();
    home.daemon(relay, agent, { storeDir });
    const again = await relay.connection();
    expect(await again.event('PROMPT_OPEN', 't1')).toMatchObject({ session_id: sessionId, question: { uuid: 'q1' } });
  });

  it('has no id for a relay without named questions', async () => {
    const { connection, report } = await begun(['transcript']);
    report.wait(permission('q1'));
    expect(Object.keys(await connection.event('WAIT_FOR_USER', 't1'))).not.toContain('question');
    report.further?.(permission('q2'));
    await connection.settle();
    expect(connection.words().join()).not.toContain('PROMPT');
    expect(connection.frames.some((frame) => 'open_prompts' in frame)).toBe(false);
  });
});
