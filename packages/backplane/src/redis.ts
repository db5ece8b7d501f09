/**
 * The backplane between processes, on Redis 7: one server, a master found through Sentinel, or a Cluster (sharded channels).
 *
 * What one turn of the event loop has to say goes out as one command (per partition in a cluster) and what it has to say to one
 * instance, or to the listeners of one user, as one message. Cost in commands, shared by all operations of a turn: one to
 * append, publish, claim or say once; two for a command and its ACK; two for a request and its reply, four when the reply
 * is long. Every operation carries a deadline that Redis checks: what was answered with UNAVAILABLE is not carried out later,
 * however long Redis was frozen. What only passes through a channel is judged by who hears it: much of hot frames carries its
 * deadline along, ACKs and replies name what nobody waits for any more. Nothing is sent twice, and nothing queues while
 * Redis is away.
 */
import { randomBytes } from 'node:crypto';
import {
  type Backplane,
  type HistoryPage,
  type Command,
  type BackplaneOptions,
  type VersionedState,
  type Counted,
  type UserFrame,
  type Lease,
  withDefaults,
} from './backplane.ts';
import { Commands } from './commands.ts';
import { BackplaneError } from './errors.ts';
import { openConnection } from './redis/connection.ts';
import { Fleet } from './redis/fleet.ts';
import { Frames, scoped } from './redis/frames.ts';
import { Leases } from './redis/leases.ts';
import { heldWithin } from './redis/listening.ts';
import { readMail } from './redis/mail.ts';
import { type Names, controlPartition, createNames, partitionOf, partitions, tagged } from './redis/names.ts';
import type { RedisBackplaneOptions } from './redis/options.ts';
import { Post } from './redis/post.ts';
import { Probe } from './redis/probe.ts';
import { readRecords, record } from './redis/records.ts';
import { scriptText } from './redis/script.ts';
import { Trouble } from './redis/trouble.ts';
import { Turns } from './redis/turns.ts';
import { type RedisAddress, parseRedisUrl } from './redis/url.ts';
import { Users } from './redis/users.ts';
import { requireText, tell } from './text.ts';

export type { RedisBackplaneOptions } from './redis/options.ts';

export interface RedisBackplane extends Backplane {
  /** For tests: the instance vanishes like a killed process. Nothing is released, nobody is told. */
  vanish(): void;
}

/** Characters that may wait for answers of Redis. */
const maxInFlight = 64 * 1024 * 1024;
const probeNowMs = 1_000;

/**
 * Resolves when this instance hears what is sent to it.
 * @throws TypeError for an address that cannot be used; BackplaneError UNAVAILABLE when Redis is not reached in time
 */
export async function createRedisBackplane(options: RedisBackplaneOptions): Promise<RedisBackplane> {
  const address = parseRedisUrl(options.url);
  const backplane = new RedisMember(address, options);
  await backplane.start(options.startTimeoutMs ?? 10_000);
  return backplane;
}

class RedisMember implements RedisBackplane {
  readonly instance: string;
  readonly #options: BackplaneOptions & { commandTimeoutMs: number };
  readonly #sharded: boolean;
  readonly #names: Names;
  readonly #fleet: Fleet;
  readonly #turns: Turns;
  readonly #post: Post;
  readonly #commands: Commands;
  readonly #frames: Frames;
  readonly #probe: Probe;
  readonly #trouble: Trouble;
  readonly #onError: (error: unknown) => void;
  readonly #users: Users;
  readonly #evictListeners: ((lease: Lease) => void)[] = [];
  readonly #controlListeners: ((body: string) => void)[] = [];
  readonly #restoredListeners: (() => void)[] = [];
  readonly #leases: Leases;
  #closed = false;

