/**
 * Questions with an identity, of a daemon that declares `prompts` (rules, 5): answered once, bound to the shown text,
 * gone when the daemon closes them.
 */
import { randomUUID } from 'node:crypto';
import { type Question, relayCapabilitiesHeader } from '@relay/protocol';
import { questionDigest } from '@relay/protocol/identity';
import { type Check, rule } from '../check.ts';
import { type Daemon, daemonHeaders } from '../daemon.ts';
import { must, same } from '../expect.ts';
import type { Session, World } from '../world.ts';
import { declaring } from './capabilities.ts';

function permission(title: string): Question {
  const question: Question = {
    uuid: randomUUID(),
    title,
    kind: 'permission',
    options: [
      { id: 'yes', label: 'Allow', kind: 'allow_once' },
      { id: 'no', label: 'Refuse', kind: 'reject_once' },
    ],
    text: true,
  };
  return { ...question, digest: questionDigest(question) };
}

/** Waits until apps see exactly these open questions. */
async function asking(world: World, { id }: Session, from: number, ...uuids: string[]) {
  const { inbox } = await world.app();
  return inbox.until(
    'session_update',
    ({ session }) => session.id === id && isList(session.prompts?.map((prompt) => prompt.id) ?? [], uuids),
    { from, what: `a session that asks ${uuids.length} questions` },
  );
}
const isList = (one: readonly (string | undefined)[], other: readonly string[]) =>
  one.length === other.length && one.every((uuid, n) => uuid === other[n]);

/** A session whose task completed with this question. */
async function waiting(world: World, daemon: Daemon, question: Question) {
  const session = await world.session({}, daemon);
  const task = await world.running(session, undefined, daemon);
  daemon.event(task.id, 'WAIT_FOR_USER', { session_id: session.native, prompt: question.title, question });
  await asking(world, session, 0, question.uuid);
  return { session, task };
}

const resumed = (daemon: Daemon, taskId: string) =>
  daemon.inbox.until('task_resume', ({ task_id }) => task_id === taskId, { what: 'the task of an answer' });

