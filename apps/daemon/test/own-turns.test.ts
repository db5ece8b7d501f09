/**
 * A conversation with an agent that is less strict than the protocol: it works between turns, asks questions there, and
 * completes turns in its own way.
 */
import { describe, expect, it } from '@jest/globals';
import { type Clock, type Question, type TurnReport, createMapper, silentLog } from '@relay/daemon-kit';
import { createConversation } from '../src/agents/acp/conversation.ts';
import { askForm } from '../src/agents/acp/form.ts';
import { createNotes } from '../src/agents/acp/notes.ts';
import type { AgentProcess } from '../src/agents/acp/process.ts';

type Fields = Record<string, unknown>;
const never = new AbortController().signal;

/** A clock that advances when the test calls it. */
function hand() {
  let due: (() => void)[] = [];
  const clock: Clock = {
    now: () => 0,
    after(_ms, run) {
      due.push(run);
      return () => void (due = due.filter((one) => one !== run));
    },
  };
  return { clock, pass: () => [...due].forEach((run) => run()) };
}

function stage(responses: Fields[] = []) {
  const { clock, pass } = hand();
  const prompts: unknown[] = [];
  const ends: string[] = [];
  const asked: Question[] = [];
  let free: (stopReason: string) => void = () => undefined;
  const mapper = createMapper({ sessionId: 's', cwd: '/p', detail: 'full', thoughts: true, now: () => 0 });
  const notices: string[] = [];
  const reportOf = (name: string): TurnReport => ({
    update(update) {
      if (update.sessionUpdate === 'notice') notices.push(String(update.title));
      mapper.update(update);
      return mapper.effect();
    },
    call(call, question) {
      mapper.call(call, question);
      return mapper.effect();
    },
    answered: (about, allowed) => void mapper.answered(about, { allowed }),
    progress: () => undefined,
    output: () => undefined,
    complete: (result) => void ends.push(`${name}: ${result}`),
    wait: (question) => void asked.push(question),
    error: (error) => void ends.push(`${name} failed: ${error}`),
    process: () => undefined,
  });
  const agent = {
    pid: undefined,
    ready: Promise.resolve({ load: true, resume: true, list: false, images: true, steer: true, name: '', version: '' }),
    usable: () => true,
    request(_method: string, { prompt }: { prompt: unknown }) {
      prompts.push(prompt);
      const next = responses.shift();
      if (next) return Promise.resolve(next);
      return new Promise<Fields>((resolve) => (free = (stopReason) => resolve({ stopReason })));
    },
    notify: () => undefined,
    gone: new Promise<string>(() => undefined),
    end: () => Promise.resolve(),
    kill: () => Promise.resolve(),
    abort: () => undefined,
  } as unknown as AgentProcess;
  const own: string[] = [];
  const notes = createNotes({ now: () => 0 });
  const conversation = createConversation({
    sessionId: 's',
    cwd: '/p',
    agent,
    quirks: {},
    clock,
    timings: { cancelMs: 1000, questionMs: 1000, quietMs: 1000, steerMs: 1000, steeredQuietMs: 1000 },
    ownTurn(sessionId) {
      own.push(sessionId);
      // Like the daemon.
      mapper.close('ended');
      mapper.begin('own');
      return reportOf('own');
    },
    unknownCommand: (sessionId, message) => notes.unknownCommand(sessionId, message),
    log: silentLog,
  });
  const prompt = (taskId: string, signal = never) =>
    conversation.prompt({ taskId, message: taskId }, reportOf(taskId), signal);
  const say = (text: string, more: Fields = {}) =>
    conversation.update('s', { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text }, ...more });
  const tool = (sessionUpdate: string, more: Fields) =>
    conversation.update('s', { sessionUpdate, toolCallId: 'c', ...more });
  const permit = () =>
    conversation.permission(
      {
        toolCall: { toolCallId: 'c', title: 'rm -rf build', kind: 'execute', rawInput: { command: 'rm -rf build' } },
        options: [
          { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
          { optionId: 'no', name: 'Reject', kind: 'reject_once' },
        ],
      },
      never,
    );
  const answer = (taskId: string, option: string) =>
    conversation.answer(
      { taskId, message: option, answer: { question: asked.at(-1)!.uuid!, option } },
      reportOf(taskId),
      never,
    );
  const end = (stopReason: string) => free(stopReason);
  const done = () => end('end_turn');
  return {
    conversation,
    prompt,
    say,
    tool,
    permit,
    answer,
    end,
    done,
    pass,
    prompts,
    ends,
    asked,
    own,
    notices,
    notes,
    mapper,
  };
}
const tick = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('between two turns', () => {
  it('B1, A5: text starts a turn of the agent immediately, and is not part of the next answer', async () => {
    const { prompt, say, done, own, ends, pass, mapper } = stage();
    const first = prompt('one');
    await tick();
    say('Started.');
    done();
    await first;
    say('The tests passed.', { messageId: 'late' });
    expect(own).toEqual(['s']);
    expect(mapper.last()?.content).toBe('The tests passed.');
    pass();
    expect(ends).toEqual(['one: Started.', 'own: The tests passed.', 'own: ']);
    const second = prompt('two');
    await tick();
    say('Answer.');
    done();
    await second;
    expect(ends.at(-1)).toBe('two: Answer.');
  });

  it('B1: text that still arrives at the next message is completed before it', async () => {
    const { prompt, say, done, ends } = stage();
    const first = prompt('one');
    await tick();
    say('Started.');
    done();
    await first;
    say('Half of ');
    const second = prompt('two');
    await tick();
    say('Answer.');
    done();
    await second;
    expect(ends.at(-1)).toBe('two: Answer.');
  });

  it.each([
    ['yes', { outcome: 'selected', optionId: 'yes' }],
    ['no', { outcome: 'selected', optionId: 'no' }],
  ])('B2: a permission waits for the user, who answers %s', async (option, outcome) => {
    const { conversation, prompt, say, done, permit, answer, asked, pass, ends } = stage();
    const first = prompt('one');
    await tick();
    say('Reviewing in the background.');
    done();
    await first;
    const response = permit();
    expect(asked).toMatchObject([{ kind: 'permission', subject: { command: 'rm -rf build' } }]);
    // After any number of updates without content.
    for (let times = 0; times < 5; times++) conversation.update('s', { sessionUpdate: 'session_info_update' });
    const answered = answer('two', option);
    expect(await response).toEqual({ outcome });
    say('Went on.');
    pass();
    expect(await answered).toBe('done');
    expect(ends).toContain('two: Went on.');
  });

  it.each(['c', 'another id'])('B2: a refused call %s without a report does not keep its turn open', async (id) => {
    const { prompt, say, tool, done, permit, answer, pass, ends } = stage();
    const first = prompt('one');
    await tick();
    done();
    await first;
    say('Reviewing in the background.');
    tool('tool_call', { toolCallId: id, title: 'rm -rf build', status: 'pending' });
    const response = permit();
    const answered = answer('two', 'no');
    await response;
    pass();
    expect(await answered).toBe('done');
    expect(ends).toContainEqual(expect.stringMatching(/^two: /));
  });
});

