/**
 * Gathers what one turn of the event loop has to say and says it at once: one command per server and turn (per partition in a
 * cluster), whatever the number of operations. It knows nothing of what the operations mean.
 */
import { BackplaneError } from '../errors.ts';
import { tagged } from './names.ts';
import { MovedError, type RedisServer } from './server.ts';
import { unavailable } from './connection.ts';

interface Operation {
  readonly args: readonly string[];
  /** By `performance.now()`: put between the first argument and the others, in Redis time. */
  readonly deadline: number | undefined;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** Operations and characters in one command: Redis serves nobody else meanwhile. */
const maxOperations = 256;
const maxCharacters = 1024 * 1024;

export interface TurnsOptions {
  readonly sharded: boolean;
  /** Characters that may wait for answers; past it operations are refused. */
  readonly maxInFlight: number;
  serverOf(partition: number): RedisServer | undefined;
}

export class Turns {
  readonly #options: TurnsOptions;
  readonly #lanes = new Map<number, Operation[]>();
  #scheduled = false;
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
      const operation: Operation = {
        args,
        deadline,
        resolve: (value) => {
          this.#inFlight -= size;
          resolve(value);
        },
        reject: (error) => {
          this.#inFlight -= size;
          reject(error);
        },
      };
      const lane = this.#options.sharded ? partition : 0;
      const waiting = this.#lanes.get(lane);
      if (waiting) waiting.push(operation);
      else this.#lanes.set(lane, [operation]);
      if (this.#scheduled) return;
      this.#scheduled = true;
      setImmediate(() => this.flush());
    });
  }

  /** Sends at once what waits for the end of the turn. */
  flush(): void {
    this.#scheduled = false;
    const lanes = [...this.#lanes];
    this.#lanes.clear();
    for (const [partition, operations] of lanes) {
      let from = 0;
      let characters = 0;
      for (const [n, { args }] of operations.entries()) {
        for (const arg of args) characters += arg.length;
        if (n + 1 < operations.length && n - from + 1 < maxOperations && characters < maxCharacters) continue;
        void this.#send(partition, operations.slice(from, n + 1));
        from = n + 1;
        characters = 0;
      }
    }
  }

  async #send(partition: number, operations: readonly Operation[], again = false): Promise<void> {
    const server = this.#options.serverOf(partition);
    try {
      if (!server) throw new BackplaneError('UNAVAILABLE', 'no server is known for this part of the cluster');
      const args: (string | number)[] = [0];
      for (const { args: own, deadline } of operations) {
        if (deadline === undefined) {
          for (const arg of own) args.push(arg);
          continue;
        }
        args.push(own[0]!, own[1]!, Math.floor(server.clock.earliest(deadline)));
        for (let n = 2; n < own.length; n++) args.push(own[n]!);
      }
      const values = await server.run(tagged(partition, ''), args);
      for (const [n, operation] of operations.entries()) {
        const value = values[n];
        if (value instanceof Error) operation.reject(unavailable(value));
        else operation.resolve(value);
      }
    } catch (error) {
      if (error instanceof MovedError && !again) {
        // Refused before anything was done. The map is being read again; until then the same node answers the same.
        setTimeout(() => void this.#send(partition, operations, true), 100);
        return;
      }
      const reason = error instanceof BackplaneError ? error : unavailable(error);
      for (const operation of operations) operation.reject(reason);
    }
  }
}
