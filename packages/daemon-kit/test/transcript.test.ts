/** A turn as items: live frames, pages, and its remains after a cancel or a crash. */
import { cpSync } from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Item, applyOperations, isOperation, mergeItems, shownText, transcriptLimits } from '@relay/protocol';
import { userItemUuid } from '@relay/protocol/identity';
import type { Agent, TurnReport } from '../src/index.ts';
import { type DoubleConnection } from '../src/conformance/relay-double.ts';
import { house } from './house.ts';
import { createMapper } from '../src/transcript/mapper.ts';

const home = house();
afterEach(() => home.clear());

/** An agent under the control of the test. */
function puppet(more: Partial<Agent> = {}) {
  const started: { report: TurnReport; end: () => void; message: string }[] = [];
  let wake = (): void => undefined;
  const agent: Agent = {
    tellsUpdates: true,
    ...more,
    start({ message }, report) {
      let end = (): void => undefined;
      const ended = new Promise<void>((resolve) => (end = resolve));
      started.push({ report, end, message });
      wake();
      return { ended, cancel: () => Promise.resolve(end()) };
    },
  };
  return {
    agent,
    turn: async () => {
      while (started.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      return started.shift()!;
    },
  };
}

const text = (words: string, messageId?: string) => ({
  sessionUpdate: 'agent_message_chunk',
  ...(messageId === undefined ? {} : { messageId }),
  content: { type: 'text', text: words },
});
const tool = (id: string, more: object) => ({ sessionUpdate: 'tool_call', toolCallId: id, ...more });

/** The state of an app from frames in order, without any request. */
const heard = ({ frames }: DoubleConnection): { items: Item[]; v: number | undefined; gaps: number } => {
  let items: Item[] = [];
  let v: number | undefined;
  let gaps = 0;
  for (const frame of frames) {
    if (frame.type !== 'event' || frame.event_type !== 'TRANSCRIPT') continue;
    if (v !== undefined && frame.v !== v + 1) gaps++;
    v = frame.v;
    expect(frame.ops.every(isOperation)).toBe(true);
    items = applyOperations(items, frame.ops, frame.v);
  }
  return { items, v, gaps };
};

const page = async (connection: DoubleConnection, sessionId: string, more: object = { parts: true }) => {
  connection.send({ type: 'get_messages', request_id: 'r', session_id: sessionId, limit: 50, ...more });
  const frame = await connection.frame('messages');
  return { ...frame, messages: (frame.messages ?? []) as Item[] };
};
const said = (items: readonly { role: string; content: string }[]) => items.map(({ role, content }) => [role, content]);

async function begun(declares: string[] = ['transcript'], more: Partial<Agent> = {}, storeDir = home.folder()) {
  const relay = await home.relay({ declares });
  const { agent, turn } = puppet(more);
  const daemon = home.daemon(relay, agent, { storeDir });
  const connection = await relay.connection();
  const uuid = userItemUuid('t1');
  connection.send({ type: 'task_start', task_id: 't1', instruction: 'Fix it', message_uuid: uuid });
  const { session_id: sessionId } = await connection.event('SESSION_STARTED', 't1');
  return { relay, daemon, connection, turn, sessionId: sessionId!, uuid, storeDir, ...(await turn()) };
}

/** A text, a tool, a text. */
function work(report: TurnReport) {
  report.update?.(text('Looking ', 'm1'));
  report.update?.(text('at the parser', 'm1'));
  report.update?.(
    tool('c1', { title: 'npm test', kind: 'execute', status: 'in_progress', rawInput: { command: 'npm test' } }),
  );
  report.update?.({
    sessionUpdate: 'tool_call_update',
    toolCallId: 'c1',
    status: 'completed',
    content: [{ type: 'content', content: { type: 'text', text: '42 passed' } }],
  });
  report.update?.(text('All done.', 'm2'));
}

describe('a turn, for a relay that accepts transcripts', () => {
  it('is sent as operations that build the same items as a page, with the uuids of the relay and of its result', async () => {
    const { relay, connection, report, end, sessionId, uuid } = await begun();
    work(report);
    report.complete('All done.');
    end();
    const ended = await connection.event('TASK_COMPLETE', 't1');
    const { messages, v } = await page(connection, sessionId);
    const live = heard(connection);
    expect(live.items).toEqual(messages);
    expect(live).toMatchObject({ v, gaps: 0 });
    expect(messages.map(({ part, content, seq }) => [part.kind, content, seq])).toEqual([
      ['user', 'Fix it', 1],
      ['text', 'Looking at the parser', 2],
      ['tool', 'npm test', 3],
      ['text', 'All done.', 4],
    ]);
    expect(messages[2]!.part).toMatchObject({
      status: 'completed',
      command: 'npm test',
      output: '42 passed',
      does: 'execute',
    });
    expect(messages.every(({ turn }) => turn === uuid)).toBe(true);
    expect([messages[0]!.uuid, messages[3]!.uuid]).toEqual([uuid, ended.message_uuid]);
    connection.send({ type: 'watch_session', session_id: sessionId });
    connection.terminate();
    const { sessions } = await (await relay.connection()).frame('report_sessions');
    expect(sessions).toMatchObject([{ message_count: 3, last_message: 'All done.' }]);
  });

  it('has the members of its frames in the order that lets a relay forward them, and no OUTPUT', async () => {
    const { connection, report, end } = await begun();
    work(report);
    report.output('42 passed');
    report.complete('All done.');
    end();
    await connection.event('TASK_COMPLETE', 't1');
    const frames = connection.texts.map((frame) => JSON.parse(frame) as object).filter((frame) => 'ops' in frame);
    expect(frames.length).toBeGreaterThan(1);
    for (const frame of frames)
      expect(Object.keys(frame)).toEqual(['type', 'event_type', 'task_id', 'session_id', 'v', 'ops']);
    expect(connection.words()).not.toContain('OUTPUT t1');
  });

  it('has a separate text for other apps if its operations add a different one, in frames that a relay forwards', async () => {
    const { connection, report, end } = await begun();
    const output = `${'x'.repeat(transcriptLimits.frameBytes)}\u0001`;
    report.update?.(text('Looking', 'm1'));
    report.output('Looking');
    report.update?.(tool('c1', { title: 'npm test', status: 'completed' }));
    report.output(`\n${output}`);
    report.complete('All done.');
    end();
    await connection.event('TASK_COMPLETE', 't1');
    const frames = connection.frames.flatMap((frame) => ('ops' in frame ? [frame] : []));
    // Equals OUTPUT: joined with the earlier text, and cut to the last 64 KiB.
    const shown = frames.map(({ ops }) => shownText(ops)).join('');
    expect(shown === `[… 9 characters left out]\n${output.slice(1)}`).toBe(true);
    for (const frame of frames) expect(JSON.stringify(frame).length).toBeLessThan(transcriptLimits.frameBytes);
    expect(heard(connection).gaps).toBe(0);
  });

  it('has messages for texts that do not complete it too, once each', async () => {
    const { connection, report, end, sessionId } = await begun();
    work(report);
    report.complete('All done.');
    end();
    const response = await connection.event('AGENT_RESPONSE', 't1');
    await connection.event('TASK_COMPLETE', 't1');
    const { messages } = await page(connection, sessionId, {});
    expect(said(messages)).toEqual([
      ['USER', 'Fix it'],
      ['AGENT', 'Looking at the parser'],
      ['AGENT', 'All done.'],
    ]);
    expect(response).toMatchObject({ uuid: messages[1]!.uuid, content: 'Looking at the parser' });
    expect(connection.words().filter((word) => word.startsWith('AGENT_RESPONSE'))).toHaveLength(1);
    expect(messages.every((message) => !('part' in message))).toBe(true);
  });

  it('keeps its text even if the agent gave an earlier message the same id', async () => {
    const agent: Agent = {
      tellsUpdates: true,
      start({ message }, report) {
        report.update?.(text(`I heard: ${message}`, 'm1'));
        report.complete(`I heard: ${message}`);
        return { ended: Promise.resolve(), cancel: () => Promise.resolve() };
      },
    };
    const relay = await home.relay({ declares: ['transcript'] });
    home.daemon(relay, agent);
    const connection = await relay.connection();
    connection.send({ type: 'task_start', task_id: 't1', instruction: 'One' });
    const { session_id: sessionId } = await connection.event('TASK_COMPLETE', 't1');
    connection.send({ type: 'task_resume', task_id: 't2', session_id: sessionId, message: 'Two' });
    await connection.event('TASK_COMPLETE', 't2');
    const { messages } = await page(connection, sessionId ?? '');
    expect(messages.map(({ content, seq }) => [content, seq])).toEqual([
      ['One', 1],
      ['I heard: One', 2],
      ['Two', 3],
      ['I heard: Two', 4],
    ]);
    expect(heard(connection).items).toEqual(messages);
  });

  it('has one item for its usage and cost, which is kept up to date', async () => {
    const { connection, report, end, sessionId } = await begun();
    const used = (more: object) => report.update!({ sessionUpdate: 'usage_update', size: 200_000, ...more });
    used({ used: 1000 });
    work(report);
    used({ used: 2500, cost: { amount: 0.42, currency: 'USD' } });
    // Invalid shapes change nothing.
    used({ used: -1, cost: { amount: 'much' } });
    report.complete('All done.');
    end();
    await connection.event('TASK_COMPLETE', 't1');
    const { messages } = await page(connection, sessionId);
    expect(heard(connection).items).toEqual(messages);
    expect(messages.filter(({ part }) => part.kind === 'usage').map(({ part }) => part)).toEqual([
      { kind: 'usage', used: 2500, size: 200_000, cost: { amount: 0.42, currency: 'USD' } },
    ]);
  });

  it('§2: keeps cost and limits of the agent, and drops a nonsensical amount or limit', async () => {
    const { connection, report, end, sessionId } = await begun();
    const limit = { id: 'five_hour', name: '5 hours', used: 0.72, resets: '2026-03-14T12:00:00Z', as_of: '2026-03-14T09:15:00Z' }; // prettier-ignore
    const used = (more: object) => report.update!({ sessionUpdate: 'usage_update', used: 1, ...more });
    used({ cost: { amount: 0.5, currency: 'usd' }, limits: [limit, { ...limit, id: 'seven_day', used: 1.4 }] });
    for (const amount of [-1, 1_000_001, Number.NaN, Number.POSITIVE_INFINITY])
      used({ cost: { amount, currency: 'USD' } });
    used({ cost: { amount: 9, currency: 'credits' }, limits: [{ id: 'odd' }, { ...limit, as_of: 'yesterday' }] });
    report.complete('All done.');
    end();
    await connection.event('TASK_COMPLETE', 't1');
    const { messages } = await page(connection, sessionId);
    expect(messages.filter(({ part }) => part.kind === 'usage').map(({ part }) => part)).toEqual([
      {
        kind: 'usage',
        used: 1,
        cost: { amount: 0.5, currency: 'USD' },
        limits: [limit, { ...limit, id: 'seven_day', used: 1 }],
      },
    ]);
  });

  it('keeps its text after a cancel, and shows the cancel', async () => {
    const { connection, report, sessionId } = await begun();
    report.update?.(text('Half an ans', 'm1'));
    report.update?.(tool('c1', { title: 'Sleep', status: 'in_progress' }));
    report.update?.(text('and then', 'm2'));
    connection.send({ type: 'task_cancel', task_id: 't1' });
    const { messages } = await page(connection, sessionId);
    expect(messages.map(({ part, content }) => [part.kind, content, part.status ?? part.what ?? part.open])).toEqual([
      ['user', 'Fix it', undefined],
      ['text', 'Half an ans', undefined],
      ['tool', 'Sleep', 'cancelled'],
      ['text', 'and then', undefined],
      ['mark', 'Cancelled.', 'cancelled'],
    ]);
    await connection.settle();
    expect(heard(connection).items).toEqual(messages);
    const responses = connection.frames.filter(
      (frame) => frame.type === 'event' && frame.event_type === 'AGENT_RESPONSE',
    );
    expect(responses).toMatchObject([{ content: 'Half an ans' }, { content: 'and then' }]);
  });

  it('of a killed daemon is closed at the next start, its call as unknown, under the same uuids', async () => {
    const { connection, report, sessionId, storeDir, relay, daemon } = await begun();
    report.update?.(text('Half an ans', 'm1'));
    report.update?.(tool('c1', { title: 'Sleep', status: 'in_progress' }));
    const before = await page(connection, sessionId);
    // The files at the moment of the kill.
    const copy = home.folder();
    cpSync(storeDir, copy, { recursive: true });
    await daemon.stop();
    home.daemon(relay, puppet().agent, { storeDir: copy });
    const again = await relay.connection();
    await again.event('ERROR', 't1');
    const after = await page(again, sessionId);
    expect(after.messages.slice(0, 3).map(({ uuid }) => uuid)).toEqual(before.messages.map(({ uuid }) => uuid));
    expect(after.messages.map(({ part }) => [part.kind, part.status ?? part.what])).toEqual([
      ['user', undefined],
      ['text', undefined],
      ['tool', 'unknown'],
      ['mark', 'interrupted'],
      ['error', undefined],
    ]);
    expect(after.v!).toBeGreaterThan(before.v!);
    // The changes update an app's earlier copy.
    const changed = await page(again, sessionId, { parts: true, changed: before.v });
    expect(changed.reset).toBeUndefined();
    expect(mergeItems(before.messages, changed.messages)).toEqual(after.messages);
  });
});

describe('requesting changes', () => {
  it('returns nothing for the current version, and the newest page for an unknown one', async () => {
    const { connection, report, end, sessionId } = await begun();
    work(report);
    report.complete('All done.');
    end();
    await connection.event('TASK_COMPLETE', 't1');
    const { v, messages } = await page(connection, sessionId);
    expect(await page(connection, sessionId, { parts: true, changed: v })).toMatchObject({ v, messages: [] });
    for (const unknown of [v! + 5, 17]) {
      const answer = await page(connection, sessionId, { parts: true, changed: unknown });
      expect(answer).toMatchObject({ v, reset: true });
      expect(answer.messages).toEqual(messages);
    }
  });

  it('returns the items last, so that an instance can forward them as text', async () => {
    const { connection, sessionId } = await begun();
    await page(connection, sessionId);
    const frame = connection.texts.findLast((candidate) => candidate.startsWith('{"type":"messages"'))!;
    expect(Object.keys(JSON.parse(frame) as object).at(-1)).toBe('messages');
  });
});

describe('with a relay that does not accept transcripts', () => {
  it('nothing changed: OUTPUT, one message per outcome, no new field', async () => {
    const { connection, report, end, sessionId } = await begun([]);
    work(report);
    report.output('42 passed');
    report.complete('All done.');
    end();
    const ended = await connection.event('TASK_COMPLETE', 't1');
    expect(ended).toEqual({
      type: 'event',
      event_type: 'TASK_COMPLETE',
      task_id: 't1',
      session_id: sessionId,
      result: 'All done.',
    });
    const answer = await page(connection, sessionId, {});
    expect(said(answer.messages)).toEqual([
      ['USER', 'Fix it'],
      ['AGENT', 'All done.'],
    ]);
    expect(Object.keys(answer.messages[1]!)).toEqual(['uuid', 'role', 'content', 'timestamp']);
    const words = connection.words().join();
    expect(words).toContain('OUTPUT t1');
    expect(words).not.toContain('TRANSCRIPT');
    expect(words).not.toContain('AGENT_RESPONSE');
    expect('v' in answer).toBe(false);
  });

  it('a question includes the earlier text', async () => {
    const { connection, report, sessionId } = await begun([]);
    report.update?.(text('I have a plan.', 'm1'));
    report.wait({ prompt: 'Go?', result: 'Go?', textBefore: 'I have a plan.', options: ['Yes'] });
    const asked = await connection.event('WAIT_FOR_USER', 't1');
    expect(asked).toMatchObject({ result: 'I have a plan.\n\nGo?', prompt: 'Go?' });
    expect(Object.keys(asked)).not.toContain('question');
    const { messages } = await page(connection, sessionId, {});
    expect(said(messages).at(-1)).toEqual(['AGENT', 'I have a plan.\n\nGo?']);
  });
});

it('--transcript outline sends titles and states, --thoughts off sends no thoughts', async () => {
  const relay = await home.relay({ declares: ['transcript'] });
  const { agent, turn } = puppet();
  home.daemon(relay, agent, { transcript: { detail: 'outline', thoughts: false } });
  const connection = await relay.connection();
  connection.send({ type: 'task_start', task_id: 't1', instruction: 'Fix it' });
  const { session_id: sessionId } = await connection.event('SESSION_STARTED', 't1');
  const { report, end } = await turn();
  report.update?.({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'secret thought' } });
  work(report);
  report.complete('All done.');
  end();
  await connection.event('TASK_COMPLETE', 't1');
  const { messages } = await page(connection, sessionId!);
  expect(messages.map(({ part }) => part.kind)).toEqual(['user', 'text', 'tool', 'text']);
  expect(messages[2]!.part).toEqual({
    kind: 'tool',
    id: 'c1',
    does: 'execute',
    title: 'npm test',
    status: 'completed',
    ended: expect.any(String),
  });
});

