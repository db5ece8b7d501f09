/**
 * Messages, completions and cut connections in random orders: each message reaches the agent at most once, the relay loses a message only as
 * `unknown`, and its states match the deliveries to the agent. STEER_ROUNDS (4) and STEER_SEED choose how many and which.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Frame,
  type TestApp,
  type TestDaemon,
  type TestRelay,
  connectApp,
  connectDaemon,
  startRelay,
} from '@relay/testing';
import { userItemUuid } from '@relay/protocol/identity';
import { idOf, readSession, readTask, run, say, until } from './conversation.ts';

const rounds = Number(process.env['STEER_ROUNDS'] ?? 4);
const firstSeed = Number(process.env['STEER_SEED'] ?? 1);
const capabilities = ['transcript', 'prompts', 'steer'] as const;

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

/** A daemon with its agent, which survive their connections. */
class Machine {
  /** The task whose turn runs, as the daemon knows. */
  turn: string | undefined;
  /** The deliveries to the agent by task: as a prompt or into a turn. */
  readonly got = new Map<string, string[]>();
  readonly items: { uuid: string; role: string; content: string; timestamp: string }[] = [];
  /** Steers that were read but lack an outcome. */
  readonly pending: Frame[] = [];
  /** Outcomes that might not have arrived: sent again at the next connection. */
  readonly owed: Record<string, unknown>[] = [];
  /** Completed tasks, which each new connection reports again. */
  readonly ends: string[] = [];
  daemon: TestDaemon | undefined;
  readonly native: string;
  readonly random: () => number;

  constructor(native: string, random: () => number) {
    this.native = native;
    this.random = random;
  }

  attach(daemon: TestDaemon): void {
    this.daemon = daemon;
    daemon.socket.on('message', (data: Buffer) => this.#take(JSON.parse(data.toString('utf8')) as Frame, daemon));
  }

  #take(frame: Frame, daemon: TestDaemon): void {
    const { type, task_id: taskId, session_id: native, message } = frame as Record<string, string>;
    if (type === 'get_messages')
      daemon.send({
        type: 'messages',
        request_id: frame['request_id'],
        session_id: native,
        messages: native === this.native ? this.items : [],
        has_more: false,
      });
    if (native !== this.native || taskId === undefined) return;
    if (type === 'task_resume') {
      this.note(taskId, 'prompt', message!);
      this.turn = taskId;
      this.emit({ type: 'event', event_type: 'PROGRESS', task_id: taskId, session_id: native, action: 'Thinking' });
    }
    if (type === 'task_steer') this.pending.push(frame);
  }

  note(taskId: string, how: string, content: string): void {
    this.got.set(taskId, [...(this.got.get(taskId) ?? []), how]);
    this.items.push({ uuid: userItemUuid(taskId), role: 'USER', content, timestamp: new Date().toISOString() });
  }

  emit(frame: Record<string, unknown>): void {
    if (this.daemon?.socket.readyState === 1) this.daemon.send(frame as Frame);
  }

  /** Reports the outcome of the oldest pending message. */
  settle(): void {
    const frame = this.pending.shift() as Record<string, string> | undefined;
    if (!frame) return;
    const { task_id: taskId, into, message } = frame as { task_id: string; into: string; message: string };
    const outcome = this.turn !== into ? 'not_running' : this.random() < 0.2 ? 'refused' : 'injected';
    if (outcome === 'injected') this.note(taskId, 'steer', message);
    const event = { type: 'event', event_type: 'STEERED', task_id: taskId, session_id: this.native, outcome };
    this.owed.push(event);
    this.emit(event);
  }

  end(): void {
    const { turn } = this;
    if (turn === undefined) return;
    this.turn = undefined;
    this.ends.push(turn);
    this.emit({
      type: 'event',
      event_type: 'TASK_COMPLETE',
      task_id: turn,
      session_id: this.native,
      result: `end of ${turn}`,
    });
  }

  hello(): Frame[] {
    const ends = this.ends.map((task) => ({
      type: 'event',
      event_type: 'TASK_COMPLETE',
      task_id: task,
      session_id: this.native,
      result: `end of ${task}`,
    }));
    const running = [
      ...(this.turn === undefined ? [] : [this.turn]),
      ...this.pending.map((frame) => String(frame['task_id'])),
    ];
    return [...this.owed, ...ends, { type: 'status', running_tasks: running }] as Frame[];
  }
}

const settledStates = new Set(['completed', 'failed', 'unknown', 'cancelled', 'expired']);

describe('random orders of messages, completions and cut connections', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;
  beforeAll(async () => {
    relay = await startRelay({
      gateways: 2,
      apis: 2,
      config: { statusWaitMs: 60_000, outcomeAskMs: 1, sweepIntervalMs: 200 },
    });
    daemon = await connectDaemon(relay, { capabilities });
    app = await connectApp(relay);
  });
  afterAll(() => relay.stop());

  it.each(Array.from({ length: rounds }, (_, index) => firstSeed + index))(
    'keep the promise (seed %s)',
    async (seed) => {
      const random = randomOf(seed);
      const native = `round-${seed}`;
      const { taskId: into } = await run(relay, daemon, app, native);
      const id = idOf(daemon, native);
      const machine = new Machine(native, random);
      machine.turn = into;
      machine.note(into, 'prompt', 'begin');
      machine.attach(daemon);
      const sent: string[] = [];
      /** A connection dropped, perhaps with a message whose outcome was not known. */
      let isCut = false;
      for (let step = 0; step < 10; step++) {
        const roll = random();
        if (roll < 0.35 && sent.length < 6) sent.push(await say(relay, id, `words ${step}`, { deliver: 'now' }));
        else if (roll < 0.45 && sent.length < 6) sent.push(await say(relay, id, `queued ${step}`));
        else if (roll < 0.7) machine.settle();
        else if (roll < 0.85) machine.end();
        else {
          isCut = true;
          const isKilled = random() < 0.5;
          await daemon.drop();
          // A killed daemon forgets its pending messages and the outcomes that it owes.
          if (isKilled) {
            machine.pending.splice(0);
            machine.owed.splice(0);
          }
          daemon = await connectDaemon(relay, {
            registration: daemon.registration,
            capabilities,
            gateway: random() < 0.5 ? 0 : 1,
            hello: [],
          });
          machine.attach(daemon);
          for (const frame of machine.hello()) daemon.send(frame);
        }
      }
      // The daemon answers everything now, until every task settled.
      const states = new Map<string, { kind: string; state: string }>();
      const isOver = async () => {
        machine.settle();
        if (machine.pending.length === 0) machine.end();
        for (const task of sent) states.set(task, await readTask(relay, task));
        const isHeld = (await readSession(relay, id))?.lastTask?.code === 'DELIVERY_UNKNOWN';
        // An ordinary message whose delivery is unknown holds the queue until the next one.
        if (isHeld && machine.turn === undefined && sent.length < 20) sent.push(await say(relay, id, 'go on'));
        return states.size === sent.length && [...states.values()].every(({ state }) => settledStates.has(state));
      };
      await until(isOver).catch((error: unknown) => {
        throw new Error(JSON.stringify({ seed, states: [...states], turn: machine.turn }), { cause: error });
      });
      for (const [task, { kind, state }] of states) {
        const how = machine.got.get(task) ?? [];
        expect([seed, task, how.length]).toEqual([seed, task, Math.min(how.length, 1)]);
        if (state === 'completed')
          expect([seed, kind, how]).toEqual([seed, kind, [kind === 'steer' ? 'steer' : 'prompt']]);
        else expect([seed, state, isCut]).toEqual([seed, 'unknown', true]);
      }
    },
  );
});
