/** The connections of this instance, by device. At most one each: a newer one takes the place of the older. */
import type { DaemonConnection } from './connection.ts';

export class Hub {
  readonly #connections = new Map<string, DaemonConnection>();

  /** Adds a connection and returns the one it replaces. */
  put(connection: DaemonConnection): DaemonConnection | undefined {
    const older = this.#connections.get(connection.deviceId);
    if (older && older.fence > connection.fence) return undefined;
    this.#connections.set(connection.deviceId, connection);
    return older;
  }

  /** The connection of a device, only if it holds exactly this fence. */
  get(deviceId: string, fence?: number): DaemonConnection | undefined {
    const connection = this.#connections.get(deviceId);
    return fence === undefined || connection?.fence === fence ? connection : undefined;
  }

  remove(connection: DaemonConnection): void {
    if (this.#connections.get(connection.deviceId) === connection) this.#connections.delete(connection.deviceId);
  }

  all(): DaemonConnection[] {
    return [...this.#connections.values()];
  }

  /** Whether a person other than this one has a daemon here. */
  servesOthers(ownerId: string): boolean {
    for (const connection of this.#connections.values()) if (connection.ownerId !== ownerId) return true;
    return false;
  }

  get size(): number {
    return this.#connections.size;
  }
}
