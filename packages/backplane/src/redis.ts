/**
 * The backplane between processes, on Redis 7: one server, a master found through Sentinel, or a Cluster (sharded
 * channels).
 *
 * All operations of one event-loop tick leave as one command (per partition in a cluster), and all messages to one
 * instance, or to the subscribers of one user, as one message. Cost in commands, shared by all operations of a tick:
 * one to append, publish, claim or use a key once; two for a command and its acknowledgement; two for a request and its
 * reply, four when the reply is long. Redis checks a deadline on every operation: an operation that returned
 * UNAVAILABLE never executes later, however long Redis was frozen. Receivers check messages that only pass through a
 * channel: many hot frames together carry their deadline along, and the ids of acknowledgements and replies work once.
 * The backplane sends nothing twice and queues nothing while Redis is away.
 */
import { randomBytes } from 'node:crypto';
import { type Backplane, withDefaults } from './backplane.ts';
import { CommandExchange } from './command-exchange.ts';
import { compose } from './compose.ts';
import { BackplaneError } from './errors.ts';
import type { Lease } from './leases.ts';
import { Listeners } from './listeners.ts';
import { Batcher } from './redis/batcher.ts';
import { RedisCluster } from './redis/cluster/cluster.ts';
import { ConnectionErrors } from './redis/connection-errors.ts';
import { openConnection } from './redis/connection.ts';
import { createKeys, idOf } from './redis/keys.ts';
import { RedisLeases } from './redis/leases.ts';
import type { RedisBackplaneOptions } from './redis/options.ts';
import { Probe } from './redis/probe.ts';
import { scriptText } from './redis/script.ts';
import { RedisShared } from './redis/shared.ts';
import { SingleServer, type Topology, type TopologyEvents } from './redis/topology.ts';
import { RedisTransport } from './redis/transport.ts';
import { type RedisAddress, type RedisNodeAddress, parseRedisUrl } from './redis/url.ts';
import { RedisUserFrames } from './redis/user-frames.ts';
import { UserSubscriptions } from './redis/user-subscriptions.ts';
import { type WireRecord, decodeRecords } from './redis/wire.ts';
import { within } from './within.ts';

export interface RedisBackplane extends Backplane {
  /** Test hook: the instance vanishes like a killed process. It releases nothing and notifies no other instance. */
  vanish(): void;
}

const healthTimeoutMs = 1_000;

/**
 * Resolves when this instance receives its own messages.
 * @throws TypeError for an unusable address; BackplaneError UNAVAILABLE if Redis does not answer in time
 */
export async function createRedisBackplane(options: RedisBackplaneOptions): Promise<RedisBackplane> {
  const instance = new RedisInstance(parseRedisUrl(options.url), options);
  await instance.start(options.startTimeoutMs ?? 10_000);
  return instance.backplane();
}

class RedisInstance {
  readonly instance: string;
  readonly #commandTimeoutMs: number;
  readonly #control: string;
  readonly #topology: Topology;
  readonly #transport: RedisTransport;
  readonly #leases: RedisLeases;
  readonly #commands: CommandExchange;
  readonly #frames: RedisUserFrames;
  readonly #subscriptions: UserSubscriptions;
  readonly #shared: RedisShared;
  readonly #probe: Probe;
  readonly #connectionErrors: ConnectionErrors;
  readonly #onError: (error: unknown) => void;
  readonly #controlListeners: Listeners<string>;
  readonly #restoredListeners: Listeners;
  #closed = false;

