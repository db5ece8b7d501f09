/**
 * Messages into a turn, its completion and lost daemons in random orders, without sockets: the agent gets each message at most once, the relay
 * loses one only as unknown, and steers keep their order (rules, chapter 23). STEER_ROUNDS (50) and STEER_SEED choose how many and which.
 */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  type Database,
  type Db,
  cancelTask,
  claimTasks,
  createSession,
  endTask,
  enqueueMessage,
  markLost,
  markUnknown,
  noteSteer,
  requeueLateSteers,
  resolveSession,
  runningTask,
  startRunning,
  steerQueued,
  withDevice,
} from '../src/index.ts';
import { device, onBoth } from './databases.ts';

const firstSeed = Number(process.env['STEER_SEED'] ?? 1);
const interleavings = Number(process.env['STEER_ROUNDS'] ?? 50);
const steps = 8;
const longMs = 3_600_000;

/** mulberry32 */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

interface Said {
  id: string;
  /** How the agent got it. */
  got: ('prompt' | 'steer')[];
  /** Messages on their way into the turn before it. */
  after: readonly string[];
}

/** A relay with one session, and the daemon with its agent. Every step is a step of the real functions. */
class Scene {
  /** The task whose turn runs at the agent. */
  turn: string | undefined;
  /** Steers that the daemon has and did not report. */
  inFlight: { id: string; into: string }[] = [];
  readonly said: Said[] = [];
  /** Ids in the order of their delivery to the agent. */
  readonly arrived: string[] = [];
  fence = 1;
  isCut = false;
  isCancelled = false;
  readonly tx: Db;
  readonly deviceId: string;
  readonly key: string;
  readonly random: () => number;

  constructor(tx: Db, deviceId: string, key: string, random: () => number) {
    [this.tx, this.deviceId, this.key, this.random] = [tx, deviceId, key, random];
  }

  of(id: string): Said {
    return this.said.find((one) => one.id === id)!;
  }

  async say(isNow: boolean): Promise<void> {
    const { tx, key, deviceId } = this;
    const about = { key, deviceId, ownerId: 'user-1', content: 'more', ttlMs: longMs, queueLimit: 100 };
    const enqueued = await enqueueMessage(tx, { ...about, answers: null });
    if (enqueued.kind !== 'queued') throw new Error(enqueued.kind);
    const into = isNow ? await runningTask(tx, key) : undefined;
    const before = into === undefined ? [] : (await this.states()).filter(isUnderWay);
    this.said.push({ id: enqueued.taskId, got: [], after: before.map(({ id }) => id) });
    if (into !== undefined) expect(await steerQueued(tx, enqueued.taskId, into)).toBe(true);
  }

  async claim(): Promise<void> {
    for (const { id, kind, into } of await claimTasks(this.tx, this.deviceId, this.fence)) {
      if (kind === 'steer') this.inFlight.push({ id, into: into! });
      else {
        this.reach(id, 'prompt');
        this.turn = id;
        await startRunning(this.tx, id);
      }
    }
  }

  /** The daemon reports the outcome of its oldest steer, perhaps twice. */
  async settle(): Promise<void> {
    const steer = this.inFlight.shift();
    if (!steer) return;
    const roll = this.random();
    const outcome =
      this.turn !== steer.into ? 'not_running' : roll < 0.2 ? 'refused' : roll < 0.3 ? 'dropped' : 'injected';
    if (outcome === 'injected') this.reach(steer.id, 'steer');
    await noteSteer(this.tx, this.deviceId, steer.id, outcome);
    if (this.random() < 0.3) await noteSteer(this.tx, this.deviceId, steer.id, outcome);
  }

  /** The agent gets it. */
  reach(id: string, how: 'prompt' | 'steer'): void {
    this.of(id).got.push(how);
    this.arrived.push(id);
  }

  async end(): Promise<void> {
    const { turn, tx } = this;
    if (turn === undefined) return;
    this.turn = undefined;
    if (this.random() < 0.7) await endTask(tx, turn, { kind: 'completed', result: 'done' });
    else await endTask(tx, turn, { kind: 'failed', code: 'AGENT_ERROR', error: 'no' });
  }

