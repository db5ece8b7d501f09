/**
 * A relay can send any number of tasks: a bounded number of agents works concurrently, and the other tasks wait (rules,
 * 16.4).
 */
import { afterEach, describe, expect, it } from '@jest/globals';
import { cpSync } from 'node:fs';
import type { Agent, Opened, Opening, TurnReport } from '../src/index.ts';
import type { DoubleConnection } from '../src/conformance/relay-double.ts';
import { house } from './house.ts';

const home = house();
afterEach(() => home.clear());

type Open = (opening: Opening) => Promise<Opened>;

/** An agent whose turns the test completes. It records the order in which they began. */
function patient(open?: Open) {
  const began: string[] = [];
  const turns = new Map<string, { report: TurnReport; end: () => void }>();
  const agent: Agent = {
    ...(open ? { open } : {}),
    start({ taskId }, report) {
      began.push(taskId);
      let end = (): void => undefined;
      const ended = new Promise<void>((resolve) => (end = resolve));
      turns.set(taskId, { report, end });
      report.progress('At work');
      return { ended, cancel: () => Promise.resolve(end()) };
    },
  };
  return {
    agent,
    began,
    finish: (taskId: string) => {
      const { report, end } = turns.get(taskId)!;
      report.complete(`done ${taskId}`);
      end();
    },
  };
}

const start = (connection: DoubleConnection, taskId: string) =>
  connection.send({ type: 'task_start', task_id: taskId, instruction: 'hello' });
const waiting = { action: 'Waiting for another agent to finish', target: '' };
const working = { action: 'At work' };

async function begin(maxAgents: number, options: { open?: Open; stillWaitingMs?: number } = {}) {
  const relay = await home.relay();
  const { agent, began, finish } = patient(options.open);
  const storeDir = home.folder();
  const timings = options.stillWaitingMs === undefined ? {} : { stillWaitingMs: options.stillWaitingMs };
  const daemon = home.daemon(relay, agent, { maxAgents, storeDir, timings });
  const connection = await relay.connection();
  await daemon.connected();
  return { relay, daemon, connection, began, finish, storeDir };
}

describe('the number of working agents', () => {
  it('S17: is bounded; more tasks wait in order, are listed as running, and report that they wait', async () => {
    const { daemon, connection, began, finish } = await begin(2);
    for (const id of ['t1', 't2', 't3', 't4']) start(connection, id);
    expect(await connection.event('PROGRESS', 't3')).toMatchObject(waiting);
    expect(await connection.event('PROGRESS', 't4')).toMatchObject(waiting);
    expect(began).toEqual(['t1', 't2']);
    expect(daemon.state().runningTasks).toEqual(['t1', 't2', 't3', 't4']);
    finish('t2');
    expect(await connection.event('PROGRESS', 't3')).toMatchObject(working);
    finish('t1');
    expect(await connection.event('PROGRESS', 't4')).toMatchObject(working);
    expect(began).toEqual(['t1', 't2', 't3', 't4']);
    for (const id of ['t3', 't4']) {
      finish(id);
      expect(await connection.event('TASK_COMPLETE', id)).toMatchObject({ result: `done ${id}` });
    }
  });

  it('S17: includes conversations that are being opened', async () => {
    const opened: string[] = [];
    const open: Open = ({ taskId }) => {
      opened.push(taskId);
      return Promise.resolve({ sessionId: `native-${taskId}` });
    };
    const { connection, finish } = await begin(1, { open });
    for (const id of ['t1', 't2', 't3']) start(connection, id);
    expect(await connection.event('PROGRESS', 't3')).toEqual({
      type: 'event',
      event_type: 'PROGRESS',
      task_id: 't3',
      ...waiting,
    });
    expect(opened).toEqual(['t1']);
    connection.send({ type: 'task_cancel', task_id: 't2' });
    await connection.status('t1', 't3');
    finish('t1');
    expect(await connection.event('PROGRESS', 't3')).toMatchObject({ ...working, session_id: 'native-t3' });
    expect(opened).toEqual(['t1', 't3']);
  });

  it('S17: a cancel removes a waiting task, and the next one of its session continues', async () => {
    const { daemon, connection, began, finish } = await begin(1);
    start(connection, 'first');
    const { session_id: session = '' } = await connection.event('PROGRESS', 'first');
    finish('first');
    await connection.event('TASK_COMPLETE', 'first');
    start(connection, 'busy');
    await connection.event('PROGRESS', 'busy');
    for (const id of ['a', 'b']) {
      connection.send({ type: 'task_resume', task_id: id, session_id: session, message: 'hello' });
    }
    expect(await connection.event('PROGRESS', 'a')).toMatchObject({ ...waiting, session_id: session });
    connection.send({ type: 'task_cancel', task_id: 'a' });
    expect(await connection.event('PROGRESS', 'b')).toMatchObject(waiting);
    expect(daemon.state().runningTasks).toEqual(['busy', 'b']);
    finish('busy');
    expect(await connection.event('PROGRESS', 'b')).toMatchObject(working);
    expect(began).toEqual(['first', 'busy', 'b']);
  });

  it('S17: keeps a silent waiting task alive: it is active in reports, and reported again on the next connection', async () => {
    const { relay, connection } = await begin(1, { stillWaitingMs: 20 });
    start(connection, 't1');
    start(connection, 't2');
    const { session_id: session } = await connection.event('PROGRESS', 't2');
    expect(await connection.event('PROGRESS', 't2')).toMatchObject(waiting);
    connection.close(1012);
    const next = await relay.connection();
    await next.status('t1', 't2');
    expect(await next.event('PROGRESS', 't2')).toMatchObject(waiting);
    const { sessions } = await next.frame('report_sessions');
    expect(sessions.find((entry) => entry.session_id === session)).toMatchObject({ is_active: true });
  });

  it('S17: loses no waiting task: it fails when the daemon stops, and after a crash', async () => {
    const { relay, daemon, connection, storeDir } = await begin(1);
    start(connection, 't1');
    start(connection, 't2');
    await connection.event('PROGRESS', 't2');
    const crashed = home.folder();
    cpSync(storeDir, crashed, { recursive: true });
    await daemon.stop();
    expect(await connection.event('ERROR', 't2')).toMatchObject({ error: 'The daemon was stopped.' });
    home.daemon(relay, patient().agent, { storeDir: crashed });
    const next = await relay.connection();
    expect((await next.event('ERROR', 't2')).error).toContain('The daemon crashed');
  });
});
