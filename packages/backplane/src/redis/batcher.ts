/**
 * Collects the operations of one event-loop tick and sends them together: one EVALSHA per lane, whatever their number,
 * plus one PUBLISH per channel, all in one write. A few texts alone skip the EVALSHA. At most two commands of a lane
 * are in flight; later operations wait for the next command, so batches grow with the load. (The library's
 * autopipelining sends a command per operation, which costs client and server several times the CPU.)
 */
import { BackplaneError } from '../errors.ts';
import { unavailable } from './connection.ts';
import type { Argument } from './operation.ts';
import { type Run, encodeOperation, operations } from './operations.ts';
import type { RedisServer } from './server.ts';
import type { Topology } from './topology.ts';

/**
 * Makes of several texts for the same subscribers an operation, or a message of a channel. `until`: as `RedisServer.until`. `isLone`: no
 * script runs in this tick unless this asks for one, and a few commands beside each other cost less than a script.
 */
export type Join = (
  texts: readonly string[],
  until: number,
  isLone: boolean,
) => readonly Argument[] | { channel: string; message: string };

/** Texts for the same subscribers that leave together. */
interface Joined {
  readonly texts: string[];
  readonly join: Join;
  readonly answer: Promise<unknown>;
}

interface Entry {
  /** An encoded operation, or joined texts. */
  readonly content: readonly Argument[] | Joined;
  /** Characters, for the bounds. */
  size: number;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

interface Lane {
  /** An id of the lane: the key of its commands. */
  readonly key: string;
  waiting: Entry[];
  /** Waiting entries that later texts for the same subscribers join, by the id or channel. */
  readonly joinable: Map<string, Entry & { content: Joined }>;
  scheduled: boolean;
  inFlight: number;
}

/** Operations and characters in one command: Redis serves no other client while it runs. */
const maxOperations = 256;
const maxCharacters = 1024 * 1024;
/** Joined texts that leave as commands of their own when nothing else does: a script costs Redis twice a PUBLISH, and its caller more. */
const maxLone = 3;
/** Commands of one lane in flight. */
const maxCommands = 2;
/** Characters in one joined message: the subscriber reads nothing else while it handles them. */
const maxJoined = 64 * 1024;
/** Characters that wait for Redis; past it calls are refused. */
const maxPending = 64 * 1024 * 1024;

export class Batcher {
  readonly #topology: Topology;
  readonly #over: 'server' | 'longValues';
  readonly #publish: 'PUBLISH' | 'SPUBLISH';
  readonly #lanes = new Map<number, Lane>();
  #pending = 0;

  /** `over`: the connection of a node that it uses. */
  constructor(topology: Topology, sharded: boolean, over: 'server' | 'longValues' = 'server') {
    this.#topology = topology;
    this.#over = over;
    this.#publish = sharded ? 'SPUBLISH' : 'PUBLISH';
  }

  /**
   * Executes an operation with the others of this tick, in call order per id.
   * @throws BackplaneError OVERLOADED: nothing was sent; UNAVAILABLE: it might have executed, but never will from now
   * on
   */
  readonly run: Run = (name, args) =>
    new Promise((resolve, reject) => {
      const content = encodeOperation(name, args);
      const id = content[1] as string;
      let size = 0;
      for (let n = 1; n < content.length; n++) {
        const argument = content[n];
        if (typeof argument === 'string') size += argument.length;
      }
      const lane = this.#admit(id, size);
      // Texts that come after this operation leave after it.
      lane.joinable.delete(id);
      const { answer } = operations[name];
      this.#enqueue(lane, { content, size, resolve: (value) => resolve(answer(value) as never), reject });
    });

  /**
   * Sends a text to the subscribers of an id or channel, joined with the other texts of this tick for them and after
   * the pending operations on `to`. Resolves to the answer of the operation or of PUBLISH, the same for all joined
   * texts.
   * @throws BackplaneError as `run`; a text sent through a channel can still arrive later
   */
  send(to: string, text: string, join: Join): Promise<number> {
    let lane: Lane;
    try {
      lane = this.#admit(to, text.length);
    } catch (error) {
      const reason = error as Error;
      return Promise.reject(reason);
    }
    const open = lane.joinable.get(to);
    if (open && open.size + text.length <= maxJoined) {
      open.content.texts.push(text);
      open.size += text.length;
      return open.content.answer as Promise<number>;
    }
    let settle!: Pick<Entry, 'resolve' | 'reject'>;
    const answer = new Promise<unknown>((resolve, reject) => (settle = { resolve, reject }));
    const entry = { content: { texts: [text], join, answer }, size: text.length, ...settle };
    lane.joinable.set(to, entry);
    this.#enqueue(lane, entry);
    return answer as Promise<number>;
  }