describe('the completion of a turn', () => {
  it('A6: with "cancelled" after a rejection is the user\'s choice', async () => {
    const { prompt, permit, answer, end, ends } = stage();
    void prompt('one');
    await tick();
    const response = permit();
    const answered = answer('two', 'no');
    await response;
    end('cancelled');
    await answered;
    expect(ends).toEqual(['two: The agent stopped, because it was not allowed to continue.']);
  });

  it('A11: without text after a question whose command ran reports completed work', async () => {
    const { prompt, permit, answer, tool, done, ends } = stage();
    void prompt('one');
    await tick();
    const response = permit();
    const end = answer('two', 'yes');
    await response;
    tool('tool_call_update', { status: 'completed' });
    done();
    await end;
    expect(ends).toEqual(['two: Done. The agent said nothing more.']);
  });

  it('A14: without text after a slash command that the agent did not announce names that command', async () => {
    const { prompt, done, ends, notes } = stage();
    const send = async (message: string) => {
      const turn = prompt(message);
      await tick();
      done();
      await turn;
      return ends.splice(0)[0];
    };
    const silent = 'The agent ended its turn without saying anything.';
    expect(await send('/compat')).toBe(`/compat: ${silent}`);
    notes.observe('s', { sessionUpdate: 'available_commands_update', availableCommands: [{ name: 'compact' }] });
    expect(await send('/compat now')).toBe('/compat now: The agent did nothing. /compat is not among its commands.');
    expect(await send('/compact')).toBe(`/compact: ${silent}`);
    expect(await send('/home/ada is empty')).toBe(`/home/ada is empty: ${silent}`);
  });

  it("B13: with the previous turn's cancel sends the message again, with a notice", async () => {
    for (const [later, end] of [
      [{ stopReason: 'end_turn' }, 'two: The agent ended its turn without saying anything.'],
      [{ stopReason: 'cancelled' }, 'two failed: The turn was cancelled at the agent.'],
    ] as const) {
      const { prompt, prompts, ends, notices } = stage([
        { stopReason: 'cancelled' },
        { stopReason: 'cancelled' },
        later,
      ]);
      const stop = new AbortController();
      const first = prompt('one', stop.signal);
      stop.abort();
      await first;
      await prompt('two');
      expect(prompts).toHaveLength(3);
      expect(ends).toEqual([end]);
      expect(notices).toEqual([expect.stringContaining('sent again')]);
    }
  });

  it('B13: with its own cancel sends nothing again', async () => {
    const { prompt, prompts } = stage([{ stopReason: 'cancelled' }]);
    await prompt('one');
    expect(prompts).toHaveLength(1);
  });

  it('W7: with an image has the text as its result, without a placeholder', async () => {
    const { conversation, prompt, say, done, ends } = stage();
    const turn = prompt('one');
    await tick();
    say('Here it is.');
    const content = { type: 'image', mimeType: 'image/png', data: 'AAAA' };
    conversation.update('s', { sessionUpdate: 'agent_message_chunk', content });
    done();
    await turn;
    expect(ends).toEqual(['one: Here it is.']);
  });
});

describe('a form', () => {
  it('A13: asks for a field by its name, also if the message contains it', () => {
    const titled = askForm({
      message: 'Enter the name and the namespace.',
      requestedSchema: { type: 'object', properties: { a: { type: 'string', title: 'name' } }, required: ['a'] },
    });
    expect(titled.question('').prompt).toBe('Enter the name and the namespace.\nname');
  });

  it('A13: of the mode url shows the address, and only its label accepts', () => {
    const visit = askForm({ mode: 'url', message: 'Log in', url: 'https://example.com/login' });
    expect(visit.question('').prompt).toBe('Log in\nhttps://example.com/login');
    expect(visit.reply('OK')).toMatchObject({ kind: 'ask' });
    expect(visit.reply('I opened it')).toMatchObject({ kind: 'answer', response: { action: 'accept' } });
    expect(visit.choose?.('2')).toMatchObject({ kind: 'answer', response: { action: 'decline' }, rejected: true });
  });
});
