/** A conversation with markers in everything that the relay keeps of it, and the whole database as text. */
import { sql } from '@relay/database';
import { expect } from '@jest/globals';
import {
  type TestApp,
  type TestDaemon,
  type TestRelay,
  callerOf,
  connectApp,
  connectDaemon,
  registerDevice,
} from '@relay/testing';

/** Every row of every table as text. */
export async function dumpDatabase({ database }: Pick<TestRelay, 'database'>): Promise<string> {
  const tables = await database.sql.query<{ name: string }>`
    SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`;
  expect(tables.length).toBeGreaterThan(15);
  const all = tables.map(({ name }) => `SELECT '${name} ' || t::text AS row FROM ${name} t`).join(' UNION ALL ');
  const rows = await database.sql.query<{ row: string }>(sql.raw(all));
  return rows.map(({ row }) => `${row}\n`).join('');
}

export const pathOf = (id: string, rest = '') => `/api/sessions/${encodeURIComponent(id)}${rest}`;

/** All markers in the conversation of `name`. */
export const wordsOf = (name: string) =>
  ['native', 'renamed', 'first', 'title', 'project', 'file', 'said', 'result', 'question', 'option', 'command'].map(
    (part) => `${part}${name}`,
  );

/**
 * Reports commands of a project, which belong to the device. The gateway handles them before later frames of the
 * daemon.
 */
export function reportSets(daemon: TestDaemon, name: string): void {
  const set = { project: `/folder${name}`, commands: [{ name: `set${name}`, description: `set${name}` }] };
  daemon.send({ type: 'report_slash_commands', sets: [set] });
}

/**
 * A conversation with something in every column: a first task with a result, and a follow-up that waits for an answer
 * to a question.
 */
export async function converse(relay: TestRelay, daemon: TestDaemon, app: TestApp, name: string): Promise<string> {
  const [native, renamed, first, title, project, file, said, result, question, option, command] = wordsOf(name);
  const headers = { 'Idempotency-Key': `key-${name}` };
  const created = await relay.call('createSession', {
    headers,
    body: { deviceId: daemon.deviceId, message: `${first} message`, title, projectPath: `/${project}` },
  });
  const { taskId } = created.body as { taskId: string };
  await daemon.next('task_start', (frame) => frame.task_id === taskId);
  daemon.event(taskId, 'SESSION_STARTED', { session_id: native });
  await app.next('session_update', ({ session }) => (session as { id: string }).id.endsWith(`:${native}`));
  daemon.event(taskId, 'SESSION_STARTED', { session_id: renamed });
  const id = `${daemon.deviceId}:scripted:${renamed}`;
  await app.next('session_update', ({ session }) => (session as { id: string }).id === id);
  expect((await relay.call('watch', { body: { sessionId: id } })).status).toBe(201);
  daemon.event(taskId, 'AGENT_RESPONSE', { session_id: renamed, content: said, uuid: `uuid-${name}` });
  daemon.event(taskId, 'TASK_COMPLETE', { session_id: renamed, result });
  await app.next('new_message', ({ message }) => (message as { content: string }).content === result);
  daemon.send({
    type: 'report_slash_commands',
    session_id: renamed,
    commands: [{ name: command, description: command }],
  });
  daemon.send({
    type: 'report_sessions',
    sessions: [{ session_id: renamed, title, project: `/${project}`, file_path: `/${file}`, last_message: said }],
  });
  const sent = await relay.call('sendMessage', { params: { id }, headers, body: { content: `${said} more` } });
  const { taskId: nextTaskId } = sent.body as { taskId: string };
  await daemon.next('task_resume', (frame) => frame.task_id === nextTaskId);
  daemon.event(nextTaskId, 'WAIT_FOR_USER', {
    prompt: question,
    result: said,
    options: [{ label: option, description: option }],
  });
  await app.next(
    'session_update',
    ({ session }) =>
      (session as { id: string; status: string }).id === id && (session as { status: string }).status === 'waiting',
  );
  return id;
}

export const found = (dump: string, words: readonly string[]) => words.filter((word) => dump.includes(word));

export interface Person {
  relay: TestRelay;
  token: string;
  userId: string;
  app: TestApp;
  daemon: TestDaemon;
  words: readonly string[];
}

/** A person with markers in all data, on `relay`; `token` is their access token. */
export async function personWith(relay: TestRelay, name: string, token: string): Promise<Person> {
  const own = { ...relay, token: () => token, call: callerOf([relay.url], () => token) };
  const app = await connectApp(relay, { token, since: '' });
  const registration = await registerDevice(own, { hostname: `hostname${name}` });
  const daemon = await connectDaemon(own, { registration });
  await own.call('updateDevice', { params: { id: daemon.deviceId }, body: { name: `device${name}` } });
  await own.call('createDeviceKey', { body: { name: `label${name}` } });
  await own.call('createAcpToken', { body: { deviceId: daemon.deviceId, name: `client${name}` } });
  reportSets(daemon, name);
  await converse(own, daemon, app, name);
  const me = (await own.call('me')).body as { id: string };
  const words = [
    ...wordsOf(name),
    `label${name}`,
    `client${name}`,
    `hostname${name}`,
    `device${name}`,
    `key-${name}`,
    `folder${name}`,
    `set${name}`,
  ];
  return { relay: own, token, userId: me.id, app, daemon, words };
}
