/**
 * Tests whether this instance receives its own messages. A connection can look alive and receive nothing: after a
 * failover it can stay on a server that no instance publishes to.
 */
import { Waiters } from '../waiters.ts';
import type { Run } from './operations.ts';
import type { RedisNode, Topology } from './topology.ts';
import { encodeRecord } from './wire.ts';

interface ProbeOptions {
  readonly instance: string;
  readonly topology: Topology;
  readonly run: Run;
  /** How long a subscriber can receive nothing before a test; up to twice that, at random. */
  readonly silenceMs: number;
  /** Time limit of the test; after it the connection is rebuilt. */
  readonly patienceMs: number;
}

export class Probe {
  readonly #options: ProbeOptions;
  readonly #waiters = new Waiters<boolean>(10_000);
  readonly #testing = new Set<RedisNode>();
  readonly #timer: NodeJS.Timeout;
  #lastId = 0;

  constructor(options: ProbeOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#check(), options.silenceMs / 4);
    this.#timer.unref();
  }

  received(id: string): void {
    this.#waiters.settle(id, true);
  }

  /** Whether a message through every server comes within the time. Never rejects. */
  async all(timeoutMs: number): Promise<boolean> {
    const { topology, instance } = this.#options;
    if (!topology.up) return false;
    const tests = [...topology.channelByNode(instance).values()].map((channel) => this.#test(channel, timeoutMs));
    return (await Promise.all(tests)).every((received) => received === true);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#waiters.settleAll(false);
  }

  /** Undefined: sending the probe failed, so the state of the subscriber is unknown. */
  async #test(channel: string, timeoutMs: number): Promise<boolean | undefined> {
    this.#lastId += 1;
    const id = String(this.#lastId);
    try {
      const received = this.#waiters.wait(id, timeoutMs, () => false);
      const receivers = await this.#options.run('probe', { channel, record: encodeRecord({ kind: 'probe', id }) });
      if (receivers === 0) this.#waiters.settle(id, false);
      return await received;
    } catch {
      this.#waiters.settle(id, false);
      return undefined;
    }
  }

  #check(): void {
    const { topology, instance, silenceMs, patienceMs } = this.#options;
    const silentSince = performance.now() - silenceMs * (1 + Math.random());
    for (const [node, channel] of topology.channelByNode(instance)) {
      const { subscriber } = node;
      if (!subscriber.up || subscriber.receivedAt > silentSince || this.#testing.has(node)) continue;
      this.#testing.add(node);
      void this.#test(channel, patienceMs).then((received) => {
        this.#testing.delete(node);
        if (received === false) subscriber.rebuild();
      });
    }
  }
}
