/**
 * Online and offline (rules, 4.11): a device is online from the moment its connection is the newest, and offline when its daemon was
 * stopped or has stayed away for the grace time, so that a reconnect does not flap. Frames are sent only when something changed.
 */
import type { BackplaneInstance } from '@relay/backplane';
import {
  type Beginning,
  type ClosedConnection,
  type Connected,
  type Database,
  connectionClosed,
  connectionsClosed,
  createLane,
  deviceConnected,
  deviceOffline,
  devicesConnected,
  isOnline,
  markOnlineAgain,
  offlineAmong,
} from '@relay/database';
import { type DeviceStatus, closeCodes } from '@relay/protocol';
import type { Logger } from '@relay/telemetry';
import type { DaemonConnection } from '../connection/connection.ts';
import type { Publisher } from '@relay/attention';
import { inTurns } from './turns.ts';

export class Presence {
  readonly #graces = new Map<string, { fence: number; timer: NodeJS.Timeout }>();
  readonly #database: Database;
  readonly #instance: string;
  readonly #publisher: Publisher;
  readonly #logger: Logger;
  readonly #graceMs: number;
  readonly #begin: (beginning: Beginning) => Promise<Connected | 'gone'>;
  readonly #end: (ending: ClosedConnection) => Promise<'noted'>;

  constructor(
    database: Database,
    { instance }: Pick<BackplaneInstance, 'instance'>,
    publisher: Publisher,
    logger: Logger,
    graceMs: number,
  ) {
    this.#database = database;
    this.#instance = instance;
    this.#publisher = publisher;
    this.#logger = logger;
    this.#graceMs = graceMs;
    const db = database;
    // One lane for both: a device that reconnects while its old connection closes would find its row locked.
    const lane = createLane();
    this.#begin = inTurns(
      lane,
      (beginnings) => devicesConnected(db, beginnings),
      async (beginning) => (await deviceConnected(db, beginning)) ?? 'gone',
    );
    this.#end = inTurns(
      lane,
      async (endings) => new Map([...(await connectionsClosed(db, endings))].map((id) => [id, 'noted'] as const)),
      async (ending) => {
        await connectionClosed(db, ending);
        return 'noted' as const;
      },
    );
  }

  /** Marks the device online under the fence of this connection. Undefined: a newer one exists, or the device is gone. */
  async online(connection: DaemonConnection): Promise<Connected | undefined> {
    const connected = await this.#begin({
      deviceId: connection.deviceId,
      fence: connection.fence,
      connectionId: connection.id,
      daemonVersion: connection.daemonVersion,
      capabilities: connection.capabilities,
      agents: connection.agents,
      instance: this.#instance,
      hostname: connection.hostname,
      address: connection.address,
    });
    if (connected === 'gone') return undefined;
    this.#cancelGrace(connection.deviceId);
    if (!connected.wasOnline) await this.publish(connected.ownerId, connection.deviceId, 'online');
    return connected;
  }

  async publish(ownerId: string, deviceId: string, status: DeviceStatus): Promise<void> {
    await this.#publisher.append(ownerId, { type: 'device_status', deviceId, status });
  }

  /**
   * Records the close of a connection. A device whose daemon stopped is offline immediately, any other after the grace
   * time, unless a newer connection comes.
   */
  async closed(connection: DaemonConnection, code: number, reason: string): Promise<void> {
    const { id: connectionId, deviceId, fence } = connection;
    await this.#end({ connectionId, deviceId, fence, code, reason });
    const isNormal = code === closeCodes.normal.code && reason === closeCodes.normal.reason;
    // A daemon that is killed while it stops does not reconnect within the grace time either.
    if (isNormal || connection.tasks.phase.isStopping) return this.offline(deviceId, fence);
    this.#startGrace(connection);
  }

  /** The close of an older connection can arrive after that of a newer one: the newest connection counts. */
  #startGrace({ deviceId, fence }: DaemonConnection): void {
    const running = this.#graces.get(deviceId);
    if (running && running.fence > fence) return;
    clearTimeout(running?.timer);
    const timer = setTimeout(() => {
      this.#graces.delete(deviceId);
      this.offline(deviceId, fence).catch((error: unknown) =>
        this.#logger.warn({ err: error, deviceId }, 'a device could not be marked offline'),
      );
    }, this.#graceMs);
    timer.unref();
    this.#graces.set(deviceId, { fence, timer });
  }

  /** Marks a device offline unless a newer connection has come, anywhere. */
  async offline(deviceId: string, fence: number): Promise<void> {
    const ownerId = await deviceOffline(this.#database, deviceId, fence);
    if (ownerId === undefined) return;
    await this.publish(ownerId, deviceId, 'offline');
    // The device might be back at another instance, whose frame overtook this one: apps keep the state of the last
    // frame.
    if (await isOnline(this.#database, deviceId)) await this.publish(ownerId, deviceId, 'online');
  }

  /**
   * The leases of these connected devices were just renewed. If a device is marked offline, a sweep caught it while its
   * lease was missing: this instance was stuck for longer than the lease TTL, or Redis lost its data. Nothing else
   * would mark it online again, because it never disconnected. `heldAmong` returns the fences of the held ones.
   */
  async stillHere(
    parts: readonly (readonly string[])[],
    heldAmong: (deviceIds: ReadonlySet<string>) => ReadonlyMap<string, number>,
  ): Promise<void> {
    for (const deviceIds of parts) {
      const offline = await offlineAmong(this.#database, deviceIds);
      if (offline.length === 0) continue;
      for (const { deviceId, ownerId } of await markOnlineAgain(this.#database, heldAmong(new Set(offline))))
        await this.publish(ownerId, deviceId, 'online');
    }
  }

  #cancelGrace(deviceId: string): void {
    clearTimeout(this.#graces.get(deviceId)?.timer);
    this.#graces.delete(deviceId);
  }

  stop(): void {
    for (const { timer } of this.#graces.values()) clearTimeout(timer);
    this.#graces.clear();
  }
}
