/**
 * Local sessions of an agent whose files the daemon cannot read: it asks the agent for its list. Also sessions that
 * must stay hidden.
 */
import { afterEach, describe, expect, it } from '@jest/globals';
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { silentLog } from '@relay/daemon-kit';
import type { DoubleConnection } from '@relay/daemon-kit/conformance';
import { presetOf } from '../src/agents/acp/presets.ts';
import { deskOf } from '../src/agents/desk.ts';
import { readConfig, writeConfig } from '../src/config.ts';
import { homeOf } from '../src/home.ts';
import { demoAgent, demoAgentFile } from './demo-agent.ts';
import { house } from './house.ts';
import { registered, running } from './registered.ts';

const home = house();
afterEach(() => home.clear());

const time = (minute: number) => new Date(Date.UTC(2026, 0, 1, 12, minute)).toISOString();
const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
type Words = readonly [role: string, text: string, id?: string][];
/** A session of the demonstration agent, written like another process of it would. */
const written = (folder: string, id: string, cwd: string, words: Words, from = 0) =>
  appendFileSync(
    join(folder, `${id}.jsonl`),
    lines([
      ...(from === 0 ? [{ t: time(0), cwd }] : []),
      ...words.map(([role, text, id], index) => ({ t: time(from + index + 1), role, text, id })),
    ]),
  );

async function begin({
  env = {},
  more = [],
  mark = 'desk-1.jsonl',
}: { env?: Record<string, string>; more?: Words; mark?: string } = {}) {
  const [agentHome, allowed, forbidden, calls] = [home.folder(), home.folder(), home.folder(), home.folder()];
  written(agentHome, 'desk-1', allowed, [['user', 'hi there'], ['agent', 'hello'], ...more]);
  written(agentHome, 'desk-2', forbidden, [['user', 'a secret']]);
  written(agentHome, 'desk-3', join(allowed, 'gone by now'), [['user', 'old']]);
  symlinkSync(forbidden, join(allowed, 'link'));
  written(agentHome, 'desk-4', join(allowed, 'link'), [['user', 'a secret by a link']]);
  written(agentHome, 'desk-5', '', [['user', 'in an unknown folder']]);
  const callFile = join(calls, 'calls');
  const rules = { defaultPath: allowed, allowed: [allowed] };
  const { agent } = demoAgent(home, { home: agentHome, rules, env: { DEMO_AGENT_CALLS: callFile, ...env } });
  const preset = { ...presetOf('opencode')!, marks: [join(agentHome, mark)] };
  const outside = deskOf({ agent, preset, env: {}, rules, log: silentLog, timings: { listGapMs: 20 } });
  const relay = await home.relay();
  home.daemon(relay, agent, { outside, timings: { watchIntervalMs: 20, reportIntervalMs: 50 } });
  const connection = await relay.connection();
  return {
    connection,
    agentHome,
    allowed,
    called: () => (existsSync(callFile) ? readFileSync(callFile, 'utf8').trim().split('\n') : []),
  };
}

/** The first report with sessions. */
async function listed(connection: DoubleConnection) {
  for (;;) {
    const { sessions } = await connection.frame('report_sessions');
    if (sessions.length > 0) return sessions;
  }
}
async function page(connection: DoubleConnection, sessionId: string) {
  connection.send({ type: 'get_messages', request_id: 'r', session_id: sessionId, limit: 50 });
  return connection.frame('messages');
}
const words = (messages: readonly { role: string; content: string }[]) =>
  messages.map(({ role, content }) => `${role} ${content}`);

