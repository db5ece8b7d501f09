/**
 * The state machine of tasks, against the real functions and a real database: for any sequence of steps, each step
 * makes only its own moves of the table (rules, 2.2). The rules of order and of sessions are the model's own.
 */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ulid } from 'ulid';
import {
  type Database,
  type Db,
  type Outcome,
  cancelTask,
  claimTasks,
  type MoveName,
  createSession,
  editQueued,
  endTask,
  enqueueMessage,
  expireTasks,
  markLost,
  markUnknown,
  moveQueued,
  resolveSession,
  startRunning,
  taskMoves,
  unclaimTask,
  withDevice,
  withdrawQueued,
} from '../src/index.ts';
import { onBoth } from './databases.ts';

type State =
  'later' | 'queued' | 'sent' | 'running' | 'completed' | 'failed' | 'waiting' | 'cancelled' | 'unknown' | 'expired';

interface TaskRow {
  id: string;
  seq: number;
  /** Position in the queue of its session. */
  place: number;
  sentMs: number;
  session: string;
  kind: 'start' | 'resume';
  state: State;
  late: boolean;
  finished: boolean;
  code: string | null;
  instruction: string;
  fence: number | null;
}

interface SessionRow {
  key: string;
  status: string;
  held: boolean;
  placeholder: boolean;
  prompted: boolean;
  promptSeq: number;
}

interface World {
  tasks: Map<string, TaskRow>;
  sessions: Map<string, SessionRow>;
}

/** The moves of the table that each step can cause. */
const movesOf: Record<Step['do'], readonly MoveName[]> = {
  create: [],
  enqueue: [],
  reconnect: [],
  resolve: [],
  claim: ['claim'],
  unclaim: ['unclaim'],
  start: ['confirm'],
  end: ['complete', 'fail', 'ask', 'completeLate', 'failLate', 'askLate', 'strand'],
  unknown: ['unknown', 'strand'],
  lost: ['lose', 'strand'],
  expire: ['expire', 'strand'],
  cancel: ['cancel', 'dismiss', 'strand'],
  withdraw: ['withdraw', 'strand'],
  swap: [],
  edit: [],
};
const queueLimit = 3;
/** The same walk in every run; another one with `SEED=… npm test -- task-machine`. */
const seed = Number(process.env.SEED ?? 20);
/** Few, so that much happens to each of them. */
const maxSessions = 3;
/** Two sessions that have a name and have begun, so that there is something to wait behind. */
const beginnings: readonly Step[] = [
  { do: 'create' },
  { do: 'create' },
  { do: 'resolve', pick: 0 },
  { do: 'resolve', pick: 1 },
  { do: 'claim' },
];
const longMs = 3_600_000;

type Step =
  | { do: 'create' | 'claim' | 'reconnect' | 'expire' }
  | { do: 'enqueue'; pick: number; inTime: boolean }
  | { do: 'cancel' | 'withdraw' | 'swap' | 'edit' | 'start' | 'unclaim' | 'unknown' | 'lost' | 'resolve'; pick: number }
  | { do: 'end'; pick: number; outcome: Outcome['kind'] };

const pick = fc.nat({ max: 30 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.constant<Step>({ do: 'create' }) },
  { weight: 5, arbitrary: fc.constant<Step>({ do: 'claim' }) },
  { weight: 1, arbitrary: fc.constantFrom<Step>({ do: 'reconnect' }, { do: 'expire' }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('enqueue' as const),
      pick,
      inTime: fc.integer({ min: 0, max: 2 }).map((n) => n > 0),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('start' as const), pick }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom('withdraw' as const, 'swap' as const, 'edit' as const), pick }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('resolve' as const), pick }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('cancel' as const, 'unclaim' as const, 'unknown' as const, 'lost' as const),
      pick,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('end' as const),
      pick,
      outcome: fc.constantFrom('completed' as const, 'failed' as const, 'waiting' as const),
    }),
  },
);

const isCorrectable = ({ state }: TaskRow) => state === 'waiting' || state === 'failed';

/**
 * From this value on, a pick means the open task of the picked session, else the newest task with a correctable
 * outcome.
 */
const scenePick = 1000;

/**
 * Cases that chance alone seldom reaches: an unknown delivery, a lost task that completes after all, a question whose
 * answer is given back, a queue of two.
 */
