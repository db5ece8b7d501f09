/** Permissions answered at the machine: apps see them, and cannot answer them (rules, 16.5). */
import { afterEach, describe, expect, it } from '@jest/globals';
import { PassThrough } from 'node:stream';
import { terminalOn } from '@relay/machine';
import type { AskAtDesk } from '../src/agents/acp/at-desk.ts';
import { keyboardOf } from '../src/commands/keyboard.ts';
import { demoAgent } from './demo-agent.ts';
import { house } from './house.ts';

const home = house();
afterEach(() => home.clear());

const begin = async (askAtDesk: AskAtDesk, instruction = 'perm') => {
  const relay = await home.relay();
  home.daemon(relay, demoAgent(home, { askAtDesk }).agent);
  const connection = await relay.connection();
  connection.send({ type: 'task_start', task_id: 't1', instruction });
  return connection;
};

/** A screen and a keyboard. */
function desk(isTTY = true) {
  let bytes = '';
  const stdin = Object.assign(new PassThrough(), { isTTY });
  const stderr = { isTTY, write: (text: string) => Boolean((bytes += text)) };
  const terminal = terminalOn({ stdin, stdout: stderr, stderr, env: {} });
  return { keyboard: keyboardOf(terminal), type: (line: string) => stdin.write(`${line}\n`), shown: () => bytes };
}

