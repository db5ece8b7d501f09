/**
 * Whether this instance hears what is said to it. A connection can look alive and be deaf: after a failover it may hang on a
 * server to which nobody publishes any more.
 */
import { Waiters } from '../waiters.ts';
import type { Fleet, Node } from './fleet.ts';

export interface ProbeOptions {
  /** How long an ear may hear nothing before it is tested; up to twice that, by chance. */
  readonly silenceMs: number;
  /** How long the test may take before the connection is made anew. */
  readonly patienceMs: number;
  /** Publishes to the channel that this instance holds in a partition; resolves to the number of those who heard it. */
  send(partition: number, id: string): Promise<number>;
}

export class Probe {
  readonly #fleet: Fleet;
  readonly #options: ProbeOptions;
  readonly #waiters = new Waiters<boolean>(10_000);
  readonly #testing = new Set<Node>();
  readonly #timer: NodeJS.Timeout;
  #lastId = 0;

  constructor(fleet: Fleet, options: ProbeOptions) {
    this.#fleet = fleet;
    this.#options = options;
    this.#timer = setInterval(() => this.#watch(), options.silenceMs / 4);
    this.#timer.unref();
  }

  heard(id: string): void {
    this.#waiters.settle(id, true);
  }

  /** Whether every server is heard within the time. Never rejects. */
  async all(timeoutMs: number): Promise<boolean> {
    if (!this.#fleet.up) return false;
    const tests = [...this.#fleet.owners().values()].map((partition) => this.#test(partition, timeoutMs));
    return (await Promise.all(tests)).every((heard) => heard === true);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#waiters.settleAll(false);
  }

  /** Undefined: the question could not be asked, which says nothing about the ear. */
  async #test(partition: number, timeoutMs: number): Promise<boolean | undefined> {
    this.#lastId += 1;
    const id = String(this.#lastId);
    try {
      const heard = this.#waiters.wait(id, timeoutMs, () => false);
      const receivers = await this.#options.send(partition, id);
      if (receivers === 0) this.#waiters.settle(id, false);
      return await heard;
    } catch {
      this.#waiters.settle(id, false);
      return undefined;
    }
  }

  #watch(): void {
    const silentSince = performance.now() - this.#options.silenceMs * (1 + Math.random());
    for (const [node, partition] of this.#fleet.owners()) {
      const { listening } = node;
      if (!listening.up || listening.heardAt > silentSince || this.#testing.has(node)) continue;
      this.#testing.add(node);
      void this.#test(partition, this.#options.patienceMs).then((heard) => {
        this.#testing.delete(node);
        if (heard === false) listening.rebuild();
      });
    }
  }
}
