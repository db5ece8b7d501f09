/**
 * Gathers what one turn of the event loop has to say and says it at once: one command per server and turn (per partition in a
 * cluster), whatever the number of operations. It knows nothing of what the operations mean.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { BackplaneError } from '../errors.ts';
import { tagged } from './names.ts';
import { longText } from './script.ts';
import { MovedError, type RedisServer } from './server.ts';
import { unavailable } from './connection.ts';

interface Operation {
  readonly args: readonly string[];
  readonly size: number;
  /** By `performance.now()`: put between the second argument and the others, in Redis time. */
  readonly deadline: number | undefined;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

interface Lane {
  readonly partition: number;
  waiting: Operation[];
  scheduled: boolean;
  /** Commands that are not answered yet. */
  inFlight: number;
}

/** Operations and characters in one command: Redis serves nobody else meanwhile. */
const maxOperations = 256;
const maxCharacters = 1024 * 1024;
/** Commands under way in a lane: past it operations gather for the next one, which costs less than each on its own. */
const maxCommands = 2;

/** `plain` is no operation of the script but a command, with its arguments behind it. */
const plain = '!';

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
    return new Promise<unknown>((resolve, reject) => {
      this.#queue(partition, { args, size, deadline, resolve, reject });
    });
  }

  /** Publishes in its place among the operations. Long text does not go through the script, and so without a deadline. */
  publish(partition: number, channel: string, text: string): Promise<unknown> {
    if (text.length <= longText) return this.run(partition, ['m', channel, text]);
    return this.run(partition, [plain, this.#options.sharded ? 'SPUBLISH' : 'PUBLISH', channel, text]);
  }

  #queue(partition: number, operation: Operation): void {
    const key = this.#options.sharded ? partition : 0;
    let lane = this.#lanes.get(key);
    if (!lane) this.#lanes.set(key, (lane = { partition: key, waiting: [], scheduled: false, inFlight: 0 }));
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
    const operations = lane.waiting;
    lane.waiting = [];
    let batch: Operation[] = [];
    let characters = 0;
    const send = () => {
      if (batch.length > 0) void this.#send(lane, batch);
      batch = [];
      characters = 0;
    };
    for (const operation of operations) {
      if (operation.args[0] === plain) {
        send();
        void this.#command(lane, operation);
        continue;
      }
      batch.push(operation);
      characters += operation.size;
      if (batch.length === maxOperations || characters > maxCharacters) send();
    }
    send();
  }

  #settle(lane: Lane, operations: readonly Operation[], settle: (operation: Operation, n: number) => void): void {
    lane.inFlight -= 1;
    for (const [n, operation] of operations.entries()) {
      this.#inFlight -= operation.size;
      settle(operation, n);
    }
    if (lane.waiting.length > 0 && !lane.scheduled) this.#schedule(lane);
  }

  async #command(lane: Lane, operation: Operation): Promise<void> {
    try {
      const server = this.#options.serverOf(lane.partition);
      if (!server) throw unknownServer();
      const [, command = '', ...args] = operation.args;
      const answer = await server.call(command, ...args);
      this.#inFlight -= operation.size;
      operation.resolve(answer);
    } catch (error) {
      this.#inFlight -= operation.size;
      operation.reject(error instanceof BackplaneError ? error : unavailable(error));
    }
  }

  async #send(lane: Lane, operations: readonly Operation[]): Promise<void> {
    lane.inFlight += 1;
    let values: unknown[];
    try {
      values = await this.#ask(lane.partition, operations);
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

  async #ask(partition: number, operations: readonly Operation[]): Promise<unknown[]> {
    for (let again = false; ; again = true) {
      const server = this.#options.serverOf(partition);
      if (!server) throw unknownServer();
      const args: (string | number)[] = [0];
      for (const { args: own, deadline } of operations) {
        if (deadline === undefined) {
          for (const arg of own) args.push(arg);
          continue;
        }
        args.push(own[0]!, own[1]!, Math.floor(server.clock.earliest(deadline)));
        for (let n = 2; n < own.length; n++) args.push(own[n]!);
      }
      try {
        return await server.run(tagged(partition, ''), args);
      } catch (error) {
        if (!(error instanceof MovedError) || again) throw error;
        // Refused before anything was done. The map is being read again; until then the same node answers the same.
        await delay(100);
      }
    }
  }
}

const unknownServer = () => new BackplaneError('UNAVAILABLE', 'no server is known for this part of the cluster');