describe("a session in an agent's list", () => {
  it('is reported with title, project and time, without loading it', async () => {
    const { connection, allowed, called } = await begin();
    const sessions = await listed(connection);
    expect(sessions).toEqual([
      expect.objectContaining({ session_id: 'desk-1', title: 'hi there', project: allowed, last_activity: time(2) }),
      expect.objectContaining({ session_id: 'desk-3', title: 'old' }),
    ]);
    for (let report = 0; report < 4; report++) await connection.frame('report_sessions');
    // Three pages, once: nothing has changed since.
    expect(called().filter((name) => name !== 'initialize')).toEqual(['list', 'list', 'list']);
  });

  it('is found when an entry of a marked folder changes', async () => {
    const { connection, agentHome, allowed } = await begin({ mark: '*' });
    await listed(connection);
    written(agentHome, 'desk-6', allowed, [['user', 'begun later']]);
    for (;;) {
      const sessions = await listed(connection);
      if (sessions.some(({ session_id: id }) => id === 'desk-6')) break;
    }
  });

  it('is loaded when an app reads it, once, and its messages keep their uuids', async () => {
    const { connection, called } = await begin();
    await listed(connection);
    const first = await page(connection, 'desk-1');
    expect(words(first.messages ?? [])).toEqual(['USER hi there', 'AGENT hello']);
    expect((await page(connection, 'desk-1')).messages).toEqual(first.messages);
    expect(called().filter((name) => name === 'load')).toHaveLength(1);
  });

  it('has every text that the agent sent under one id, before and after a tool call, each once', async () => {
    const { connection } = await begin({ more: [['agent', 'I look.', 'm1'], ['tool', 'look'], ['agent', 'Found.', 'm1']] }); // prettier-ignore
    await listed(connection);
    const messages = (await page(connection, 'desk-1')).messages ?? [];
    expect(words(messages)).toEqual(['USER hi there', 'AGENT hello', 'AGENT I look.', 'AGENT Found.']);
    expect(new Set(messages.map(({ uuid }) => uuid)).size).toBe(4);
  });

  it('A9: is reported, read and continued without a time from the agent', async () => {
    const { connection } = await begin({ env: { DEMO_AGENT_WITHOUT: 'times' } });
    const sessions = await listed(connection);
    expect(sessions.map(({ session_id: id, title }) => `${id} ${title}`)).toEqual(['desk-1 hi there', 'desk-3 old']);
    expect(sessions.every((session) => session.last_activity === undefined)).toBe(true);
    expect(words((await page(connection, 'desk-1')).messages ?? [])).toEqual(['USER hi there', 'AGENT hello']);
    connection.send({ type: 'task_resume', task_id: 't1', session_id: 'desk-1', message: 'from afar' });
    expect((await connection.event('TASK_COMPLETE', 't1')).result).toBe('echo 2: from afar');
  });

  it('can be continued, after the local messages', async () => {
    const { connection } = await begin();
    await listed(connection);
    connection.send({ type: 'task_resume', task_id: 't1', session_id: 'desk-1', message: 'from afar' });
    await connection.status('t1');
    expect((await connection.event('TASK_COMPLETE', 't1')).result).toBe('echo 2: from afar');
    expect(words((await page(connection, 'desk-1')).messages ?? [])).toEqual([
      'USER hi there',
      'AGENT hello',
      'USER from afar',
      'AGENT echo 2: from afar',
    ]);
  });

  it('reports a read failure, and continues when the agent works again', async () => {
    const { connection, agentHome } = await begin();
    await listed(connection);
    const fault = join(agentHome, 'DEMO_AGENT_FAULT');
    writeFileSync(fault, 'load');
    const why = /^this session could not be read from its agent: .*the disk is slow/i;
    expect((await page(connection, 'desk-1')).error).toMatch(why);
    connection.send({ type: 'task_resume', task_id: 't1', session_id: 'desk-1', message: 'from afar' });
    const { error } = await connection.event('ERROR', 't1');
    expect(error).toMatch(why);
    expect(error).toMatch(/[^.]\. Nothing was sent to it\. Try again\.$/);
    rmSync(fault);
    connection.send({ type: 'task_resume', task_id: 't2', session_id: 'desk-1', message: 'from afar' });
    expect((await connection.event('TASK_COMPLETE', 't2')).result).toBe('echo 2: from afar');
  });

  it('can be cancelled while the daemon loads its messages', async () => {
    const { connection } = await begin();
    await listed(connection);
    connection.send({ type: 'task_resume', task_id: 't1', session_id: 'desk-1', message: 'from afar' });
    connection.send({ type: 'task_cancel', task_id: 't1' });
    connection.send({ type: 'task_resume', task_id: 't2', session_id: 'desk-1', message: 'again' });
    expect((await connection.event('TASK_COMPLETE', 't2')).result).toBe('echo 2: again');
    expect(connection.ends('t1')).toEqual([]);
  });

  it('is sent when it is watched and continues locally', async () => {
    const { connection, agentHome, allowed } = await begin();
    await listed(connection);
    connection.send({ type: 'watch_session', session_id: 'desk-1' });
    await page(connection, 'desk-1');
    written(agentHome, 'desk-1', allowed, [['user', 'more'], ['agent', 'and more']], 10); // prettier-ignore
    expect(await connection.frame('session_activity')).toMatchObject({
      session_id: 'desk-1',
      last_message: 'and more',
      message_count: 4,
      last_activity: time(12),
    });
  });

  it('is missing if the agent has no list, and the daemon does not ask for one', async () => {
    const { connection, called } = await begin({ env: { DEMO_AGENT_WITHOUT: 'list' } });
    connection.send({ type: 'task_start', task_id: 't1', instruction: 'hello' });
    await connection.event('TASK_COMPLETE', 't1');
    expect((await listed(connection)).map(({ title }) => title)).toEqual(['hello']);
    expect(called()).not.toContain('list');
  });

  it('has no messages when the agent can resume it but not load it', async () => {
    const { connection } = await begin({ env: { DEMO_AGENT_WITHOUT: 'load' } });
    await listed(connection);
    expect((await page(connection, 'desk-1')).messages).toEqual([]);
    connection.send({ type: 'task_resume', task_id: 't1', session_id: 'desk-1', message: 'from afar' });
    expect((await connection.event('TASK_COMPLETE', 't1')).result).toBe('echo 2: from afar');
  });

  it('costs nothing when the agent cannot even start', async () => {
    const { connection } = await begin({ env: { DEMO_AGENT_FAULT: 'exit' } });
    for (let report = 0; report < 3; report++) expect((await connection.frame('report_sessions')).sessions).toEqual([]);
    connection.send({ type: 'task_start', task_id: 't1', instruction: 'hello' });
    expect((await connection.event('ERROR', 't1')).error).toContain('cannot work like this');
  });
});

