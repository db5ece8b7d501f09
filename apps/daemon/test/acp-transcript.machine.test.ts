/** A real agent process behind ACP: its turn as items, and its permissions answered by option id. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Item, applyOperations } from '@relay/protocol';
import type { DoubleConnection } from '@relay/daemon-kit/conformance';
import { demoAgent } from './demo-agent.ts';
import { house } from './house.ts';

const home = house();
afterEach(() => home.clear());

async function begin(instruction: string) {
  const relay = await home.relay({ declares: ['transcript', 'prompts'] });
  const { agent } = demoAgent(home);
  const daemon = home.daemon(relay, agent);
  const connection = await relay.connection();
  await daemon.connected();
  connection.send({ type: 'task_start', task_id: 't1', instruction });
  return connection;
}
const pageOf = async (connection: DoubleConnection, sessionId: string) => {
  connection.send({ type: 'get_messages', request_id: 'r', session_id: sessionId, limit: 50, parts: true });
  return ((await connection.frame('messages')).messages ?? []) as Item[];
};
const heard = ({ frames }: DoubleConnection) =>
  frames.reduce<Item[]>(
    (items, frame) =>
      frame.type === 'event' && frame.event_type === 'TRANSCRIPT' ? applyOperations(items, frame.ops, frame.v) : items,
    [],
  );

describe('an ACP agent at a relay with transcripts', () => {
  it('sends its tool with command and output, and no OUTPUT', async () => {
    const connection = await begin('tool');
    const { session_id: sessionId, message_uuid: uuid } = await connection.event('TASK_COMPLETE', 't1');
    const items = await pageOf(connection, sessionId ?? '');
    const tool = items.find(({ part }) => part.kind === 'tool');
    expect(tool?.part).toMatchObject({ command: 'ls -la', status: 'completed', does: 'execute' });
    expect(tool?.part.output).toContain('total 0');
    expect(items.at(-1)).toMatchObject({ uuid, content: 'listed', part: { kind: 'text' } });
    expect(heard(connection)).toEqual(items);
    expect(connection.words()).not.toContain('OUTPUT t1');
  });

  it("asks with the agent's options, and accepts an option id", async () => {
    const connection = await begin('perm');
    const { session_id: sessionId, question } = await connection.event('WAIT_FOR_USER', 't1');
    expect(question).toMatchObject({ kind: 'permission', subject: { type: 'command' } });
    const allow = question!.options.find(({ kind }) => kind === 'allow_once')!;
    const answer = { type: 'task_resume', session_id: sessionId, message: 'words that mean nothing' };
    connection.send({ ...answer, task_id: 't2', prompt_uuid: 'another', option_id: allow.id });
    expect(await connection.event('ERROR', 't2')).toMatchObject({ code: 'PROMPT_SUPERSEDED' });
    connection.send({
      ...answer,
      task_id: 't3',
      prompt_uuid: question!.uuid,
      option_id: allow.id,
      digest: question!.digest,
    });
    expect(await connection.event('TASK_COMPLETE', 't3')).toMatchObject({ result: 'permission: y' });
    const items = await pageOf(connection, sessionId ?? '');
    expect(items.find(({ uuid }) => uuid === question!.uuid)?.part).toMatchObject({
      state: 'answered',
      answer: { option: allow.id },
    });
    expect(heard(connection)).toEqual(items);
  });

  it('asks two questions at once, and accepts the answer to the second first', async () => {
    const connection = await begin('perms');
    const { session_id: sessionId, question: first } = await connection.event('WAIT_FOR_USER', 't1');
    const { question: second } = await connection.event('PROMPT_OPEN', 't1');
    const no = second.options.find(({ kind }) => kind === 'reject_once')!;
    const yes = first!.options.find(({ kind }) => kind === 'allow_once')!;
    const answer = { type: 'task_resume', session_id: sessionId, message: 'x' };
    connection.send({ ...answer, task_id: 't2', prompt_uuid: second.uuid, option_id: no.id });
    expect(await connection.event('WAIT_FOR_USER', 't2')).toMatchObject({ message_uuid: first!.uuid });
    connection.send({ ...answer, task_id: 't3', prompt_uuid: first!.uuid, option_id: yes.id });
    expect(await connection.event('TASK_COMPLETE', 't3')).toMatchObject({ result: 'permissions: y n' });
  });

  it('keeps its text after a rejection apart from its answer to the message that replaced it', async () => {
    const connection = await begin('perm');
    const { session_id: sessionId, question } = await connection.event('WAIT_FOR_USER', 't1');
    connection.send({
      ...{ type: 'task_resume', task_id: 't2', session_id: sessionId!, message: 'make it green' },
      prompt_uuid: question!.uuid,
    });
    expect((await connection.event('TASK_COMPLETE', 't2')).result).toBe('echo 2: make it green');
    const items = await pageOf(connection, sessionId ?? '');
    expect(items.filter(({ part }) => part.kind === 'text').map(({ content }) => content)).toEqual([
      ...['I would like to delete it. ', 'permission: n', 'echo 2: make it green'],
    ]);
  });

  it('asks again after an answer with images', async () => {
    const connection = await begin('perm');
    const { session_id: sessionId, question } = await connection.event('WAIT_FOR_USER', 't1');
    const answer = { type: 'task_resume', session_id: sessionId, message: 'Allow', prompt_uuid: question!.uuid };
    connection.send({ ...answer, task_id: 't2', images: ['data:image/png;base64,iVBORw0KGgo='] });
    expect(await connection.event('ERROR', 't2')).toMatchObject({ code: 'PROMPT_SUPERSEDED' });
    const items = await pageOf(connection, sessionId ?? '');
    expect(items.find(({ uuid }) => uuid === question!.uuid)?.part.state).toBe('open');
    connection.send({ ...answer, task_id: 't3', option_id: 'y' });
    expect(await connection.event('TASK_COMPLETE', 't3')).toMatchObject({ result: 'permission: y' });
  });
});
