/**
 * The functions of a turn beside the statements that they replace (ADR 89): from every state of a task and a session, both lead to the same rows, or the
 * function changes nothing and leaves the case to the statements.
 */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  type Database,
  type Outcome,
  addNotification,
  claimOwned,
  claimTasks,
  confirmTask,
  endTask,
  settleTask,
  startRunning,
  taskMoves,
  turnFunctions,
  withDevice,
} from '../src/index.ts';
import { device, onBoth } from './databases.ts';

const states = [
  'later',
  'queued',
  'sent',
  'running',
  'completed',
  'failed',
  'waiting',
  'cancelled',
  'unknown',
  'expired',
];
const statuses = ['pending', 'active', 'idle', 'waiting', 'failed'];
const outcomes: readonly Outcome[] = [
  { kind: 'completed', result: 'all done' },
  { kind: 'failed', code: 'AGENT_ERROR', error: 'no' },
];

interface Case {
  state: string;
  status: string;
  held: boolean;
  placeholder: boolean;
  /** The state of a question of the session. */
  asked: 'open' | 'answered' | null;
}

const named = { placeholder: false, asked: null };
const cases: readonly Case[] = states.flatMap((state) => [
  ...statuses.flatMap((status) => [true, false].map((held): Case => ({ state, status, held, ...named }))),
  ...([{ placeholder: true }, { asked: 'open' }, { asked: 'answered' }] as const).map((more): Case => ({
    state,
    status: 'active',
    held: false,
    ...named,
    ...more,
  })),
]);