export const questions: readonly Check[] = [
  rule('5.1', 'two questions are open side by side, and each takes its own answer, in any order', async (world) => {
    const daemon = await declaring(world, 'prompts');
    const declared = String(daemon.live.headers[relayCapabilitiesHeader.toLowerCase()] ?? '');
    must(declared.split(/, */).includes('prompts'), `${relayCapabilitiesHeader} names prompts, came ${declared}`);
    const [first, second] = [permission('First?'), permission('Second?')];
    const { session } = await waiting(world, daemon, first);
    daemon.event('', 'PROMPT_OPEN', { session_id: session.native, question: second });
    const shown = await asking(world, session, 0, first.uuid, second.uuid);
    same(shown.session.prompt?.id, first.uuid, 'prompt, the oldest');
    const params = { id: session.id, uuid: second.uuid };
    const { body } = await world.rest.ok('answerPrompt', { params, body: { option: 'no' } });
    const frame = await resumed(daemon, body.taskId);
    same([frame.prompt_uuid, frame.option_id], [second.uuid, 'no'], 'what is answered');
    // One of two questions has its answer: this task completes with the other.
    daemon.event(frame.task_id, 'WAIT_FOR_USER', { session_id: session.native, prompt: 'First?', question: first });
    const other = await world.rest.ok('answerPrompt', {
      params: { id: session.id, uuid: first.uuid },
      body: { option: 'yes' },
    });
    const last = await resumed(daemon, other.body.taskId);
    same([last.prompt_uuid, last.option_id], [first.uuid, 'yes'], 'what is answered');
    daemon.event(last.task_id, 'TASK_COMPLETE', { session_id: session.native, result: 'done' });
    await world.caughtUp(session, daemon);
    await daemon.close();
  }),
  rule('14.16', 'a question is in the inbox, with what it takes to answer, until it is answered', async (world) => {
    const daemon = await declaring(world, 'prompts');
    const question = permission('In the inbox?');
    const { session } = await waiting(world, daemon, question);
    const listed = async () => (await world.rest.ok('listInbox', { query: { kind: 'question', limit: 100 } })).body;
    const before = await listed();
    const item = before.items.find(({ prompt }) => prompt?.id === question.uuid);
    same([item?.sessionId, item?.prompt?.options.length], [session.id, 2], 'the session and the choices of the item');
    await world.rest.refused('ackItem', 'ITEM_NEEDS_ANSWER', { params: { id: item!.id } });
    await world.rest.refused('ackItem', 'ITEM_NOT_FOUND', { params: { id: randomUUID() } });
    const params = { id: session.id, uuid: question.uuid };
    const { body } = await world.rest.ok('answerPrompt', { params, body: { option: 'yes' } });
    const after = await listed();
    must(!after.items.some(({ id }) => id === item!.id), 'expected no item of an answered question');
    must(after.version > before.version, 'expected a higher version');
    const { inbox } = await world.app();
    await inbox.until('inbox_update', ({ version }) => version >= after.version, { from: 0, what: 'the inbox of now' });
    const { task_id: last } = await resumed(daemon, body.taskId);
    daemon.event(last, 'TASK_COMPLETE', { session_id: session.native, result: 'done' });
    await world.caughtUp(session, daemon);
    await daemon.close();
  }),
  rule('5.2', 'the first answer counts; another one is refused with it, and reaches no agent', async (world) => {
    const daemon = await declaring(world, 'prompts');
    const question = permission('Go on?');
    const { session } = await waiting(world, daemon, question);
    const params = { id: session.id, uuid: question.uuid };
    const digest = 'of another text';
    await world.rest.refused('answerPrompt', 'PROMPT_SUPERSEDED', { params, body: { option: 'yes', digest } });
    const { body } = await world.rest.ok('answerPrompt', { params, body: { option: 'yes', digest: question.digest } });
    const refused = await world.rest.refused('answerPrompt', 'PROMPT_ALREADY_ANSWERED', {
      params,
      body: { option: 'no' },
    });
    const { answer } = refused.body as { answer?: { option?: string } };
    same(answer?.option, 'yes', 'the answer in the refusal');
    same((await resumed(daemon, body.taskId)).digest, question.digest, 'digest');
    daemon.event(body.taskId, 'TASK_COMPLETE', { session_id: session.native, result: 'done' });
    await world.caughtUp(session, daemon);
    same(
      daemon.inbox.all('task_resume', ({ prompt_uuid }) => prompt_uuid !== undefined).length,
      1,
      'answers delivered',
    );
    await daemon.close();
  }),
  rule('5.8', 'a question that the first status of a connection omits is superseded', async (world) => {
    const before = await declaring(world, 'prompts');
    const question = permission('Still there?');
    const { session } = await waiting(world, before, question);
    await before.drop();
    const headers = { ...daemonHeaders(before.device), 'X-Daemon-Capabilities': 'prompts' };
    const daemon = await world.open(before.device, { headers, name: 'the daemon that came back' });
    const from = (await world.app()).inbox.mark();
    daemon.send({ type: 'status', running_tasks: [], open_prompts: [] });
    same((await asking(world, session, from)).session.status, 'idle', 'status');
    const params = { id: session.id, uuid: question.uuid };
    await world.rest.refused('answerPrompt', 'PROMPT_SUPERSEDED', { params, body: { option: 'yes' } });
    await daemon.close();
  }),
  rule('5.13', 'a turn that continues without its question is active, and a cancel ends it', async (world) => {
    const daemon = await declaring(world, 'prompts');
    const question = permission('Or not?');
    const { session, task } = await waiting(world, daemon, question);
    const { native } = session;
    const from = (await world.app()).inbox.mark();
    daemon.event(task.id, 'PROMPT_CLOSED', { session_id: native, uuid: question.uuid, state: 'superseded' });
    const closed = await asking(world, session, from);
    same([closed.session.prompt, closed.session.status], [undefined, 'active'], 'prompt, status');
    const params = { id: session.id };
    same((await world.rest.ok('cancelSession', { params })).body.taskId, task.id, 'the task that is cancelled');
    await daemon.inbox.until('task_cancel', ({ task_id }) => task_id === task.id);
    await daemon.close();
  }),
  rule('5.13', 'the status that a daemon names with the end of its question is that of the session', async (world) => {
    const daemon = await declaring(world, 'prompts');
    const question = permission('Over?');
    const { session, task } = await waiting(world, daemon, question);
    const from = (await world.app()).inbox.mark();
    const about = { session_id: session.native, uuid: question.uuid };
    daemon.event(task.id, 'PROMPT_CLOSED', { ...about, state: 'superseded', status: 'idle' });
    const closed = await asking(world, session, from);
    same([closed.session.prompt, closed.session.status], [undefined, 'idle'], 'prompt, status');
    await daemon.close();
  }),
  rule('5.14', 'a dismissal that was lost with its connection is repeated to the next one', async (world) => {
    const before = await declaring(world, 'prompts');
    const question = permission('Dismissed?');
    const { session, task } = await waiting(world, before, question);
    await before.drop();
    same(
      (await world.rest.ok('cancelSession', { params: { id: session.id } })).body.taskId,
      task.id,
      'the task that is cancelled',
    );
    const headers = { ...daemonHeaders(before.device), 'X-Daemon-Capabilities': 'prompts' };
    const daemon = await world.open(before.device, { headers, name: 'the daemon that came back' });
    daemon.send({ type: 'status', running_tasks: [], open_prompts: [question.uuid] });
    await daemon.inbox.until('task_cancel', ({ task_id }) => task_id === task.id);
    await daemon.close();
  }),
  rule('14.41', 'POST /api/answers takes the token of a notification and no other', async ({ rest, token }) => {
    await rest.refused('giveAnswer', 'UNAUTHORIZED', { body: {} });
    await rest.refused('giveAnswer', 'INVALID_TOKEN', { body: {}, as: token });
    await rest.refused('giveAnswer', 'INVALID_TOKEN', { body: {}, as: 'no.such.token' });
  }),
];