  /** The daemon dies. The history has a steer that the agent got. */
  async cut(): Promise<void> {
    this.isCut = true;
    this.fence += 1;
    const { tx, deviceId, turn } = this;
    for (const { id, into } of this.inFlight.splice(0)) {
      if (turn === into && this.random() < 0.5) {
        this.reach(id, 'steer');
        await noteSteer(tx, deviceId, id, 'injected');
      } else await markUnknown(tx, [id]);
    }
    if (turn !== undefined) await markLost(tx, [turn]);
    this.turn = undefined;
  }

  async cancel(): Promise<void> {
    const cancelled = await cancelTask(this.tx, this.key, { onlyRunning: true });
    if (cancelled?.taskId !== this.turn || this.turn === undefined) return;
    this.isCancelled = true;
    this.turn = undefined;
  }

  /** Steers wait for too long. */
  async late(): Promise<void> {
    await this.tx.sql.execute`
      UPDATE tasks SET into_until = now() - interval '1 second' WHERE session_key = ${this.key} AND kind = 'steer' AND state = 'queued'`;
    await requeueLateSteers(this.tx, this.deviceId);
  }

  step(): Promise<void> {
    const roll = this.random();
    if (roll < 0.3) return this.say(true);
    if (roll < 0.38) return this.say(false);
    if (roll < 0.6) return this.claim();
    if (roll < 0.75) return this.settle();
    if (roll < 0.87) return this.end();
    if (roll < 0.92) return this.cut();
    return roll < 0.96 ? this.cancel() : this.late();
  }

  states() {
    return this.tx.sql.query<{ id: string; kind: string; state: string; code: string | null }>`
      SELECT id, kind, state, error_code AS code FROM tasks WHERE session_key = ${this.key} ORDER BY seq`;
  }
}

const isUnderWay = ({ kind, state }: { kind: string; state: string }) =>
  kind === 'steer' && (state === 'queued' || state === 'sent');
const settled = new Set(['completed', 'failed', 'unknown', 'cancelled']);

onBoth('messages into a turn', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });
  afterAll(() => database.close());

  const interleave = async (tx: Db, deviceId: string, seed: number) => {
    const message = { ownerId: 'user-1', deviceId, agentType: 'claude', message: 'begin', title: undefined };
    const { key, taskId } = await createSession(tx, { ...message, projectPath: '', ttlMs: longMs });
    const scene = new Scene(tx, deviceId, key, randomOf(seed));
    scene.said.push({ id: taskId, got: [], after: [] });
    await scene.claim();
    await resolveSession(tx, deviceId, key, `native-${seed}`, true);
    for (let step = 0; step < steps; step += 1) await scene.step();
    let states = await scene.states();
    for (let round = 0; states.some(({ state }) => !settled.has(state)); round += 1) {
      expect([seed, round < 50]).toEqual([seed, true]);
      await scene.claim();
      await scene.settle();
      if (scene.inFlight.length === 0) await scene.end();
      states = await scene.states();
    }
    for (const { id, kind, state, code } of states) {
      const { got, after } = scene.of(id);
      const about = [seed, id, kind, state, code];
      expect([...about, got.length <= 1]).toEqual([...about, true]);
      if (state === 'completed') expect([...about, got]).toEqual([...about, [kind === 'steer' ? 'steer' : 'prompt']]);
      if (code === 'STEER_DROPPED') expect([...about, got]).toEqual([...about, []]);
      if (state === 'unknown') expect([...about, scene.isCut]).toEqual([...about, true]);
      const place = scene.arrived.indexOf(id);
      const overtaken = after.filter((other) => place >= 0 && scene.arrived.indexOf(other) > place);
      expect([...about, overtaken]).toEqual([...about, []]);
      if (state === 'cancelled') expect([...about, scene.isCancelled]).toEqual([...about, true]);
    }

    return states.length;
  };

  it('keep the promise in random orders, while turns complete, daemons die and people cancel', async () => {
    let tasks = 0;
    for (let seed = firstSeed; seed < firstSeed + interleavings; seed += 1) {
      const id = `device-${seed}`;
      await database.models.device.create({ data: device(id) });
      tasks += await withDevice(database, id, (tx) => interleave(tx, id, seed));
    }
    expect(tasks).toBeGreaterThan(2 * interleavings);
  }, 600_000);
});
