import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';

const now = Date.now;
let setMs = 0;
beforeAll(() => void jest.spyOn(Date, 'now').mockImplementation(() => now() + setMs));
afterAll(() => void jest.restoreAllMocks());

it.each([-3_600_000, 3_600_000])(
  'a live socket is asked, and not taken for silent, when the clock is set by %d ms',
  async (ms) => {
    // Loaded now, because a module can capture the clock at load time.
    const { Heartbeats } = await import('../src/index.ts');
    const { openDoor, until } = await import('./door.ts');
    const door = await openDoor();
    // The socket receives nothing from now on.
    const { socket } = await door.connect({ autoPong: false });
    let pings = 0;
    let silent = false;
    const heartbeat = new Heartbeats({ intervalMs: 5, timeoutMs: 60_000, firstDelayMs: 0 }).start({
      ping: () => {
        pings += 1;
        socket.ping();
      },
      get lastInboundAt() {
        return socket.lastInboundAt;
      },
      onSilence: () => (silent = true),
    });
    try {
      await until('it was asked', () => pings > 0);
      const asked = pings;
      setMs = ms;
      await until('it is asked again', () => pings > asked + 2);
      expect(silent).toBe(false);
    } finally {
      setMs = 0;
      heartbeat.stop();
      await door.close();
    }
  },
);