onBoth('the functions of a turn', (open) => {
  let database: Database;
  const one = { function: 'by-function', statements: 'by-statements' } as const;
  const deviceIds = Object.values(one);

  beforeAll(async () => {
    database = await open();
  });
  afterAll(() => database.close());

  /** The same sessions on both devices: their keys differ in the name of the device alone. */
  const fill = async () => {
    await database.sql.execute`TRUNCATE devices, notifications, inbox_items, inbox_heads CASCADE`;
    await database.models.device.createMany({ data: deviceIds.map((id) => ({ ...device(id), connectionFence: 7n })) });
    await database.sql.execute`
      CREATE TEMPORARY TABLE IF NOT EXISTS wanted (n int, state text, status text, held boolean, placeholder boolean, asked text)`;
    await database.sql.execute`TRUNCATE wanted`;
    await database.sql.execute`
      INSERT INTO wanted SELECT ordinality, c->>'state', c->>'status', (c->>'held')::boolean, (c->>'placeholder')::boolean, c->>'asked'
      FROM jsonb_array_elements(${JSON.stringify(cases)}::jsonb) WITH ORDINALITY AS t(c, ordinality)`;
    await database.sql.execute`
      INSERT INTO sessions (key, owner_id, device_id, agent_type, native_id, placeholder, status, queue_held, prompt, prompt_seq, progress, last_message)
      SELECT d || '-' || n, 'user-1', d, 'claude', n::text, placeholder, status, held, CASE WHEN asked IS NOT NULL OR status = 'waiting' THEN '{"id":"q"}'::jsonb END,
        0, '{"action":"Reading","target":"","at":""}', 'before' FROM wanted, unnest(${deviceIds}::text[]) d`;
    await database.sql
      .execute`INSERT INTO watched_sessions (user_id, session_key) SELECT 'user-1', key FROM sessions WHERE native_id::int % 2 = 0`;
    await database.sql.execute`
      INSERT INTO tasks (id, seq, session_key, device_id, owner_id, kind, state, instruction, images, fence, expires_at, sent_at, finished_at)
      SELECT 'task-' || d || '-' || n, nextval('tasks_seq_seq'), d || '-' || n, d, 'user-1', CASE WHEN placeholder THEN 'start' ELSE 'resume' END, state, 'do it', '[]', 5,
        now() + interval '1 hour', CASE WHEN state NOT IN ('queued', 'expired') THEN now() - interval '1 second' END,
        CASE WHEN state NOT IN ('queued', 'sent', 'running') THEN now() END
      FROM wanted, unnest(${deviceIds}::text[]) d ORDER BY n, d`;
    await database.sql.execute`
      INSERT INTO prompts (session_key, uuid, device_id, state, payload, answer_task_id)
      SELECT d || '-' || n, 'q', d, asked, '{"id":"q"}', CASE asked WHEN 'answered' THEN 'task-' || d || '-' || n END
      FROM wanted, unnest(${deviceIds}::text[]) d WHERE asked IS NOT NULL`;
  };

  /** Everything that a move can change, without names and times. */
  const rowsOf = async (deviceId: string) =>
    database.sql.query`
      SELECT s.native_id AS n, s.status, s.queue_held, s.prompt, s.progress, s.last_message, s.message_count, s.news_at IS NULL AS old, s.read_at IS NULL AS unread,
        (SELECT json_agg(json_build_object('state', t.state, 'result', t.result, 'code', t.error_code, 'error', t.error_text, 'note', t.note, 'instruction', t.instruction,
          'images', t.images, 'fence', t.fence, 'sent', t.sent_at IS NOT NULL, 'ended', t.finished_at IS NOT NULL)) FROM tasks t WHERE t.session_key = s.key) AS tasks,
        (SELECT json_agg(q.state) FROM prompts q WHERE q.session_key = s.key) AS prompts,
        (SELECT json_agg(x.cause) FROM notifications x WHERE x.session_key = s.key) AS notified,
        (SELECT json_agg(concat(i.kind, i.state, i.closed_by) ORDER BY i.kind) FROM inbox_items i WHERE i.session_key = s.key) AS inbox
      FROM sessions s WHERE s.device_id = ${deviceId} ORDER BY s.native_id::int`;

  const keyOf = (deviceId: string, n: number) => `${deviceId}-${n + 1}`;
  const taskOf = (deviceId: string, n: number) => `task-${keyOf(deviceId, n)}`;

  it.each(outcomes)('performance 4: settle a task as $kind like endTask and addNotification', async (outcome) => {
    await fill();
    const before = await rowsOf(one.function);
    const acted = new Set<string>();
    for (const [n, { state }] of cases.entries()) {
      const taskId = taskOf(one.function, n);
      const settled = await settleTask(database, {
        ...{ deviceId: one.function, taskId, outcome, windowMs: 1_000 },
        nativeId: n % 3 === 0 ? undefined : String(n + 1),
      });
      if (!settled) {
        expect((await rowsOf(one.function))[n]).toEqual(before[n]);
        continue;
      }
      acted.add(state);
      await withDevice(database, one.statements, async (tx) => {
        expect(await endTask(tx, taskOf(one.statements, n), outcome)).toBe('ended');
        const cause = outcome.kind === 'completed' ? 'done' : 'failed';
        const ended = { sessionKey: keyOf(one.statements, n), cause, taskId: taskOf(one.statements, n) } as const;
        expect(await addNotification(tx, { ...ended, windowMs: 1_000 })).toBe(settled.notified);
      });
    }
    expect([...acted]).toEqual(outcome.kind === 'completed' ? taskMoves.complete.from : taskMoves.fail.from);
    expect(await rowsOf(one.function)).toEqual(await rowsOf(one.statements));
  });

  it('performance 4: confirm a task like startRunning', async () => {
    await fill();
    for (const n of cases.keys()) {
      const deviceId = one.function;
      expect(await confirmTask(database, { deviceId }, taskOf(deviceId, n), 'another name')).toBeUndefined();
      expect(await confirmTask(database, { deviceId, fence: 6 }, taskOf(deviceId, n))).toBeUndefined();
      expect(await confirmTask(database, { deviceId, fence: 7 }, taskOf(deviceId, n))).toBeDefined();
      await withDevice(database, one.statements, (tx) => startRunning(tx, taskOf(one.statements, n)));
    }
    expect(await rowsOf(one.function)).toEqual(await rowsOf(one.statements));
  });

  it('performance 4: claim tasks like claimTasks', async () => {
    await fill();
    const { tasks } = await claimOwned(database, { deviceId: one.function, fence: 7 });
    const claimed = await withDevice(database, one.statements, (tx) => claimTasks(tx, one.statements, 7));
    const own = tasks.map(({ id, sessionKey, ...task }) => ({
      ...task,
      id: id.length > 0,
      sessionKey: sessionKey.length > 0,
    }));
    expect(own).toEqual(claimed.map((task) => ({ ...task, id: true, sessionKey: true })));
    expect(own.length).toBeGreaterThan(3);
    expect(await rowsOf(one.function)).toEqual(await rowsOf(one.statements));
  });

  it('contain the states of the table of moves', () => {
    for (const [name, { from, to }] of Object.entries(taskMoves).filter(([name]) =>
      /^(claim|confirm|complete|fail)$/.test(name),
    ))
      expect([name, turnFunctions.sql]).toEqual([
        name,
        expect.stringMatching(
          new RegExp(`SET state = '${to}'[^;]*state IN \\(${from.map((state) => `'${state}'`).join(', ')}\\)`),
        ),
      ]);
  });
});