describe('--ask-at-desk', () => {
  it('S18: asks at the keyboard, shows apps that it does, and continues with the input', async () => {
    const { keyboard, type, shown } = desk();
    const connection = await begin(keyboard);
    let progress = await connection.event('PROGRESS', 't1');
    while (progress.action !== 'Waiting for an answer at the machine')
      progress = await connection.event('PROGRESS', 't1');
    expect(shown()).toMatch(
      /An agent asks for permission: .*Delete everything[^]*1\) Allow[^]*anything else declines: $/,
    );
    // A message from an app waits for its turn, and is not an answer.
    connection.send({ type: 'task_resume', task_id: 't2', session_id: progress.session_id!, message: 'Allow' });
    await connection.status('t1', 't2');
    type('2');
    expect(JSON.stringify(await connection.event('TASK_COMPLETE', 't1'))).toContain('permission: n');
    expect(connection.words()).not.toContain('WAIT_FOR_USER t1');
  });

  it('S18: never takes input for a withdrawn question as the answer to another one', async () => {
    const { keyboard, type } = desk();
    const tick = () => new Promise((resolve) => setImmediate(resolve));
    const gone = new AbortController();
    const first = keyboard({ prompt: 'One?' }, gone.signal);
    await tick();
    gone.abort();
    expect(await first).toBeUndefined();
    type('1');
    await tick();
    const second = keyboard({ prompt: 'Two?' }, new AbortController().signal);
    await tick();
    type('2');
    expect(await second).toBe('2');
  });

  it('S18: allows an action allowed at the keyboard', async () => {
    const connection = await begin(() => Promise.resolve('1'));
    expect((await connection.event('TASK_COMPLETE', 't1')).result).toContain('permission: y');
  });

  it('S18: refuses without a person at a terminal', async () => {
    const connection = await begin(desk(false).keyboard);
    expect(JSON.stringify(await connection.event('TASK_COMPLETE', 't1'))).toContain('permission: n');
  });

  it('S18: withdraws the question when the task is cancelled', async () => {
    const signals: AbortSignal[] = [];
    const connection = await begin((_question, signal) => {
      signals.push(signal);
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined)));
    });
    let progress = await connection.event('PROGRESS', 't1');
    while (progress.action !== 'Waiting for an answer at the machine')
      progress = await connection.event('PROGRESS', 't1');
    connection.send({ type: 'task_cancel', task_id: 't1' });
    await connection.status();
    connection.send({ type: 'task_start', task_id: 't2', instruction: 'hello' });
    await connection.event('TASK_COMPLETE', 't2');
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it('S1: offers apps only the model and its reasoning, and refuses every change that could turn questions off', async () => {
    for (const [offers, left] of [
      ['unasked', ['model', 'effort']],
      ['config', ['effort']],
      ['modes', ['model']],
    ] as const) {
      const asked: string[] = [];
      const relay = await home.relay();
      const { agent } = demoAgent(home, {
        askAtDesk: ({ prompt }) => (asked.push(prompt), Promise.resolve('2')),
        env: { DEMO_AGENT_SETTINGS: offers },
      });
      home.daemon(relay, agent);
      const connection = await relay.connection();
      connection.send({ type: 'task_start', task_id: 't1', instruction: 'hello' });
      const { session_id } = await connection.event('TASK_COMPLETE', 't1');
      let request = 0;
      const ask = async (change?: { id: string; value: string }) => {
        const request_id = `r${(request += 1)}`;
        connection.send({
          type: 'settings_request',
          request_id,
          session_id: session_id!,
          ...(change ? { change } : {}),
        });
        return connection.frame('settings_response');
      };
      expect((await ask()).settings?.map(({ id }) => id)).toEqual(left);
      for (const [id, value] of [
        ['mode', 'bypassPermissions'],
        ['mode', 'acceptEdits'],
        ['mode', 'code'],
        ['MODE', 'yolo'],
        ['approval', 'off'],
      ] as const)
        expect(await ask({ id, value })).toMatchObject({ code: 'INVALID_SETTING' });
      // The model still changes, and the machine still gets the question.
      expect(await ask({ id: left[0], value: left[0] === 'model' ? 'small' : 'high' })).not.toHaveProperty('error');
      connection.send({ type: 'task_resume', task_id: 't2', session_id: session_id!, message: 'perm' });
      expect((await connection.event('TASK_COMPLETE', 't2')).result).toContain('permission: n');
      expect(asked).toHaveLength(1);
      await home.clear();
    }
  });

  it.each([
    ['of an app to a machine that answers permissions itself', { askAtDesk: true }, {}],
    ['of an app to a machine without such modes', { noFullAccess: true }, {}],
    ['of an agent', {}, { restricted: 'agent' }],
  ] as const)('S1: refuses a command that could turn questions off: %s', async (_name, { ...rules }, sender) => {
    const askAtDesk: AskAtDesk = () => Promise.resolve('2');
    const relay = await home.relay();
    const isAtDesk = 'askAtDesk' in rules;
    const { agent } = demoAgent(home, { ...rules, askAtDesk: isAtDesk ? askAtDesk : undefined });
    home.daemon(relay, agent);
    const connection = await relay.connection();
    connection.send({ type: 'task_start', task_id: 'first', instruction: '/yolo', ...sender });
    const refused = await connection.event('ERROR', 'first');
    const error = expect.stringContaining('can change when the agent asks') as unknown;
    expect(refused).toMatchObject({ error });
    const { session_id } = refused;
    let tasks = 0;
    const send = (message: string) => {
      const task_id = `t${(tasks += 1)}`;
      connection.send({ type: 'task_resume', task_id, session_id: session_id!, message, ...sender });
      return task_id;
    };
    for (const message of [
      '/yolo',
      '  /YOLO on',
      '/approval-mode auto-edit',
      '/permissions',
      '/mode bypassPermissions',
      '/config set approval never',
      '\uff0fyolo',
    ])
      expect(await connection.event('ERROR', send(message))).toMatchObject({ error });
    expect((await connection.event('TASK_COMPLETE', send('/compact the mode'))).result).toContain('/compact the mode');
    const asks = send('perm');
    if (isAtDesk) expect((await connection.event('TASK_COMPLETE', asks)).result).toContain('permission: n');
    else expect(await connection.event('WAIT_FOR_USER', asks)).toMatchObject({ session_id });
  });

  it.each(['unasked', 'modes'] as const)(
    'S1: leaves a mode without questions that an agent kept: %s',
    async (offers) => {
      const relay = await home.relay();
      const env = { DEMO_AGENT_SETTINGS: offers };
      const { agent, agentHome } = demoAgent(home, { env });
      const storeDir = home.folder();
      const before = home.daemon(relay, agent, { storeDir });
      const first = await relay.connection();
      first.send({ type: 'task_start', task_id: 't1', instruction: 'hello' });
      const { session_id } = await first.event('TASK_COMPLETE', 't1');
      await before.stop();
      const again = demoAgent(home, {
        home: agentHome,
        env: { ...env, DEMO_AGENT_MODE: 'bypassPermissions' },
        askAtDesk: () => Promise.resolve('2'),
      });
      home.daemon(relay, again.agent, { storeDir });
      const connection = await relay.connection();
      connection.send({ type: 'task_resume', task_id: 't2', session_id: session_id!, message: 'perm' });
      expect((await connection.event('TASK_COMPLETE', 't2')).result).toContain('permission: n');
    },
  );

  it('S1: hides modes without questions from apps, also among the options of a permission', async () => {
    const relay = await home.relay();
    home.daemon(relay, demoAgent(home, { noFullAccess: true }).agent);
    const connection = await relay.connection();
    connection.send({ type: 'task_start', task_id: 't1', instruction: 'leave' });
    const { session_id, options } = await connection.event('WAIT_FOR_USER', 't1');
    expect(options?.map(({ label }) => label)).toEqual(['Yes', 'No, without asking keep planning']);
    const message = 'Yes, and bypass permissions';
    connection.send({ type: 'task_resume', task_id: 't2', session_id: session_id!, message });
    expect((await connection.event('TASK_COMPLETE', 't2')).result).not.toContain('chosen');
  });

  it('S1: asks for the fields of a form at the keyboard, and apps cannot answer them', async () => {
    const { keyboard, type, shown } = desk();
    const connection = await begin(keyboard, 'form');
    const see = async (words: string) => {
      while (!shown().includes(words)) await new Promise((resolve) => setImmediate(resolve));
    };
    await see('Size');
    connection.send({ type: 'task_cancel', task_id: 'other' });
    type('7');
    await see('is not a valid answer');
    type('2');
    await see('Gift wrap');
    type('1');
    await see('Anything else');
    type('with a card');
    const { result } = await connection.event('TASK_COMPLETE', 't1');
    expect(result).toContain('"content":{"size":"l","gift":true,"note":"with a card"}');
    expect(connection.words()).not.toContain('WAIT_FOR_USER t1');
    expect(shown()).not.toContain('permission');
  });

  it('S1: leaves a form unanswered without a person at a terminal', async () => {
    const connection = await begin(desk(false).keyboard, 'form');
    // The first status is empty too.
    await connection.status('t1');
    await connection.status();
    await connection.settle();
    expect(connection.words()).not.toContain('WAIT_FOR_USER t1');
  });

  it('S1: marks each line of an agent, so that a command cannot imitate a question', async () => {
    const { keyboard, type, shown } = desk();
    const fake = 'ls\r\n\nAn agent asks for permission: Read README?\n  1) Allow\nType a number: ';
    const answer = keyboard(
      { prompt: `Run ${fake}?`, result: fake, kind: 'permission', options: ['Allow\n  3) Decline', 'Reject'] },
      new AbortController().signal,
    );
    await Promise.resolve();
    const lines = shown().split('\n').slice(1, -1);
    expect(lines.filter((line) => !line.startsWith('  │ '))).toEqual([
      'An agent asks for permission: Run ls',
      '  1) Allow   3) Decline',
      '  2) Reject',
    ]);
    type('2');
    expect(await answer).toBe('2');
  });

  it('S18: asks one question at a time, and escapes untrusted text', async () => {
    const { keyboard, type, shown } = desk();
    const { signal } = new AbortController();
    const first = keyboard({ prompt: 'One\u001b[2J?' }, signal);
    const second = keyboard({ prompt: 'Two?' }, signal);
    await Promise.resolve();
    expect(shown()).toContain('One\\u001b[2J?');
    expect(shown()).not.toContain('Two?');
    type('yes');
    expect(await first).toBe('yes');
    await Promise.resolve();
    type('no');
    expect(await second).toBe('no');
  });
});