  /** Publishes records to a channel, joined with the others of this tick. */
  publish(channel: string, records: string): Promise<number> {
    return this.send(channel, records, (texts) => ({ channel, message: texts.join('') }));
  }

  #admit(id: string, size: number): Lane {
    if (this.#pending + size > maxPending) throw new BackplaneError('OVERLOADED', 'too much waits for Redis already');
    this.#pending += size;
    const number = this.#topology.laneOf(id);
    let lane = this.#lanes.get(number);
    if (!lane) {
      lane = { key: `{${number}}`, waiting: [], joinable: new Map(), scheduled: false, inFlight: 0 };
      this.#lanes.set(number, lane);
    }
    return lane;
  }

  #enqueue(lane: Lane, entry: Entry): void {
    lane.waiting.push(entry);
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
    const entries = lane.waiting;
    lane.waiting = [];
    lane.joinable.clear();
    const server = this.#topology.nodeOf(lane.key)?.[this.#over];
    if (server) server.together(() => this.#sendAll(lane, entries, server.until()));
    else this.#sendAll(lane, entries, 0);
  }

  #sendAll(lane: Lane, entries: readonly Entry[], until: number): void {
    let batch: Entry[] = [];
    let batchArguments: (readonly Argument[])[] = [];
    let characters = 0;
    const areLone = entries.length <= maxLone && entries.every(({ content }) => 'texts' in content);
    const sendBatch = () => {
      if (batch.length > 0) this.#evaluate(lane, batch, batchArguments);
      batch = [];
      batchArguments = [];
      characters = 0;
    };
    for (const entry of entries) {
      const { content } = entry;
      const sent = 'texts' in content ? content.join(content.texts, until, areLone) : content;
      if ('channel' in sent) {
        // Keep the order: send earlier operations first.
        sendBatch();
        const { channel, message } = sent;
        this.#settle(lane, [entry], (server) => server.call(this.#publish, channel, message));
        continue;
      }
      batch.push(entry);
      batchArguments.push(sent);
      characters += entry.size;
      if (batch.length === maxOperations || characters > maxCharacters) sendBatch();
    }
    sendBatch();
  }

  #evaluate(lane: Lane, entries: readonly Entry[], batch: readonly (readonly Argument[])[]): void {
    this.#settle(lane, entries, (server) => server.run(lane.key, flatten(batch, server)));
  }

  /** Sends one command and gives every entry its value: its place in the answer, or the answer itself. Not async, as `RedisServer.call`. */
  #settle(lane: Lane, entries: readonly Entry[], command: (server: RedisServer) => Promise<unknown>): void {
    lane.inFlight += 1;
    const settle = (values: unknown) => {
      lane.inFlight -= 1;
      for (let n = 0; n < entries.length; n += 1) {
        const entry = entries[n]!;
        this.#pending -= entry.size;
        const value: unknown = Array.isArray(values) ? values[n] : values;
        if (value instanceof Error) entry.reject(value instanceof BackplaneError ? value : unavailable(value));
        else entry.resolve(value);
      }
      if (lane.waiting.length > 0 && !lane.scheduled) this.#schedule(lane);
    };
    this.#topology.ask(lane.key, (node) => command(node[this.#over])).then(settle, settle);
  }
}

/** The arguments of the script, deadlines in the time of the server; the first place is left free. */
function flatten(batch: readonly (readonly Argument[])[], server: RedisServer): (string | number)[] {
  const all: (string | number)[] = [0];
  for (const operation of batch) {
    for (const argument of operation)
      all.push(typeof argument === 'object' ? Math.floor(server.clock.earliest(argument.at)) : argument);
  }
  return all;
}
