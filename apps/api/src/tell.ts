/**
 * Commands to the instance that owns a device, without anybody waiting for them. One that could not be brought because the backplane stood
 * still is repeated until it can be: what waits for it, a task or a cancel, would otherwise wait for a sweep.
 */
import type { BackplaneInstance, Commands } from '@relay/backplane';
import type { Command } from '@relay/protocol';
import type { Logger } from '@relay/telemetry';

const repeatMs = 1000;
/** By then the sweep of the gateway has repaired it. */
const patienceMs = 60_000;
const maxWaiting = 10_000;

export interface Teller {
  /** Sends a command once, and again while it may not have arrived. Never throws. */
  tell(this: void, deviceId: string, command: Command): void;
  /** Ends the retries of everything that waits. */
  stop(): void;
}

export function createTeller(
  backplane: Pick<Commands, 'route'> & Pick<BackplaneInstance, 'onRestored'>,
  logger: Logger,
  timeoutMs: number,
): Teller {
  /** By device and command, each once: a wake-up for two messages is one. In the order in which they failed. */
  const waiting = new Map<string, { deviceId: string; body: string; until: number }>();
  let timer: NodeJS.Timeout | undefined;
  let repeating = false;
  let stopped = false;

  /** False: nothing confirmed it, and it may be sent again. Sent twice does no harm: commands say what to look at. */
  const bring = async (deviceId: string, body: string): Promise<boolean> => {
    const outcome = await backplane.route(deviceId, body, timeoutMs);
    return outcome !== 'unknown' && outcome !== 'expired';
  };

  const keep = (deviceId: string, body: string, until: number): void => {
    const key = `${deviceId} ${body}`;
    const known = waiting.get(key);
    if (stopped || (!known && waiting.size >= maxWaiting)) return;
    // Given again meanwhile: its minute begins again.
    if (!known || known.until < until) waiting.set(key, { deviceId, body, until });
    plan();
  };

  const plan = (): void => {
    if (timer || stopped || waiting.size === 0) return;
    timer = setTimeout(() => {
      timer = undefined;
      void repeat();
    }, repeatMs);
    timer.unref();
  };

  /** One at a time; when the backplane cannot be asked it is too early for all of them. */
  const repeat = async (): Promise<void> => {
    if (repeating) return;
    repeating = true;
    try {
      for (const [key, { deviceId, body, until }] of [...waiting]) {
        if (stopped) return;
        waiting.delete(key);
        if (performance.now() > until) continue;
        const brought = await bring(deviceId, body).catch(() => undefined);
        if (brought === true) continue;
        keep(deviceId, body, until);
        if (brought === undefined) return;
      }
    } finally {
      repeating = false;
      plan();
    }
  };

  backplane.onRestored(() => void repeat());

  return {
    tell: (deviceId, command) => {
      const body = JSON.stringify(command);
      const until = performance.now() + patienceMs;
      bring(deviceId, body).then(
        (brought) => {
          if (!brought) keep(deviceId, body, until);
        },
        (error: unknown) => {
          logger.warn({ err: error, deviceId, kind: command.kind }, 'a command could not be routed; it is repeated');
          keep(deviceId, body, until);
        },
      );
    },
    stop: () => {
      stopped = true;
      clearTimeout(timer);
      waiting.clear();
    },
  };
}
