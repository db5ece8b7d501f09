/** Caps on cost: the question before a turn, its answers, and the stop of a runaway turn. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Agent, type Turn, SettingRefused } from '../src/index.ts';
import { openCaps } from '../src/caps.ts';
import { house } from './house.ts';
import { reasons } from './reasons.ts';

const home = house();
afterEach(() => home.clear());

/**
 * A message such as `9.9 10.04` lists the cost totals that its turn reports; with `hang` the turn never completes by
 * itself.
 */
function spender() {
  const turns: Turn[] = [];
  const cancelled: string[] = [];
  const agent: Agent = {
    tellsUpdates: true,
    holdsQuestions: true,
    context: () => Promise.resolve({ used_tokens: 1, max_tokens: 2 }),
    capabilities: ['usage'],
    start(turn, report) {
      turns.push(turn);
      let end = (): void => undefined;
      const ended = new Promise<void>((resolve) => (end = resolve));
      const words = turn.message.split(' ');
      void Promise.resolve().then(() => {
        for (const amount of words.map(Number).filter((one) => !Number.isNaN(one)))
          report.update?.({ sessionUpdate: 'usage_update', used: 1, size: 2, cost: { amount, currency: 'USD' } });
        if (words.includes('hang')) return;
        report.complete('Done.');
        end();
      });
      return {
        ended,
        cancel() {
          cancelled.push(turn.taskId);
          end();
          return ended;
        },
      };
    },
  };
  return { agent, turns, cancelled };
}

async function begun(
  caps: object,
  { storeDir = home.folder(), isNew = true, declares = ['transcript', 'prompts'] } = {},
) {
  const relay = await home.relay({ declares });
  if (isNew) writeFileSync(join(storeDir, 'caps.json'), JSON.stringify({ caps: { scripted: caps }, levels: {} }));
  const { agent, turns, cancelled } = spender();
  const daemon = home.daemon(relay, agent, { storeDir });
  const connection = await relay.connection();
  let count = 0;
  const task = (message: string, session: string | undefined, more: object = {}) => {
    const id = `t-${process.hrtime.bigint()}-${(count += 1)}`;
    connection.send(
      session === undefined
        ? { type: 'task_start', task_id: id, instruction: message }
        : { type: 'task_resume', task_id: id, session_id: session, message, ...more },
    );
    return id;
  };
  const done = async (message: string, session?: string) => {
    const { session_id: id } = await connection.event('TASK_COMPLETE', task(message, session));
    return id ?? '';
  };
  const asked = async (message: string, session: string) => {
    const id = task(message, session);
    const { question, prompt } = await connection.event('WAIT_FOR_USER', id);
    return { id, prompt, question: question! };
  };
  const answer = (
    session: string,
    question: { uuid: string; digest?: string | undefined },
    option: string,
    label: string,
    more: object = {},
  ) => task(label, session, { prompt_uuid: question.uuid, digest: question.digest, option_id: option, ...more });
  return { connection, daemon, turns, cancelled, storeDir, task, done, asked, answer };
}