it('a thought is marked, so that apps without items do not show it as output', () => {
  const mapper = createMapper({ sessionId: 's', cwd: '/', detail: 'full', thoughts: true, now: () => 0 });
  const think = (text: string) =>
    mapper.update({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text } });
  expect(think('secret ')).toMatchObject([{ op: 'put', item: { part: { kind: 'thought' } } }]);
  expect(think('plan')).toMatchObject([{ op: 'add', to: 'thought', text: 'plan' }]);
});

it('a plan that the agent repeats at the start of the next turn is not a new item, live and read', async () => {
  const plan = (status: string) => ({ sessionUpdate: 'plan', entries: [{ content: 'Look', status }] });
  const read = createMapper({ sessionId: 's', cwd: '/', detail: 'full', thoughts: true, now: () => 0, replay: true });
  const ask = { sessionUpdate: 'user_message_chunk', content: { type: 'text', text: 'Go on' } };
  expect(read.update(plan('pending'))).toHaveLength(1);
  read.update(ask);
  expect(read.update(plan('pending'))).toEqual([]);
  expect(read.update(plan('completed'))).toMatchObject([{ op: 'put' }]);

  const { connection, report, end, sessionId, turn } = await begun();
  report.update?.(plan('in_progress'));
  report.update?.(plan('completed'));
  report.complete('Done.');
  end();
  await connection.event('TASK_COMPLETE', 't1');
  connection.send({ type: 'task_resume', task_id: 't2', session_id: sessionId, message: 'More' });
  const next = await turn();
  next.report.update?.(plan('completed'));
  next.report.complete('Done again.');
  next.end();
  await connection.event('TASK_COMPLETE', 't2');
  const { messages } = await page(connection, sessionId);
  expect(messages.map(({ part }) => part.kind)).toEqual(['user', 'plan', 'text', 'user', 'text']);
});

it('a turn with many calls remembers the newest completed ones, and every running one', () => {
  const mapper = createMapper({ sessionId: 's', cwd: '/', detail: 'full', thoughts: true, now: () => 0 });
  const call = (id: string, more: object, sessionUpdate = 'tool_call_update') =>
    mapper.update({ sessionUpdate, toolCallId: id, ...more });
  call('runs', { title: 'Watch', status: 'in_progress' });
  for (let n = 0; n < 60; n++) {
    call(`c${n}`, { title: `Step ${n}`, status: 'in_progress' });
    call(`c${n}`, { status: 'completed' });
  }
  expect(call('c0', { title: 'Late' })).toEqual([]);
  expect(call('c0', { title: 'Again' }, 'tool_call')).toMatchObject([{ op: 'put', item: { content: 'Again' } }]);
  expect(call('c59', { title: 'Late' })).toMatchObject([{ op: 'set', part: { title: 'Late' } }]);
  expect(call('runs', { status: 'completed' })).toMatchObject([{ op: 'set', part: { status: 'completed' } }]);
});
