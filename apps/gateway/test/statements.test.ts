/** The statements that a message and its turn cost PostgreSQL, through a whole relay (ADR 89). BEGIN and COMMIT count, too. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Database, Sql } from '@relay/database';
import {
  type TestApp,
  type TestDaemon,
  type TestRelay,
  connectApp,
  connectDaemon,
  openTestDatabase,
  startRelay,
} from '@relay/testing';
import { tick, until } from './conversation.ts';

/** Sent at an interval, whether there is a turn or not. */
const periodic =
  /raised_at < now|held_until <= now|not_before FROM|AS registered|GREATEST\(t\.created_at|next_at <= now|min\(created_at\)/;

/** A database, and the statements that it was sent, with the statements of inbox and outbox. */
async function openNoted(): Promise<{ database: Database; sent: string[] }> {
  const real = await openTestDatabase();
  const sent: string[] = [];
  const note = (statement: TemplateStringsArray | Sql, values: unknown[] = []) => {
    const { text } = statement instanceof Sql ? statement : new Sql(statement, values);
    if (!periodic.test(text)) sent.push(text.trim().slice(0, 200));
  };
  const noting = (of: Pick<Database['sql'], 'query' | 'execute'>): typeof of => ({
    query: (statement, ...values) => {
      note(statement, values);
      return of.query(statement, ...values);
    },
    execute: (statement, ...values) => {
      note(statement, values);
      return of.execute(statement, ...values);
    },
  });
  const transaction: Database['sql']['transaction'] = async (work, opening = [], alone) => {
    if (!alone) sent.push('BEGIN');
    for (const statement of opening) note(statement);
    const result = await real.sql.transaction((tx, rows) => work({ sql: noting(tx.sql) }, rows), opening, alone);
    if (!alone) sent.push('COMMIT');
    return result;
  };
  return { database: { ...real, sql: { ...noting(real.sql), transaction } }, sent };
}

describe('the statements of a turn', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;
  let database: Database;
  let sent: string[];

  beforeAll(async () => {
    ({ database, sent } = await openNoted());
    // The first look for lost devices comes after the grace time, and so after all turns.
    const config = { sweepIntervalMs: 3_600_000, outboxPollMs: 3_600_000, offlineGraceMs: 3_600_000 };
    relay = await startRelay({ database, config });
    daemon = await connectDaemon(relay);
    app = await connectApp(relay);
  });
  afterAll(async () => {
    await relay.stop();
    await database.close();
  });

  const shows = (text: string) =>
    app.next('session_update', ({ session }) => JSON.stringify(session).includes(`"${text}"`));

  it('performance 4: are at most 6 from a POST until the daemon has the task, and at most 12 for the whole turn, with inbox and outbox', async () => {
    const isOver = (statements: readonly string[], most: number) => (statements.length > most ? statements : []);
    // The statements of the connect come first.
    await tick(daemon, app);
    sent.length = 0;
    const created = await relay.call('POST', '/api/sessions', {
      body: { deviceId: daemon.deviceId, message: 'begin' },
    });
    const first = (await daemon.next('task_start')).task_id as string;
    // Five to create the session, its audit and the claim.
    expect(isOver([...sent], 7)).toEqual([]);
    daemon.event(first, 'SESSION_STARTED', { session_id: 'native' });
    daemon.event(first, 'TASK_COMPLETE', { result: 'begun' });
    await shows('begun');
    const id = (created.body as { id: string }).id.replace(/[^:]+$/, 'native');

    for (const [n, idempotencyKey] of [undefined, 'a key', undefined].entries()) {
      // The claim after the turn before comes first.
      await tick(daemon, app);
      sent.length = 0;
      const { status } = await relay.call('POST', `/api/sessions/${encodeURIComponent(id)}/messages`, {
        body: { content: `go on ${n}` },
        ...(idempotencyKey ? { headers: { 'Idempotency-Key': idempotencyKey } } : {}),
      });
      expect(status).toBe(202);
      const task = (await daemon.next('task_resume')).task_id as string;
      const untilDelivered = [...sent];
      daemon.send({ type: 'status', running_tasks: [task] });
      daemon.event(task, 'OUTPUT', { text: 'working' });
      daemon.event(task, 'TASK_COMPLETE', { session_id: 'native', result: `done ${n}` });
      await shows(`done ${n}`);
      const turn = [...sent];
      expect([isOver(untilDelivered, 6), isOver(turn, 12)]).toEqual([[], []]);
      for (const step of ['accept', 'claim', 'confirm', 'settle'])
        expect([step, turn.filter((text) => text.includes(`relay_${step}_`)).length]).toEqual([step, 1]);
    }

    // The turn of a watched session with its notification and its item of the inbox.
    await relay.call('watch', { body: { sessionId: id } });
    await tick(daemon, app);
    sent.length = 0;
    await relay.call('sendMessage', { params: { id }, body: { content: 'go on' } });
    const task = (await daemon.next('task_resume')).task_id as string;
    daemon.send({ type: 'status', running_tasks: [task] });
    daemon.event(task, 'TASK_COMPLETE', { session_id: 'native', result: 'the last' });
    for (const last of ['UPDATE notifications SET', 'UPDATE inbox_heads SET published'])
      await until(() => Promise.resolve(sent.some((text) => text.includes(last))));
    expect(isOver(sent, 12)).toEqual([]);
  });
});

describe('the statements of silent daemons', () => {
  it('performance idle: are as many for twelve daemons as for one, in each sweep', async () => {
    const { database, sent } = await openNoted();
    const config = { sweepIntervalMs: 50, leaseRefreshMs: 50, pingIntervalMs: 50, silenceTimeoutMs: 60_000 };
    const relay = await startRelay({ database, config });
    try {
      const daemons = 12;
      for (let n = 0; n < daemons; n += 1) await connectDaemon(relay);
      const sweeps = () => sent.filter((text) => text.startsWith('SELECT DISTINCT device_id FROM tasks t')).length;
      sent.length = 0;
      await until(() => Promise.resolve(sweeps() >= 3));
      const counts = new Map<string, number>();
      for (const text of sent) counts.set(text, (counts.get(text) ?? 0) + 1);
      expect([...counts].filter(([, count]) => count >= daemons)).toEqual([]);
    } finally {
      await relay.stop();
      await database.close();
    }
  });
});