  constructor(address: RedisAddress, options: RedisBackplaneOptions) {
    const commandTimeoutMs = options.commandTimeoutMs ?? 1_500;
    this.instance = `${options.name.replaceAll(/[^\w.-]/g, '_')}-${randomBytes(6).toString('hex')}`;
    this.#options = { ...withDefaults(options), commandTimeoutMs };
    this.#sharded = address.kind === 'cluster';
    this.#names = createNames(options.prefix ?? 'relay', this.#sharded);
    this.#onError = options.onError ?? ((error) => process.emitWarning(`the backplane: ${String(error)}`));
    this.#trouble = new Trouble(this.#onError);
    const times = {
      commandTimeoutMs,
      connectTimeoutMs: 2 * commandTimeoutMs,
      reconnectMs: options.reconnectMs ?? 2_000,
    };
    this.#fleet = new Fleet({
      address,
      script: scriptText(this.#names.prefix, this.#sharded, this.#options),
      commandTimeoutMs,
      mapRefreshMs: options.mapRefreshMs ?? 5_000,
      open: (node) => openConnection(address, times, (reason) => this.#trouble.note(reason), node),
      onMessage: (channel, text) => this.#receive(channel, text),
      onRestored: (interrupted) => this.#restored(interrupted),
      onUp: () => this.#up(),
    });
    const turns = { sharded: this.#sharded, maxInFlight };
    this.#turns = new Turns({ ...turns, serverOf: (partition) => this.#fleet.nodeOf(partition)?.server });
    this.#post = new Post({
      instance: this.instance,
      fleet: this.#fleet,
      names: this.#names,
      turns: this.#turns,
      bulk: new Turns({ ...turns, serverOf: (partition) => this.#fleet.nodeOf(partition)?.bulk }),
      isClosed: () => this.#closed,
    });
    this.#leases = new Leases(this.instance, (device, letter, ...args) => this.#on(device, letter, ...args));
    this.#frames = new Frames({
      names: this.#names,
      turns: this.#turns,
      historyTtlMs: this.#options.historyTtlMs,
      onError: this.#onError,
    });
    this.#users = new Users({
      instance: this.instance,
      fleet: this.#fleet,
      names: this.#names,
      timeoutMs: commandTimeoutMs,
      redisTime: (id) => this.#redisTime(Number.parseInt(id.slice(1))),
      run: (partition, args) => this.#run(partition, args),
      onError: this.#onError,
    });
    this.#probe = new Probe(this.#fleet, {
      silenceMs: options.probeSilenceMs ?? 15_000,
      patienceMs: options.probeTimeoutMs ?? 5_000,
      send: (partition, id) => this.#post.probe(partition, id),
    });
    this.#commands = new Commands(this.instance, this.#post, this.#options, this.#onError);
  }

  async start(timeoutMs: number): Promise<void> {
    const own = Array.from({ length: this.#sharded ? partitions : 1 }, (_, n) => n);
    const held = Promise.all([
      this.#fleet.hold(controlPartition, this.#names.control),
      ...own.map((partition) => this.#fleet.hold(partition, this.#names.instance(partition, this.instance))),
      this.#fleet.ready(),
    ]);
    try {
      await heldWithin(
        held.then(() => undefined),
        timeoutMs,
      );
      this.#trouble.started = true;
    } catch {
      this.vanish();
      throw new BackplaneError('UNAVAILABLE', `Redis was not reached within ${timeoutMs} ms: ${this.#trouble.last}`);
    }
  }

  async claim(device: string, connection: string): Promise<{ fence: number; previous?: Lease }> {
    return this.#leases.claim(device, connection);
  }

  async refresh(leases: readonly Pick<Lease, 'device' | 'connection' | 'fence'>[]): Promise<string[]> {
    this.#requireOpen();
    return this.#leases.refresh(leases);
  }

  async release(device: string, fence: number): Promise<boolean> {
    return this.#leases.release(device, fence);
  }

  async owners(devices: readonly string[]): Promise<Map<string, Lease>> {
    this.#requireOpen();
    return this.#leases.owners(devices);
  }

  async route(device: string, body: string, deadlineMs?: number): ReturnType<Backplane['route']> {
    this.#requireOpen();
    requireText(body);
    return this.#commands.route(device, body, deadlineMs);
  }

  async request(device: string, body: string, timeoutMs: number): Promise<string> {
    this.#requireOpen();
    requireText(body);
    return this.#commands.request(device, body, timeoutMs);
  }

  onCommand(listener: (command: Command) => boolean | Promise<boolean>): void {
    this.#commands.listen(listener);
  }

  onEvict(listener: (lease: Lease) => void): void {
    this.#evictListeners.push(listener);
  }

  async reply(to: string, correlation: string, body: string): Promise<void> {
    this.#requireOpen();
    requireText(body);
    return this.#commands.reply(to, correlation, body);
  }

  async append(user: string, body: string): Promise<{ offset: string; receivers: number }> {
    this.#requireOpen();
    requireText(body);
    return this.#frames.append(user, body);
  }

  async appendOnce(user: string, body: string, keys: readonly string[], ttlMs: number): Promise<boolean> {
    this.#requireOpen();
    requireText(body);
    return this.#frames.appendOnce(user, body, namesOf(keys), wholeMs(ttlMs));
  }

  async appendNewest(user: string, body: string, state: VersionedState): Promise<boolean> {
    this.#requireOpen();
    requireText(body);
    return this.#frames.appendNewest(user, body, state);
  }

  async publishNewest(user: string, body: string, state: VersionedState): Promise<boolean> {
    this.#requireOpen();
    requireText(body);
    return this.#frames.publishNewest(user, body, state);
  }

  async publish(user: string, body: string): Promise<number> {
    this.#requireOpen();
    requireText(body);
    return this.#frames.publish(user, body);
  }

  async read(user: string, since = ''): Promise<HistoryPage> {
    this.#requireOpen();
    return this.#frames.read(user, since);
  }

  async forget(user: string): Promise<void> {
    await this.#on(user, 'f');
  }

  async subscribe(
    user: string,
    listener: (frame: UserFrame) => void,
    onInterrupted?: () => void,
  ): Promise<() => Promise<void>> {
    this.#requireOpen();
    return this.#users.subscribe(user, { listener, onInterrupted });
  }

  async audience(user: string): Promise<number> {
    return (await this.#run(partitionOf(user), ['q', this.#names.user(user)])) as number;
  }

  async once(scope: string, keys: readonly string[], ttlMs: number): Promise<boolean> {
    const args = ['n', this.#id(scope, scoped(scope)), wholeMs(ttlMs), namesOf(keys)];
    return (await this.#run(partitionOf(scope), args)) === 1;
  }

  async mark(scope: string, keys: readonly string[], ttlMs: number): Promise<void> {
    await this.#run(partitionOf(scope), ['m', this.#id(scope, scoped(scope)), wholeMs(ttlMs), namesOf(keys)]);
  }

  async take(key: string): Promise<string | undefined> {
    const [value] = (await this.#on(key, 'g')) as [string | null];
    return value ?? undefined;
  }

  async put(key: string, value: string, ttlMs: number): Promise<void> {
    this.#requireOpen();
    requireText(value);
    await this.#on(key, 'v', wholeMs(ttlMs), value);
  }

  async count(key: string, by: number, windowMs: number): Promise<Counted> {
    const answer = await this.#on(key, 'k', String(by), wholeMs(windowMs));
    const [count, leftMs, endsAt] = answer as [number, number, number];
    return { count, leftMs, endsAt };
  }

  async publishControl(body: string): Promise<void> {
    this.#requireOpen();
    requireText(body);
    const channel = this.#names.control;
    const bring = (texts: readonly string[]) => ({ channel, text: texts.join('') });
    await this.#turns.say(controlPartition, channel, record('t', body), bring);
  }

  onControl(listener: (body: string) => void): void {
    this.#controlListeners.push(listener);
  }

  onRestored(listener: () => void): void {
    this.#restoredListeners.push(listener);
  }

  async health(): Promise<{ ok: boolean; probeMs: number }> {
    if (this.#closed) return { ok: false, probeMs: 0 };
    const startedAt = performance.now();
    const ok = await this.#probe.all(probeNowMs);
    return { ok, probeMs: performance.now() - startedAt };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    // Before the door is shut: what is still to be said goes out with the releases.
    const released = this.#leases.releaseAll();
    const told = this.#commands.close();
    this.#closed = true;
    this.#users.close();
    await Promise.allSettled([told, released]);
    this.#stop();
    await this.#fleet.leave(this.#options.commandTimeoutMs);
  }

  vanish(): void {
    this.#closed = true;
    this.#users.close();
    this.#stop();
    this.#fleet.close();
    this.#commands.close().catch(() => undefined);
  }

  #stop(): void {
    this.#frames.close();
    this.#probe.close();
    this.#restoredListeners.length = 0;
  }

  /** One operation on what belongs to `name`. */
  #on(name: string, letter: string, ...args: string[]): Promise<unknown> {
    return this.#run(partitionOf(name), [letter, this.#id(name), ...args]);
  }

  #id(name: string, text = name): string {
    return tagged(partitionOf(name), text);
  }

  #run(partition: number, args: readonly string[]): Promise<unknown> {
    if (this.#closed) return Promise.reject(closed(this.instance));
    return this.#turns.run(partition, args);
  }

  #receive(channel: string, text: string): void {
    if (this.#closed) return;
    if (this.#users.hearBody(channel, text)) return;
    try {
      readRecords(text, (kind, fields) => {
        if (this.#closed || this.#users.hear(channel, kind, fields)) return;
        this.#hearMail(kind, fields);
      });
    } catch (error) {
      this.#onError(error);
    }
  }

  #hearMail(kind: string, fields: readonly string[]): void {
    if (kind === 'p') return this.#probe.heard(fields[0] ?? '');
    if (kind === 't') return this.#tellAll(this.#controlListeners, fields[0] ?? '');
    if (kind === 's') return void this.#fetchReply(fields[0] ?? '', fields[1] ?? '').catch(this.#onError);
    const mail = readMail(kind, fields, this.instance);
    if (!mail) return;
    if (mail.kind === 'evicted') {
      this.#leases.letGo(mail.lease.device, mail.lease.fence);
      return this.#tellAll(this.#evictListeners, mail.lease);
    }
    if (mail.kind === 'command') {
      // This event loop was stuck, or the way here was: whoever sent it has given up.
      if (this.#redisTime(partitionOf(mail.command.device)) > mail.deadline) return;
    }
    this.#commands.receive(mail);
  }

  /** Redis time is not later than this, where that partition lies; Infinity when it is not known. */
  #redisTime(partition: number): number {
    return this.#fleet.nodeOf(partition)?.server.clock.latest(performance.now()) ?? Infinity;
  }

  async #fetchReply(correlation: string, key: string): Promise<void> {
    const body = await this.#post.fetch(key);
    if (body !== undefined) this.#commands.receive({ kind: 'reply', correlation, body });
  }

  #up(): void {
    if (this.#closed) return;
    this.#frames.up();
    this.#users.up();
    if (this.#trouble.started) this.#tellAll(this.#restoredListeners, undefined);
  }

  #restored(interrupted: readonly string[]): void {
    if (this.#closed) return;
    if (this.#trouble.started) this.#tellAll(this.#restoredListeners, undefined);
    this.#users.restored(interrupted);
  }

  #tellAll<T>(listeners: readonly ((said: T) => void)[], said: T): void {
    for (const listener of listeners) tell(listener, said, this.#onError);
  }

  #requireOpen(): void {
    if (this.#closed) throw closed(this.instance);
  }
}

const closed = (instance: string) => new BackplaneError('CLOSED', `${instance} is closed`);

/** Names of what is said once, each with its length in bytes before it. */
const namesOf = (keys: readonly string[]): string =>
  [...new Set(keys)].map((key) => `${Buffer.byteLength(key)}:${key}`).join('');

/** Redis takes no part of a millisecond, and no time that is over. */
const wholeMs = (ms: number): string => String(Math.max(1, Math.ceil(ms)));