const scene = fc
  .record({
    pick: fc.integer({ min: scenePick, max: scenePick + 30 }),
    about: fc.constantFrom('unknown', 'lost', 'asks', 'dismissed', 'swap'),
    inTime: fc.constant(true),
    outcome: fc.constantFrom('completed' as const, 'failed' as const, 'waiting' as const),
  })
  .map(({ pick, about, inTime, outcome }): Step[] => {
    const more: Step = { do: 'enqueue', pick, inTime };
    const claim: Step = { do: 'claim' };
    if (about === 'dismissed') return [more, claim, { do: 'end', pick, outcome: 'waiting' }, { do: 'cancel', pick }];
    if (about === 'swap') return [more, claim, more, more, { do: 'swap', pick }, { do: 'end', pick, outcome }, claim];
    if (about === 'lost')
      return [more, claim, { do: 'start', pick }, { do: 'lost', pick }, { do: 'end', pick, outcome }];
    if (about === 'unknown') return [more, claim, more, { do: 'unknown', pick }, claim];
    return [
      more,
      claim,
      more,
      { do: 'end', pick, outcome: 'waiting' },
      claim,
      more,
      claim,
      { do: 'unclaim', pick },
      claim,
    ];
  });
const steps = fc
  .array(fc.oneof({ weight: 8, arbitrary: step.map((one) => [one]) }, { weight: 1, arbitrary: scene }), {
    minLength: 8,
    maxLength: 30,
  })
  .map((scenes) => scenes.flat());

