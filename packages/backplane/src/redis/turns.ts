/**
 * Gathers what one turn of the event loop has to say and says it at once: one command per server and turn (per partition in a
 * cluster), whatever the number of operations, and one PUBLISH per channel beside it. All of it leaves in one write. It knows
 * nothing of what is said.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { BackplaneError } from '../errors.ts';
import { tagged } from './names.ts';
import { MovedError, type RedisServer } from './server.ts';
import { unavailable } from './connection.ts';

interface Operation {
  readonly args: readonly string[];
  size: number;
  /** By `performance.now()`: put between the second argument and the others, in Redis time. */
  readonly deadline: number | undefined;
  /** Of what is said: the texts so far, and how they are brought. */
  readonly talk: { readonly texts: string[]; readonly bring: Bring; readonly answer: Promise<unknown> } | undefined;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/**
 * How texts that were said to the same listeners in one turn get there, in their order: as one operation of the script, or as one
 * message in a channel. `until` is the time (Redis, ms since 1970) when who said them has given up.
 */
export type Bring = (
  texts: readonly string[],
  until: number,
) => { operation: string[] } | { channel: string; text: string };

interface Lane {
  readonly partition: number;
  waiting: Operation[];
  /** Of those that wait, what may be joined by more texts for the same listeners. */
  readonly talks: Map<string, Operation>;
  scheduled: boolean;
  /** Commands that are not answered yet. */
  inFlight: number;
}

/** Operations and characters in one command: Redis serves nobody else meanwhile. */
const maxOperations = 256;
const maxCharacters = 1024 * 1024;
/** Commands under way in a lane: past it operations gather for the next ones, which costs less than each on its own. */
const maxCommands = 2;
/** Characters that are said together: whoever listens reads nothing else meanwhile. */
const maxTogether = 64 * 1024;

export interface TurnsOptions {
  readonly sharded: boolean;
  /** Characters that may wait for answers; past it operations are refused. */
  readonly maxInFlight: number;
  serverOf(partition: number): RedisServer | undefined;
}

export class Turns {
  readonly #options: TurnsOptions;
  readonly #lanes = new Map<number, Lane>();
  #inFlight = 0;

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  /**
   * Sends `args` with the others of this turn; operations on one partition are carried out in the order of the calls.
   * @throws BackplaneError OVERLOADED: nothing was sent; UNAVAILABLE: it may have been carried out, but never is from now on
   */
  run(partition: number, args: readonly string[], deadline?: number): Promise<unknown> {
    let size = 0;
    for (const arg of args) size += arg.length;
    if (this.#inFlight + size > this.#options.maxInFlight)
      return Promise.reject(new BackplaneError('OVERLOADED', 'too much waits for Redis already'));
    this.#inFlight += size;
    const lane = this.#lane(partition);
    // What is said after this to whom it is about comes after it.
    if (lane.talks.size > 0) lane.talks.delete(args[1] ?? '');
    return new Promise<unknown>((resolve, reject) => {
      this.#queue(lane, { args, size, deadline, talk: undefined, resolve, reject });
    });
  }

  /**
   * Says a text to the listeners that `to` names, together with what else is said to them in this turn, and not before what was
   * asked about `to` until now. Resolves to what the operation or PUBLISH answered, the same for all of the turn.
   * @throws BackplaneError as `run`; what goes by a channel may still be said later
   */
  say(partition: number, to: string, text: string, bring: Bring): Promise<unknown> {
    const size = text.length;
    if (this.#inFlight + size > this.#options.maxInFlight)
      return Promise.reject(new BackplaneError('OVERLOADED', 'too much waits for Redis already'));
    this.#inFlight += size;
    const lane = this.#lane(partition);
    const open = lane.talks.get(to);
    if (open?.talk && open.size + size <= maxTogether) {
      open.talk.texts.push(text);
      open.size += size;
      return open.talk.answer;
    }
    let settle: Pick<Operation, 'resolve' | 'reject'> | undefined;
    const answer = new Promise<unknown>((resolve, reject) => (settle = { resolve, reject }));
    const talk = { texts: [text], bring, answer };
    const operation: Operation = { args: [], size, deadline: undefined, talk, ...settle! };
    lane.talks.set(to, operation);
    this.#queue(lane, operation);
    return answer;
  }

  #lane(partition: number): Lane {
    const key = this.#options.sharded ? partition : 0;
    let lane = this.#lanes.get(key);
    if (!lane) {
      lane = { partition: key, waiting: [], talks: new Map(), scheduled: false, inFlight: 0 };
      this.#lanes.set(key, lane);
    }
    return lane;
  }

  #queue(lane: Lane, operation: Operation): void {
    lane.waiting.push(operation);
    if (!lane.scheduled) this.#schedule(lane);
  }