describe('§2: a cap on a session', () => {
  it('asks once per threshold before the agent gets the message, even after a restart', async () => {
    const first = await begun({ session: 10 });
    const session = await first.done('10.04');
    const { prompt, question } = await first.asked('11', session);
    expect(prompt).toBe('This session has cost about $10.04. Continue?');
    expect(question).toMatchObject({ kind: 'choice', digest: expect.any(String) });
    expect(question.options.map(({ label }) => label)).toEqual(['Continue', 'Continue up to $20', 'Stop here']);
    expect(first.turns).toHaveLength(1);
    await first.connection.event('TASK_COMPLETE', first.answer(session, question, 'continue', 'Continue'));
    expect(first.turns.map(({ message }) => message)).toEqual(['10.04', '11']);
    expect(first.turns[1]).not.toHaveProperty('answer');
    await first.done('12', session);
    await first.daemon.stop();

    const second = await begun({}, { storeDir: first.storeDir, isNew: false });
    const { error } = await second.connection.event('ERROR', second.task('15.1', session));
    expect(error).toContain('Stopped at about $15.10');
    const again = await second.asked('16', session);
    expect(again.prompt).toBe('This session has cost about $15.10. Continue?');
    expect(statSync(join(first.storeDir, 'caps.json')).mode & 0o777).toBe(0o600);
  });

  it('keeps “Continue up to $20”', async () => {
    const { connection, done, asked, answer, storeDir, daemon } = await begun({ session: 10 });
    const session = await done('10.04');
    const { question } = await asked('12', session);
    await connection.event('TASK_COMPLETE', answer(session, question, 'raise', 'Continue up to $20'));
    await done('19.99', session);
    await daemon.stop();
    const second = await begun({}, { storeDir, isNew: false });
    await second.done('20.5', session);
    expect((await second.asked('21', session)).prompt).toContain('about $20.50');
  });

  it.each([
    ['continue', 'Continue'],
    ['raise', 'Continue up to $20'],
    ['stop', 'Stop here'],
  ])('S2: leaves the question to the person when an agent answers: %s', async (option, label) => {
    const { connection, done, asked, answer, turns } = await begun({ session: 10 });
    const session = await done('10.04');
    const { question } = await asked('12', session);
    expect(question).toMatchObject({ person: true });
    const agents = answer(session, question, option, label, { restricted: 'agent' });
    expect(await connection.event('ERROR', agents)).toMatchObject({ code: 'PERSON_MUST_ANSWER' });
    expect(turns).toHaveLength(1);
    // The message still waits for its person.
    expect((await connection.event('PROMPT_OPEN', agents)).question).toEqual(question);
    await connection.event('TASK_COMPLETE', answer(session, question, 'continue', 'Continue'));
    expect(turns.map(({ message }) => message)).toEqual(['10.04', '12']);
  });

  it('S2: accepts no answer from an agent at a relay that does not identify questions', async () => {
    const { connection, done, task, turns } = await begun({ session: 10 }, { declares: ['transcript'] });
    const session = await done('10.04');
    await connection.event('WAIT_FOR_USER', task('12', session));
    const agents = task('Continue', session, { restricted: 'agent' });
    expect(await connection.event('ERROR', agents)).toMatchObject({ code: 'PERSON_MUST_ANSWER' });
    expect(turns).toHaveLength(1);
    await connection.event('TASK_COMPLETE', task('Continue', session));
    expect(turns.map(({ message }) => message)).toEqual(['10.04', '12']);
  });

  it('“Stop here” completes the task, and the agent never gets the message', async () => {
    const { connection, done, asked, answer, turns } = await begun({ session: 10 });
    const session = await done('10.04');
    const { question } = await asked('11', session);
    const { result } = await connection.event('TASK_COMPLETE', answer(session, question, 'stop', 'Stop here'));
    expect(result).toBe('Stopped here. The message was not sent to the agent.');
    expect(await reasons(connection, session)).toEqual([{ code: 'cap_stopped' }]);
    expect(turns.map(({ message }) => message)).toEqual(['10.04']);
    // The daemon asks again for the next message.
    expect((await asked('11', session)).question.uuid).not.toBe(question.uuid);
  });

  it('stops a turn whose cost exceeds the cap by half', async () => {
    const { connection, done, task, cancelled } = await begun({ session: 10 });
    const session = await done('9.9');
    const id = task('14.99 15.02 hang', session);
    const { error, code } = await connection.event('ERROR', id);
    expect(code).toBe('COST_CAP');
    expect(error).toBe('Stopped at about $15.02, half as much again as the $10 you set.');
    expect(cancelled).toEqual([id]);
  });

  it('closes its question at a restart of the daemon, like any other', async () => {
    const first = await begun({ session: 10 });
    const session = await first.done('10.04');
    const { id } = await first.asked('11', session);
    await first.daemon.stop();
    expect((await first.connection.event('ERROR', id)).error).toContain('can no longer be answered');
    const second = await begun({}, { storeDir: first.storeDir, isNew: false });
    expect(await reasons(second.connection, session)).toEqual([{ code: 'question_lost' }]);
    expect((await second.asked('11', session)).prompt).toContain('about $10.04');
    expect(second.turns).toEqual([]);
  });
});

