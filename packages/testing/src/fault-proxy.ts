/**
 * A TCP wire that fails as real ones do: it is slow, it stalls, it swallows, it breaks. Between any two of our
 * programs, or between them and Redis or PostgreSQL. Knows bytes only.
 */
import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';

/**
 * - `pass`: bytes pass through after `latencyMs`
 * - `stall`: reads nothing; the bytes arrive when the wire passes again
 * - `swallow`: reads and discards, also the close of connections: both sides are half-open without noticing, and stay
 *   so when other connections pass again
 * - `refuse`: cuts existing and new connections, as if no process listened
 */
type WireMode = 'pass' | 'stall' | 'swallow' | 'refuse';

export interface FaultProxy {
  readonly port: number;
  /** The number of connections that go through it. */
  readonly size: number;
  /** `bytesPerSecond`: how much passes in each direction of each connection; as fast as possible unless given. */
  set(mode: WireMode, options?: { latencyMs?: number; bytesPerSecond?: number }): void;
  /** Sends new connections to this port; open ones stay where they are. */
  aim(port: number): void;
  /** Breaks every connection with a reset, on both sides; new ones are taken as before. */
  reset(): void;
  close(): Promise<void>;
}

interface Wire {
  near: Socket;
  far: Socket;
  /**
   * The wire swallowed bytes of it. A stream with a gap cannot continue: from then on the wire swallows all of it, in
   * every mode.
   */
  isBroken: boolean;
}

/** Most bytes that wait for their latency in one direction; beyond it the wire stops reading the sender. */
const maxDelayedBytes = 8 * 1024 * 1024;

/** Does things in order, each some time after it was given. */
class DelayLine {
  readonly #waiting: { at: number; act: () => void }[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** `takesMs`: how long it occupies the line, so that the next thing waits for it. */
  add(delayMs: number, act: () => void, takesMs = 0): void {
    if (delayMs + takesMs === 0 && this.#waiting.length === 0) {
      act();
      return;
    }
    const last = this.#waiting.at(-1)?.at ?? 0;
    this.#waiting.push({ at: Math.max(last, performance.now() + delayMs) + takesMs, act });
    this.#timer ??= setTimeout(() => this.#run(), delayMs + takesMs);
  }

  #run(): void {
    this.#timer = undefined;
    const now = performance.now();
    while (this.#waiting[0] && this.#waiting[0].at <= now) this.#waiting.shift()!.act();
    const next = this.#waiting[0];
    if (next) this.#timer = setTimeout(() => this.#run(), Math.max(1, next.at - now));
  }
}

export async function startFaultProxy(target: { port: number; host?: string }): Promise<FaultProxy> {
  const wires = new Set<Wire>();
  let mode: WireMode = 'pass';
  let latencyMs = 0;
  let bytesPerSecond = Infinity;
  let { port } = target;

  const isSwallowed = (wire: Wire) => (wire.isBroken ||= mode === 'swallow');

  /** One direction. */
  const carry = (wire: Wire, from: Socket, to: Socket) => {
    const line = new DelayLine();
    let delayed = 0;
    const goOn = () => {
      if (mode !== 'stall' && delayed <= maxDelayedBytes && !to.writableNeedDrain) from.resume();
    };
    from.on('data', (chunk: Buffer) => {
      if (isSwallowed(wire)) return;
      delayed += chunk.length;
      const write = () => {
        delayed -= chunk.length;
        if (!to.destroyed) to.write(chunk);
        goOn();
      };
      line.add(latencyMs, write, (chunk.length * 1000) / bytesPerSecond);
      if (delayed > maxDelayedBytes || to.writableNeedDrain) from.pause();
    });
    to.on('drain', goOn);
    const pass = (what: () => void) => () => {
      if (!isSwallowed(wire)) line.add(latencyMs, what);
    };
    from.on(
      'end',
      pass(() => to.end()),
    );
    from.on(
      'close',
      pass(() => to.end()),
    );
    from.on(
      'error',
      pass(() => to.destroy()),
    );
  };

  const server = createServer({ allowHalfOpen: true }, (near) => {
    if (mode === 'refuse') {
      near.resetAndDestroy();
      return;
    }
    near.setNoDelay(true);
    const far = connect({ port, host: target.host ?? '127.0.0.1', allowHalfOpen: true, noDelay: true });
    const wire: Wire = { near, far, isBroken: false };
    wires.add(wire);
    carry(wire, near, far);
    carry(wire, far, near);
    const forget = () => {
      if (near.destroyed && far.destroyed) wires.delete(wire);
    };
    near.on('close', forget);
    far.on('close', forget);
    if (mode === 'stall') {
      near.pause();
      far.pause();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const reset = () => {
    for (const { near, far } of wires) {
      near.resetAndDestroy();
      far.resetAndDestroy();
    }
  };
  return {
    port: (server.address() as AddressInfo).port,
    get size() {
      return wires.size;
    },
    set: (next, options = {}) => {
      mode = next;
      latencyMs = options.latencyMs ?? 0;
      bytesPerSecond = options.bytesPerSecond ?? Infinity;
      if (mode === 'refuse') reset();
      for (const { near, far } of wires)
        for (const side of [near, far])
          if (mode === 'stall') side.pause();
          else side.resume();
    },
    aim: (next) => {
      port = next;
    },
    reset,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const { near, far } of wires) {
        near.destroy();
        far.destroy();
      }
      await closed;
    },
  };
}
