/**
 * A frame failed: is the frame to blame, or the relay? If the relay is to blame, the gateway sends no receipt, so that
 * the daemon repeats the frame (rules, 9.5). A frame that always fails must not keep its daemon offline forever.
 */
import { createHash } from 'node:crypto';
import { isRefusedContent, isUnavailable } from '@relay/database';

const triesOfUnknown = 3;
const maxDevices = 1000;

export class FrameFailures {
  /** Maps a device to its newest frame that failed for an unknown reason, and how often. The oldest go first. */
  readonly #unknown = new Map<string, { hash: string; times: number }>();

  /**
   * Whether the frame is to blame: the database refused a value in it, or the same text of this device failed the third
   * time for a reason other than an outage.
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
