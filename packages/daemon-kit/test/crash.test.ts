/** The items of a session after its daemon was killed, and of errors that an agent also reports as text. */
import { cpSync } from 'node:fs';
import { afterEach, expect, it } from '@jest/globals';
import type { Item } from '@relay/protocol';
import type { Agent, TurnReport } from '../src/index.ts';
import type { DoubleConnection } from '../src/conformance/relay-double.ts';
import { house } from './house.ts';

const home = house();
afterEach(() => home.clear());

/** An agent whose only turn the test controls. */
function held(): { agent: Agent; turn: Promise<TurnReport> } {
  let begin: (report: TurnReport) => void = () => undefined;
  const turn = new Promise<TurnReport>((resolve) => (begin = resolve));
  const agent: Agent = {
    tellsUpdates: true,
    holdsQuestions: true,
    start(_turn, report) {
      begin(report);
      return { ended: new Promise(() => undefined), cancel: () => Promise.resolve() };
    },
  };
  return { agent, turn };
}

async function begun() {
  const relay = await home.relay({ declares: ['transcript', 'prompts'] });
  const { agent, turn } = held();
  const storeDir = home.folder();
  const daemon = home.daemon(relay, agent, { storeDir, timings: { stopMs: 0, lingerMs: 0 } });
  const connection = await relay.connection();
  connection.send({ type: 'task_start', task_id: 't1', instruction: 'Go' });
  const { session_id: sessionId } = await connection.event('SESSION_STARTED', 't1');
  return { relay, daemon, storeDir, connection, sessionId: sessionId!, report: await turn };
}
const items = async (connection: DoubleConnection, sessionId: string) => {
  connection.send({ type: 'get_messages', request_id: 'r', session_id: sessionId, limit: 50, parts: true });
  return ((await connection.frame('messages')).messages ?? []) as Item[];
};
const text = (words: string) => ({
  sessionUpdate: 'agent_message_chunk',
  messageId: 'm1',
  content: { type: 'text', text: words },
});

it('A13, W1: a daemon that was killed with an open question reports that once, and its call as unknown', async () => {
  const { relay, daemon, storeDir, connection, sessionId, report } = await begun();
  const call = { toolCallId: 'c', title: 'ls', kind: 'execute', rawInput: { command: 'ls' } };
  report.update?.({ sessionUpdate: 'tool_call', ...call, status: 'pending' });
  report.call?.(call, 'q1');
  report.wait({ uuid: 'q1', prompt: 'May I?', options: ['Yes'] });
  await connection.event('WAIT_FOR_USER', 't1');
  // The files at the moment of the kill.
  const copy = home.folder();
  cpSync(storeDir, copy, { recursive: true });
  await daemon.stop();
  home.daemon(relay, held().agent, { storeDir: copy });
  const after = await items(await relay.connection(), sessionId);
  expect(after.filter(({ role }) => role === 'SYSTEM')).toHaveLength(1);
  expect(after.map(({ part }) => part.status ?? part.state ?? part.kind)).toEqual([
    'user',
    'unknown',
    'superseded',
    'error',
  ]);
});

it('A13: half an answer of a killed turn is announced when its daemon returns, not with the next message', async () => {
  const { relay, daemon, storeDir, connection, sessionId, report } = await begun();
  report.update?.(text('Half an ans'));
  let shown = await connection.event('TRANSCRIPT', 't1');
  while (!JSON.stringify(shown.ops).includes('Half')) shown = await connection.event('TRANSCRIPT', 't1');
  const { v } = shown;
  const copy = home.folder();
  cpSync(storeDir, copy, { recursive: true });
  await daemon.stop();
  home.daemon(relay, held().agent, { storeDir: copy });
  const again = await relay.connection();
  const { v: now, ops } = await again.event('TRANSCRIPT');
  // Each app detects a gap and requests the changes.
  expect([now - v > 1, ops]).toEqual([true, []]);
  again.send({ type: 'get_messages', request_id: 'c', session_id: sessionId, limit: 50, parts: true, changed: v });
  const { messages } = await again.frame('messages');
  expect((messages as Item[]).map(({ content }) => content.slice(0, 11))).toEqual([
    'Half an ans',
    'The daemon ',
    'The daemon ',
  ]);
});

it('A12: an error that the agent also reports as text is one item', async () => {
  const { connection, sessionId, report } = await begun();
  report.update?.(text('API Error: the model is overloaded'));
  report.error('API Error: the model is overloaded');
  const { message_uuid: uuid } = await connection.event('ERROR', 't1');
  const shown = await items(connection, sessionId);
  expect(shown.map(({ part, content }) => [part.kind, content])).toEqual([
    ['user', 'Go'],
    ['error', 'API Error: the model is overloaded'],
  ]);
  expect(shown.at(-1)?.uuid).toBe(uuid);
});

it('D9, B5: the last text of a turn is sent once, as its item', async () => {
  const { connection, sessionId, report } = await begun();
  report.update?.(text('Before the notice.'));
  report.update?.({ sessionUpdate: 'notice', title: 'Careful' });
  report.update?.(text('Behind it.'));
  report.complete('Behind it.');
  const { result, message_uuid: uuid } = await connection.event('TASK_COMPLETE', 't1');
  const shown = await items(connection, sessionId);
  expect(shown.map(({ content }) => content)).toEqual(['Go', 'Before the notice.', 'Careful', 'Behind it.']);
  expect([shown.at(-1)?.content, shown.at(-1)?.uuid]).toEqual([result, uuid]);
});
