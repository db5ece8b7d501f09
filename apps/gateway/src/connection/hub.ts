/** The connections of this instance, by device. At most one each: a newer one takes the place of the older. */
import type { DaemonConnection } from './connection.ts';

/** Devices in one statement of a sweep. */
const maxPart = 500;

export class Hub {
  readonly #connections = new Map<string, DaemonConnection>();
  #parts: readonly (readonly string[])[] | undefined;

  /** Adds a connection and returns the one it replaces. */
  put(connection: DaemonConnection): DaemonConnection | undefined {
    const older = this.#connections.get(connection.deviceId);
    if (older && older.fence > connection.fence) return undefined;
    if (!older) this.#parts = undefined;
    this.#connections.set(connection.deviceId, connection);
    return older;
  }

  /** The connection of a device, only if it holds exactly this fence. */
  get(deviceId: string, fence?: number): DaemonConnection | undefined {
    const connection = this.#connections.get(deviceId);
    return fence === undefined || connection?.fence === fence ? connection : undefined;
  }

  remove(connection: DaemonConnection): void {
    if (this.#connections.get(connection.deviceId) !== connection) return;
    this.#connections.delete(connection.deviceId);
    this.#parts = undefined;
  }

  all(): DaemonConnection[] {
    return [...this.#connections.values()];
  }

  /** The connected devices in parts for statements: the same frozen lists until a device comes or goes. */
  get parts(): readonly (readonly string[])[] {
    if (!this.#parts) {
      const ids = [...this.#connections.keys()];
      const count = Math.ceil(ids.length / maxPart);
      const part = (_: unknown, n: number) => Object.freeze(ids.slice(n * maxPart, (n + 1) * maxPart));
      this.#parts = Array.from({ length: count }, part);
    }
    return this.#parts;
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