describe('§2: a cap on a day', () => {
  it('counts all sessions of the agent on this machine', async () => {
    const { done, asked, connection, answer } = await begun({ day: 10 });
    await done('6');
    const session = await done('4.5');
    const { prompt, question } = await asked('5', session);
    expect(prompt).toBe('The sessions of this agent on this machine have cost about $10.50 today. Continue?');
    await connection.event('TASK_COMPLETE', answer(session, question, 'continue', 'Continue'));
    await done('6', session);
  });
});

describe('§2: caps as settings', () => {
  const opened = (file = join(home.folder(), 'caps.json')) => ({
    file,
    caps: openCaps({
      file,
      clock: { now: () => Date.now() },
      spending: { ofSession: () => 3, ofToday: () => 0 },
      agentTypeOf: () => 'codex',
      onTrouble: (what) => {
        throw new Error(what);
      },
    }),
  });

  it('can be off or one of seven amounts for each agent, and survive a restart', () => {
    const { caps, file } = opened();
    const values = (one: typeof caps) => one.settings('s1').map(({ value }) => value);
    expect(caps.settings('s1')[0]).toMatchObject({
      id: 'relay.ask_session',
      value: 'none',
      options: ['none', '1', '2', '5', '10', '20', '50', '100'].map((id) => expect.objectContaining({ id })),
    });
    expect(caps.question('s1')).toBeUndefined();
    caps.change('s1', { id: 'relay.ask_session', value: '2' });
    expect(caps.change('s1', { id: 'relay.ask_day', value: '5' }).map(({ value }) => value)).toEqual(['2', '5']);
    expect(values(opened(file).caps)).toEqual(['2', '5']);
    expect(opened(file).caps.question('s1')).toMatchObject({ cap: 2, spent: 3, upTo: 5 });
    caps.change('s1', { id: 'relay.ask_session', value: 'none' });
    expect(opened(file).caps.question('s1')).toBeUndefined();
    for (const [id, value] of [
      ['relay.ask_session', '3'],
      ['relay.ask_week', '5'],
    ] as const)
      // prettier-ignore
      expect(() => caps.change('s1', { id, value })).toThrow(SettingRefused);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ caps: { codex: { day: 5 } }, levels: {} });
  });

  it('are settings of each session whose agent reports cost, and changing them starts no agent', async () => {
    const { connection, done } = await begun({});
    const session = await done('3');
    connection.send({ type: 'settings_request', request_id: 'r1', session_id: session });
    const { settings } = await connection.frame('settings_response');
    expect(settings?.map(({ id, value }) => [id, value])).toEqual([['relay.ask_session', 'none'], ['relay.ask_day', 'none']]); // prettier-ignore
    const change = { id: 'relay.ask_session', value: '2' };
    connection.send({ type: 'settings_request', request_id: 'r2', session_id: session, change });
    expect((await connection.frame('settings_response')).settings?.[0]).toMatchObject(change);
    connection.send({ type: 'usage_request', request_id: 'r3', session_id: session });
    expect((await connection.frame('usage_response')).usage).toMatchObject({
      caps: { 'relay.ask_session': '2', 'relay.ask_day': 'none' },
    });
    connection.send({
      type: 'settings_request',
      request_id: 'r4',
      session_id: session,
      change: { ...change, value: '3' },
    });
    expect(await connection.frame('settings_response')).toMatchObject({ code: 'INVALID_SETTING' });
  });
});