describe('a session outside the allowed folders', () => {
  it.each(['desk-2', 'desk-4', 'desk-5'])('is not listed, read, watched or continued: %s', async (id) => {
    const { connection, called } = await begin();
    expect(JSON.stringify(await listed(connection))).not.toMatch(/desk-[245]|secret/);
    expect(await page(connection, id)).toMatchObject({ messages: [], error: 'this device has no such session' });
    connection.send({ type: 'watch_session', session_id: id });
    connection.send({ type: 'task_resume', task_id: 't1', session_id: id, message: 'tell me' });
    expect((await connection.event('ERROR', 't1')).error).toContain('no such session');
    await connection.settle();
    expect(called()).not.toContain('load');
    expect(JSON.stringify(connection.frames)).not.toContain('secret');
  });

  it('is not listed or read from the files of the agent', async () => {
    const [root, allowed] = [home.folder(), home.folder()];
    const kept = (id: string, cwd: string) => {
      const folder = join(root, '.claude', 'projects', `-${id}`);
      mkdirSync(folder, { recursive: true });
      const row = { type: 'user', cwd, uuid: `u-${id}`, timestamp: time(1), message: { content: `words of ${id}` } };
      writeFileSync(join(folder, `${id}.jsonl`), lines([row]));
    };
    kept('inside', join(allowed, 'project'));
    kept('outside', home.folder());
    const relay = await home.relay();
    const folder = registered(home, relay);
    const place = homeOf({ home: folder, env: {} });
    const env = { HOME: root, CLAUDE_CONFIG_DIR: '', DEMO_AGENT_HOME: home.folder() };
    const agent = {
      kind: 'acp' as const,
      preset: 'claude_code',
      program: process.execPath,
      args: [demoAgentFile],
      env,
    };
    writeConfig(place, { ...readConfig(place)!, project: allowed, allow: [allowed], agent });
    running(home, folder);
    const connection = await relay.connection();
    expect((await listed(connection)).map(({ session_id: id }) => id)).toEqual(['inside']);
    expect((await page(connection, 'inside')).messages).toHaveLength(1);
    expect(await page(connection, 'outside')).toMatchObject({ error: 'this device has no such session' });
  });
});