  #schedule(lane: Lane): void {
    lane.scheduled = true;
    setImmediate(() => {
      lane.scheduled = false;
      if (lane.inFlight < maxCommands) this.#flush(lane);
    });
  }

  #flush(lane: Lane): void {
    const server = this.#options.serverOf(lane.partition);
    const operations = lane.waiting;
    lane.waiting = [];
    lane.talks.clear();
    const until = server?.until() ?? 0;
    let batch: Batch = { operations: [], args: [] };
    let characters = 0;
    const send = () => {
      if (batch.operations.length > 0) void this.#send(lane, batch);
      batch = { operations: [], args: [] };
      characters = 0;
    };
    server?.gather();
    try {
      for (const operation of operations) {
        const way = operation.talk?.bring(operation.talk.texts, until);
        if (way && 'channel' in way) {
          // In its place among the others.
          send();
          void this.#publish(lane, operation, way.channel, way.text);
          continue;
        }
        batch.operations.push(operation);
        batch.args.push(way?.operation ?? operation.args);
        characters += operation.size;
        if (batch.operations.length === maxOperations || characters > maxCharacters) send();
      }
      send();
    } finally {
      server?.letGo();
    }
  }

  #settle(lane: Lane, operations: readonly Operation[], settle: (operation: Operation, n: number) => void): void {
    lane.inFlight -= 1;
    for (const [n, operation] of operations.entries()) {
      this.#inFlight -= operation.size;
      settle(operation, n);
    }
    if (lane.waiting.length > 0 && !lane.scheduled) this.#schedule(lane);
  }

  async #publish(lane: Lane, operation: Operation, channel: string, text: string): Promise<void> {
    const command = this.#options.sharded ? 'SPUBLISH' : 'PUBLISH';
    await this.#settled(lane, [operation], async (server) => [await server.call(command, channel, text)]);
  }

  async #send(lane: Lane, { operations, args }: Batch): Promise<void> {
    await this.#settled(lane, operations, (server) =>
      server.run(tagged(lane.partition, ''), flat(server, operations, args)),
    );
  }

  /** Asks, once more if the server said that it is for another one, and tells every operation its value. */
  async #settled(
    lane: Lane,
    operations: readonly Operation[],
    ask: (server: RedisServer) => Promise<unknown[]>,
  ): Promise<void> {
    lane.inFlight += 1;
    let values: unknown[];
    try {
      values = await this.#ask(lane.partition, ask);
    } catch (error) {
      const reason = error instanceof BackplaneError ? error : unavailable(error);
      this.#settle(lane, operations, (operation) => operation.reject(reason));
      return;
    }
    this.#settle(lane, operations, (operation, n) => {
      const value = values[n];
      if (value instanceof Error) operation.reject(unavailable(value));
      else operation.resolve(value);
    });
  }

  async #ask(partition: number, ask: (server: RedisServer) => Promise<unknown[]>): Promise<unknown[]> {
    for (let again = false; ; again = true) {
      const server = this.#options.serverOf(partition);
      if (!server) throw unknownServer();
      try {
        return await ask(server);
      } catch (error) {
        if (!(error instanceof MovedError) || again) throw error;
        // Refused before anything was done. The map is being read again; until then the same node answers the same.
        await delay(100);
      }
    }
  }
}

/** Operations of one command, and the arguments of each. */
interface Batch {
  readonly operations: Operation[];
  readonly args: (readonly string[])[];
}

/** The arguments of the script, with room for the time in front. */
function flat(
  server: RedisServer,
  operations: readonly Operation[],
  args: readonly (readonly string[])[],
): (string | number)[] {
  const all: (string | number)[] = [0];
  for (const [n, own] of args.entries()) {
    const deadline = operations[n]?.deadline;
    if (deadline === undefined) {
      for (const arg of own) all.push(arg);
      continue;
    }
    all.push(own[0]!, own[1]!, Math.floor(server.clock.earliest(deadline)));
    for (let i = 2; i < own.length; i++) all.push(own[i]!);
  }
  return all;
}

const unknownServer = () => new BackplaneError('UNAVAILABLE', 'no server is known for this part of the cluster');