  constructor(address: RedisAddress, options: RedisBackplaneOptions) {
    const limits = withDefaults(options);
    const sharded = address.kind === 'cluster';
    const keys = createKeys(options.prefix ?? 'relay', sharded);
    const onError = options.onError ?? ((error) => process.emitWarning(`the backplane: ${String(error)}`));
    const isClosed = () => this.#closed;
    const instance = `${options.name.replaceAll(/[^\w.-]/g, '_')}-${randomBytes(6).toString('hex')}`;
    this.instance = instance;
    this.#commandTimeoutMs = options.commandTimeoutMs ?? 1_500;
    this.#control = keys.control;
    this.#onError = onError;
    this.#connectionErrors = new ConnectionErrors(onError);
    this.#controlListeners = new Listeners(onError);
    this.#restoredListeners = new Listeners(onError);

    const topology = this.#openTopology(address, options, keys, scriptText(keys.prefix, sharded, limits));
    const batcher = new Batcher(topology, sharded);
    const { run } = batcher;
    this.#topology = topology;
    this.#leases = new RedisLeases(instance, run, (id) => topology.laneOf(id), new Listeners<Lease>(onError));
    this.#transport = new RedisTransport({
      instance,
      topology,
      batcher,
      longValues: new Batcher(topology, sharded, 'longValues'),
      isClosed,
    });
    this.#commands = new CommandExchange(instance, this.#transport, limits, onError);
    this.#subscriptions = new UserSubscriptions({
      instance,
      topology,
      keys,
      timeoutMs: this.#commandTimeoutMs,
      redisTime: (id) => this.#redisTime(id),
      run,
      onError,
    });
    this.#frames = new RedisUserFrames({
      keys,
      batcher,
      subscriptions: this.#subscriptions,
      historyTtlMs: limits.historyTtlMs,
      isClosed,
      onError,
    });
    this.#shared = new RedisShared(keys, batcher, this.#controlListeners);
    this.#probe = new Probe({
      instance,
      topology,
      run,
      silenceMs: options.probeSilenceMs ?? 15_000,
      patienceMs: options.probeTimeoutMs ?? 5_000,
    });
  }

  async start(timeoutMs: number): Promise<void> {
    const channels = [this.#control, ...this.#topology.channelsOf(this.instance)];
    const subscribed = Promise.all(channels.map((channel) => this.#topology.subscribe(channel)));
    try {
      await within(Promise.all([subscribed, this.#topology.ready()]), timeoutMs, 'late');
      this.#connectionErrors.started = true;
    } catch {
      this.vanish();
      const reason = this.#connectionErrors.last;
      throw new BackplaneError('UNAVAILABLE', `Redis was not reached within ${timeoutMs} ms: ${reason}`);
    }
  }

  backplane(): RedisBackplane {
    const parts = { leases: this.#leases, commands: this.#commands, frames: this.#frames, shared: this.#shared };
    const self = {
      instance: this.instance,
      onRestored: (listener: () => void) => this.#restoredListeners.add(listener),
      health: () => this.#health(),
      close: () => this.close(),
    };
    return { ...compose(parts, self, () => this.#closed), vanish: () => this.vanish() };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    // Before the instance is closed: the last messages leave with the releases.
    const released = this.#leases.releaseAll();
    const notified = this.#commands.close();
    this.#stop();
    await Promise.allSettled([notified, released]);
    await this.#topology.leave(this.#commandTimeoutMs);
  }

  vanish(): void {
    this.#stop();
    this.#topology.close();
    this.#commands.close().catch(() => undefined);
  }

  #stop(): void {
    this.#closed = true;
    this.#subscriptions.close();
    this.#frames.close();
    this.#probe.close();
    this.#restoredListeners.clear();
  }

  #openTopology(
    address: RedisAddress,
    options: RedisBackplaneOptions,
    keys: ReturnType<typeof createKeys>,
    script: string,
  ): Topology {
    const commandTimeoutMs = this.#commandTimeoutMs;
    const times = {
      commandTimeoutMs,
      connectTimeoutMs: 2 * commandTimeoutMs,
      reconnectMs: options.reconnectMs ?? 2_000,
    };
    const open = (node?: RedisNodeAddress) =>
      openConnection(address, times, (reason) => this.#connectionErrors.note(reason), node);
    const events: TopologyEvents = {
      onMessage: (channel, text) => this.#receive(channel, text),
      onLost: (channels) => this.#subscriptions.onLost(channels),
      onRestored: (interrupted) => {
        this.#emitRestored();
        if (!this.#closed) this.#subscriptions.onRestored(interrupted);
      },
      onUp: () => {
        if (this.#closed) return;
        this.#frames.onUp();
        this.#subscriptions.onUp();
        this.#emitRestored();
      },
    };
    if (address.kind !== 'cluster') return new SingleServer(keys, script, commandTimeoutMs, open, events);
    const mapRefreshMs = options.mapRefreshMs ?? 5_000;
    return new RedisCluster({ seeds: address.nodes, keys, script, commandTimeoutMs, mapRefreshMs, open }, events);
  }

  #emitRestored(): void {
    if (!this.#closed && this.#connectionErrors.started) this.#restoredListeners.emit();
  }

  async #health(): Promise<{ ok: boolean; probeMs: number }> {
    if (this.#closed) return { ok: false, probeMs: 0 };
    const startedAt = performance.now();
    const ok = await this.#probe.all(healthTimeoutMs);
    return { ok, probeMs: performance.now() - startedAt };
  }

  #receive(channel: string, text: string): void {
    if (this.#closed || this.#subscriptions.receiveBody(channel, text)) return;
    try {
      decodeRecords(text, (record) => {
        if (!this.#closed && !this.#subscriptions.receive(channel, record)) this.#dispatch(record);
      });
    } catch (error) {
      this.#onError(error);
    }
  }

  #dispatch(record: WireRecord): void {
    switch (record.kind) {
      case 'probe':
        return this.#probe.received(record.id);
      case 'control':
        return this.#controlListeners.emit(record.body);
      case 'evicted': {
        const { device, connection, fence } = record;
        return this.#leases.evicted({ device, connection, fence, instance: this.instance });
      }
      case 'keptReply':
        this.#fetchReply(record.correlation, record.id).catch(this.#onError);
        return;
      case 'command': {
        const { id, from, device, fence, deadline, correlation, body } = record;
        // This event loop was stuck, or the connection was: the sender has given up.
        if (this.#redisTime(idOf(device)) > deadline) return;
        const command = { device, fence, body, ...(correlation === '' ? {} : { correlation, replyTo: from }) };
        return this.#commands.receive({ kind: 'command', id, from, command, deadline });
      }
      case 'ack':
      case 'nack':
      case 'reply':
      case 'abandoned':
        this.#commands.receive(record);
    }
  }

  /** Redis time is not later than this, on the server of the id; Infinity when it is not known. */
  #redisTime(id: string): number {
    return this.#topology.nodeOf(id)?.server.clock.latest(performance.now()) ?? Infinity;
  }

  async #fetchReply(correlation: string, id: string): Promise<void> {
    const body = await this.#transport.fetch(id);
    if (body !== undefined) this.#commands.receive({ kind: 'reply', correlation, body });
  }
}
