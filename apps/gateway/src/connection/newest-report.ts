/** The newest `report_sessions` of a connection, and the turns that completed since it arrived. */
import { noIds } from './sparse-map.ts';

export class NewestReport {
  /** Sessions that the newest report calls active, by native id. */
  active: ReadonlySet<string> = noIds;
  /** The hash of the report that the database has, perhaps from an earlier connection. */
  #hash: string | null = null;
  /** The active sessions of that report; undefined if it is from an earlier connection. */
  #savedActive: ReadonlySet<string> | undefined;
  /** While a report is being written: native ids of sessions whose turn completed after its arrival. */
  #completed: Set<string> | undefined;
  #clockAheadMs = 0;

  /** The minimum by which the daemon's clock is ahead of ours, as its reports showed. */
  get clockAheadMs(): number {
    return this.#clockAheadMs;
  }

  noteClock(aheadMs: number): void {
    this.#clockAheadMs = Math.max(this.#clockAheadMs, aheadMs);
  }

  /** The database has a report with this hash from an earlier connection. */
  load(hash: string | null): void {
    this.#hash = hash;
  }

  isSaved(hash: string): boolean {
    return this.#hash === hash;
  }

  /** The active sessions of the saved report; undefined if this connection has not sent it. */
  get savedActive(): ReadonlySet<string> | undefined {
    return this.#savedActive;
  }

  saved(hash: string, active: ReadonlySet<string>): void {
    this.#hash = hash;
    this.#savedActive = active;
  }

  beginWriting(): void {
    this.#completed = new Set();
  }

  endWriting(): void {
    this.#completed = undefined;
  }

  /** A turn of this session completed. */
  complete(nativeId: string): void {
    this.#completed?.add(nativeId);
  }

  /** Whether a turn of this session completed since the report arrived that is being written. */
  isCompleted(nativeId: string): boolean {
    return this.#completed?.has(nativeId) ?? false;
  }
}
