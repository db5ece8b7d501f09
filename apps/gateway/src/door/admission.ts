/**
 * Slows down a device that reconnects repeatedly, for any reason (rules, 9.12): after 10 claims within a minute it gets
 * one accept a second. The newest waiting attempt wins, older ones are refused. Two machines with one credential:
 * `contests.ts`.
 */
const windowMs = 60_000;
const freeClaims = 10;
const slotMs = 1000;

interface Flapping {
  claimsAtMs: number[];
  waiting: { give: (admitted: boolean) => void; timer: NodeJS.Timeout } | undefined;
}

export class Admission {
  readonly #devices = new Map<string, Flapping>();
  readonly #sweep: NodeJS.Timeout;

  constructor() {
    this.#sweep = setInterval(() => this.#forget(), windowMs);
    this.#sweep.unref();
  }

  /** True when the caller can claim the device now; false when a newer attempt took the turn. */
  async admit(deviceId: string): Promise<boolean> {
    const now = Date.now();
    const device = this.#devices.get(deviceId) ?? { claimsAtMs: [], waiting: undefined };
    this.#devices.set(deviceId, device);
    device.claimsAtMs = device.claimsAtMs.filter((at) => now - at < windowMs);
    if (device.claimsAtMs.length < freeClaims) {
      device.claimsAtMs.push(now);
      return true;
    }
    const waitMs = Math.max(0, (device.claimsAtMs.at(-1) ?? now) + slotMs - now);
    if (device.waiting) {
      clearTimeout(device.waiting.timer);
      device.waiting.give(false);
    }
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        device.waiting = undefined;
        device.claimsAtMs.push(Date.now());
        resolve(true);
      }, waitMs);
      device.waiting = { give: resolve, timer };
    });
  }

  #forget(): void {
    const now = Date.now();
    for (const [id, device] of this.#devices) {
      if (!device.waiting && device.claimsAtMs.every((at) => now - at >= windowMs)) this.#devices.delete(id);
    }
  }

  stop(): void {
    clearInterval(this.#sweep);
    for (const { waiting } of this.#devices.values()) {
      clearTimeout(waiting?.timer);
      waiting?.give(false);
    }
    this.#devices.clear();
  }
}
