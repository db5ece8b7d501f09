/**
 * Sends commands to the instance that owns a device, without a caller waiting for them. A command that failed because the
 * backplane was away is repeated until it succeeds: its task or cancel would otherwise wait for a sweep.
 */
import type { BackplaneInstance, Commands } from '@relay/backplane';
import type { Command } from '@relay/protocol';
import type { Logger } from '@relay/telemetry';

const repeatMs = 1000;
/** After this time the sweep of the gateway has repaired it. */
const patienceMs = 60_000;
const maxWaiting = 10_000;

interface CommandSender {
  /** Sends a command once, and again while its arrival is uncertain. Never throws. */
  sendCommand(this: void, deviceId: string, command: Command): void;
  /** Stops all retries. */
  stop(): void;
}

export function createCommandSender(
  backplane: Pick<Commands, 'route'> & Pick<BackplaneInstance, 'onRestored'>,
  logger: Logger,
  timeoutMs: number,
): CommandSender {
  /** Keyed by device and command: wake-ups for two messages are one. In the order of their failure. */
  const waiting = new Map<string, { deviceId: string; body: string; until: number }>();
  let timer: NodeJS.Timeout | undefined;
  let repeating = false;
  let stopped = false;

  /** False: unconfirmed, so it can be sent again. A duplicate does no harm: commands only name the data to read. */
  const bring = async (deviceId: string, body: string): Promise<boolean> => {
    const outcome = await backplane.route(deviceId, body, timeoutMs);
    return outcome !== 'unknown' && outcome !== 'expired';
  };

  const keep = (deviceId: string, body: string, until: number): void => {
    const key = `${deviceId} ${body}`;
    const pending = waiting.get(key);
    if (stopped || (!pending && waiting.size >= maxWaiting)) return;
    // The command was given again: its minute restarts.
    if (!pending || pending.until < until) waiting.set(key, { deviceId, body, until });
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
    sendCommand: (deviceId, command) => {
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