onBoth('the states of tasks', (open) => {
  let database: Database;

  beforeAll(async () => {
    database = await open();
  });
  afterAll(() => database.close());

  /** One statement, because it follows each step. */
  const look = async (db: Db, deviceId: string): Promise<World> => {
    const [row] = await db.sql.query<{ tasks: TaskRow[] | null; sessions: SessionRow[] | null }>`
      SELECT (SELECT jsonb_agg(t ORDER BY t.seq) FROM (
          SELECT id, seq, COALESCE(place, seq) AS place, COALESCE(extract(epoch FROM sent_at), 0)::float8 * 1000 AS "sentMs", session_key AS session, kind, state, expires_at <= now() AS late, finished_at IS NOT NULL AS finished, error_code AS code, instruction, fence
          FROM tasks WHERE device_id = ${deviceId}) t) AS tasks,
        (SELECT jsonb_agg(s ORDER BY s.key) FROM (
          SELECT key, status, queue_held AS held, placeholder, prompt IS NOT NULL AS prompted, prompt_seq AS "promptSeq"
          FROM sessions WHERE device_id = ${deviceId}) s) AS sessions`;
    return {
      tasks: new Map((row!.tasks ?? []).map((task) => [task.id, task])),
      sessions: new Map((row!.sessions ?? []).map((session) => [session.key, session])),
    };
  };

  const of = (world: World, session: string, ...states: State[]) =>
    [...world.tasks.values()].filter((task) => task.session === session && states.includes(task.state));
  /** The queued tasks, by place. */
  const queued = (world: World, session: string) =>
    of(world, session, 'queued')
      .filter((task) => !task.late)
      .sort((a, b) => a.place - b.place);

  /** Checks the invariants that hold whenever no step is under way. */
  const checkRest = (world: World) => {
    for (const task of world.tasks.values()) {
      const over = !['queued', 'sent', 'running'].includes(task.state);
      expect([task.id, task.finished]).toEqual([task.id, over]);
      expect([task.id, task.instruction === '']).toEqual([task.id, over]);
    }
    for (const session of world.sessions.values()) {
      const underWay = of(world, session.key, 'sent', 'running');
      expect(underWay.length).toBeLessThanOrEqual(1);
      if (underWay.length === 1) expect(['active', 'pending']).toContain(session.status);
      else expect(session.status).not.toBe('active');
      if (session.status === 'waiting') expect(session.prompted).toBe(true);
      // One more than the limit: a returned claim can find its place taken.
      expect(queued(world, session.key).length).toBeLessThanOrEqual(queueLimit + 1);
      // A task queued after a nameless finished first task would wait in vain.
      const starting = of(world, session.key, 'queued', 'sent', 'running').some(
        (task) => task.kind === 'start' && !(task.state === 'queued' && task.late),
      );
      if (session.placeholder && !starting && of(world, session.key, 'expired').length === 0) {
        const late = of(world, session.key, 'queued').some((task) => task.kind === 'start');
        if (!late) expect(queued(world, session.key).filter((task) => task.kind === 'resume')).toEqual([]);
      }
    }
  };

  /** Neither answers a question nor waits behind one: its place is all that counts. */
  const isBehind = (session: SessionRow) => (task: TaskRow) => task.seq > session.promptSeq;

  /** Cases that count as tested only once they have occurred. */
  const seen = { heldBack: 0, answered: 0, backToWaiting: 0, swapped: 0, edited: 0, made: new Set<MoveName>() };

  const checkMoves = (before: World, after: World, done: Step) => {
    for (const [id, old] of before.tasks) {
      const now = after.tasks.get(id)!;
      if (now.state === old.state) continue;
      const made = movesOf[done.do].find((name) => {
        const { from, to, code }: { from: readonly State[]; to: State; code?: string } = taskMoves[name];
        const isReason = code === undefined ? now.code === null || now.code === 'AGENT_ERROR' : now.code === code;
        return from.includes(old.state) && to === now.state && isReason;
      });
      expect([done.do, old.state, now.state, now.code, made]).toEqual([
        done.do,
        old.state,
        now.state,
        now.code,
        expect.any(String),
      ]);
      if (made) seen.made.add(made);
    }
  };

  const checkClaim = (before: World, claimed: { id: string; sessionKey: string }[]) => {
    expect(new Set(claimed.map((task) => task.sessionKey)).size).toBe(claimed.length);
    for (const { id, sessionKey } of claimed) {
      const task = before.tasks.get(id)!;
      const session = before.sessions.get(sessionKey)!;
      expect([task.state, task.late, session.held]).toEqual(['queued', false, false]);
      expect(of(before, sessionKey, 'sent', 'running')).toEqual([]);
      if (session.status === 'waiting') expect(task.seq).toBeGreaterThan(session.promptSeq);
      // In order: a skipped earlier task is older than a question that this one answers.
      for (const earlier of queued(before, sessionKey).filter((other) => other.place < task.place)) {
        expect(earlier.seq).toBeLessThanOrEqual(session.promptSeq);
        expect(task.seq).toBeGreaterThan(session.promptSeq);
      }
    }
    const seqs = claimed.map(({ id }) => before.tasks.get(id)!.seq);
    expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
    // Nothing that is due is forgotten.
    for (const session of before.sessions.values()) {
      const due = queued(before, session.key).filter(
        (task) =>
          (task.kind === 'start' || !session.placeholder) &&
          (session.status !== 'waiting' || task.seq > session.promptSeq),
      );
      const free = !session.held && of(before, session.key, 'sent', 'running').length === 0;
      if (free && due.length > 0) expect(claimed.map((task) => task.sessionKey)).toContain(session.key);
    }
  };

  it('follow the table, for any sequence of steps', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (done) => {
        const device = { id: ulid(), ownerId: 'alice', agentType: 'scripted' };
        await database.models.device.create({
          data: { ...device, name: 'd', hostname: 'h', tokenHash: ulid() },
        });
        let fence = 1;
        let after: World = { tasks: new Map(), sessions: new Map() };
        /** Written to a socket: claimed, and not given back. */
        const written = new Set<string>();
        /** How the session was when the task was claimed. */
        const claimedFrom = new Map<string, string>();
        for (const current of [...beginnings, ...done]) {
          // Nothing but the steps changes this device.
          const before = after;
          const tasks = [...before.tasks.values()];
          const sessions = [...before.sessions.values()];
          // Prefer open tasks, where most moves happen.
          const live = tasks.filter((one) => one.state === 'sent' || one.state === 'running');
          const among = live.length > 0 && 'pick' in current && current.pick % 5 > 0 ? live : tasks;
          const session = 'pick' in current ? sessions[current.pick % Math.max(1, sessions.length)] : undefined;
          const ofSession = (one: TaskRow) => one.session === session?.key;
          const own = live.find(ofSession) ?? tasks.filter((one) => ofSession(one) && isCorrectable(one)).at(-1);
          const task =
            'pick' in current
              ? (current.pick >= scenePick && own) || among[current.pick % Math.max(1, among.length)]
              : undefined;
          await withDevice(database, device.id, async (tx) => {
            switch (current.do) {
              case 'create':
                if (sessions.length === maxSessions) return;
                await createSession(tx, {
                  ownerId: device.ownerId,
                  deviceId: device.id,
                  agentType: device.agentType,
                  message: 'begin',
                  title: undefined,
                  projectPath: '',
                  ttlMs: longMs,
                });
                return;
              case 'enqueue': {
                if (!session) return;
                const enqueued = await enqueueMessage(tx, {
                  key: session.key,
                  deviceId: device.id,
                  ownerId: device.ownerId,
                  content: 'more',
                  ttlMs: current.inTime ? longMs : -1,
                  queueLimit,
                });
                const starting = [...queued(before, session.key), ...of(before, session.key, 'sent', 'running')].some(
                  (one) => one.kind === 'start',
                );
                const waiting = queued(before, session.key);
                // Nothing else moves the queue.
                const isAwaited =
                  session.held || (session.status === 'waiting' && !waiting.some(({ seq }) => seq > session.promptSeq));
                const expected =
                  session.placeholder && !starting
                    ? 'unresolved'
                    : waiting.length >= queueLimit && !isAwaited
                      ? 'full'
                      : 'queued';
                expect(enqueued.kind).toBe(expected);
                return;
              }
              case 'claim': {
                const claimed = await claimTasks(tx, device.id, fence);
                for (const session of before.sessions.values()) {
                  if (session.held && queued(before, session.key).length > 0) seen.heldBack += 1;
                  if (session.status === 'waiting' && queued(before, session.key).length > 0) seen.answered += 1;
                }
                checkClaim(before, claimed);
                for (const { id } of claimed) {
                  expect(written.has(id)).toBe(false);
                  written.add(id);
                  claimedFrom.set(id, before.sessions.get(before.tasks.get(id)!.session)!.status);
                }
                return;
              }
              case 'unclaim':
                if (!task) return;
                await unclaimTask(tx, task.id, fence);
                if (task.state === 'sent' && task.fence === fence) written.delete(task.id);
                return;
              case 'reconnect':
                fence += 1;
                return;
              case 'start':
                if (task) expect(await startRunning(tx, task.id)).toBe(task.state === 'sent');
                return;
              case 'end': {
                if (!task) return;
                const outcomes: Record<Outcome['kind'], Outcome> = {
                  completed: { kind: 'completed', result: 'done' },
                  failed: { kind: 'failed', code: 'AGENT_ERROR', error: 'no' },
                  waiting: {
                    kind: 'waiting',
                    prompt: { prompt: 'Yes?', result: '', options: [], at: new Date().toISOString() },
                  },
                };
                const ended = await endTask(tx, task.id, outcomes[current.outcome]);
                expect(ended === 'ended').toBe(task.state === 'sent' || task.state === 'running');
                return;
              }
              case 'unknown':
              case 'lost': {
                if (!task) return;
                const mark = current.do === 'unknown' ? markUnknown : markLost;
                const keys = await mark(tx, [task.id, 'nobody']);
                expect(keys).toEqual(
                  task.state === (current.do === 'unknown' ? 'sent' : 'running') ? [task.session] : [],
                );
                return;
              }
              case 'expire':
                await expireTasks(tx, device.id);
                return;
              case 'cancel': {
                if (!session) return;
                // In a waiting session: the unsent answer, else the question itself (K14), else the next queued task.
                const waits = session.status === 'waiting';
                const open = queued(before, session.key);
                const [victim] = [
                  ...of(before, session.key, 'sent', 'running'),
                  ...(waits ? open.filter(({ seq }) => seq > session.promptSeq) : []),
                  ...(waits
                    ? of(before, session.key, 'waiting')
                        .sort((a, b) => a.sentMs - b.sentMs || a.seq - b.seq)
                        .slice(-1)
                    : []),
                  ...open,
                ];
                expect(await cancelTask(tx, session.key)).toEqual(
                  victim && { taskId: victim.id, daemonHasIt: victim.state !== 'queued' },
                );
                return;
              }
              case 'withdraw':
              case 'swap':
              case 'edit': {
                if (!session) return;
                const line = queued(before, session.key);
                const [first, last] = [line[0], line.at(-1)];
                if (!first || !last) return;
                if (current.do === 'withdraw')
                  expect(await withdrawQueued(tx, session.key, last.id)).toEqual([last.id]);
                else if (current.do === 'edit') {
                  expect(await editQueued(tx, session.key, first.id, 'other words')).toBe(true);
                  seen.edited += 1;
                } else if (first !== last && first.kind === 'resume' && line.every(isBehind(session))) {
                  expect(await moveQueued(tx, session.key, last.id, { before: first.id })).toBe(true);
                  seen.swapped += 1;
                }
                return;
              }
              case 'resolve':
                if (session?.placeholder) await resolveSession(tx, device.id, session.key, ulid(), true);
                return;
            }
          });
          after = await look(database, device.id);
          checkMoves(before, after, current);
          if (
            current.do === 'unclaim' &&
            task &&
            after.tasks.get(task.id)!.state === 'queued' &&
            task.state === 'sent'
          ) {
            if (claimedFrom.get(task.id) === 'waiting') seen.backToWaiting += 1;
            expect(after.sessions.get(task.session)!.status === 'waiting').toBe(claimedFrom.get(task.id) === 'waiting');
          }
          checkRest(after);
          if (current.do === 'expire')
            for (const one of after.tasks.values()) expect(one.state === 'queued' && one.late).toBe(false);
          for (const one of after.tasks.values()) if (one.state === 'sent') expect(one.fence).not.toBeNull();
        }
      }),
      { numRuns: 25, seed },
    );
    const { made, ...times } = seen;
    expect(Object.entries(times).filter(([, count]) => count === 0)).toEqual([]);
    // The others need a history, a restore, a question with a name, a deletion, or a message into a turn (apps/gateway/test/steer.test.ts).
    const steers: MoveName[] = ['release', 'overtake', 'shelve', 'inject', 'land', 'drop', 'requeue', 'stray'];
    const others: MoveName[] = [...steers, 'find', 'doubt', 'miss', 'supersede', 'remove', 'erase'];
    expect((Object.keys(taskMoves) as MoveName[]).filter((name) => !made.has(name) && !others.includes(name))).toEqual(
      [],
    );
  }, 300_000);
});
