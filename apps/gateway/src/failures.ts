/**
 * A frame that could not be handled: is it the frame, or is it us? One that failed for any reason but its own content must be said again
 * (rules, 9.5): it is never receipted. One that can never be handled must not keep its daemon away forever.
 */
import { createHash } from 'node:crypto';
import { isRefusedContent, isUnavailable } from '@relay/database';

const triesOfUnknown = 3;
const maxDevices = 1000;

export class FrameFailures {
  /** By device: the newest frame that failed for an unknown reason, and how often. The oldest go first. */
  readonly #unknown = new Map<string, { hash: string; times: number }>();

  /**
   * Whether the frame is to blame: the database refused a value in it, or the same text of this device failed the third time for a
   * reason that is no outage.
   */
  blames(deviceId: string, text: string, error: unknown): boolean {
    if (isUnavailable(error)) return false;
    if (isRefusedContent(error)) return true;
    const hash = createHash('sha256').update(text).digest('base64');
    const before = this.#unknown.get(deviceId);
    const times = before?.hash === hash ? before.times + 1 : 1;
    this.#unknown.delete(deviceId);
    if (times >= triesOfUnknown) return true;
    this.#unknown.set(deviceId, { hash, times });
    const [oldest] = this.#unknown.size > maxDevices ? this.#unknown.keys() : [];
    if (oldest !== undefined) this.#unknown.delete(oldest);
    return false;
  }
}
