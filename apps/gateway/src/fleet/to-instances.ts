/** Messages to other instances: nothing waits for their delivery, and a failure is only logged. */
import { type Backplane, type Commands, poker } from '@relay/backplane';
import type { Command } from '@relay/protocol';
import type { Logger } from '@relay/telemetry';

/** Messages to the instance that owns a device now, perhaps not the instance that handled its late frame. */
interface Owners {
  /** A late event named the session of this task. If the message is lost, the outcome stays as it is. */
  readonly requestSearch: (deviceId: string, taskId: string) => void;
  /** Queued tasks are due. If the message is lost, a sweep finds them. */
  readonly wake: (deviceId: string) => void;
}

export function createOwners(backplane: Pick<Commands, 'route'>, logger: Logger, timeoutMs: number): Owners {
  const send = (deviceId: string, command: Command) => {
    backplane
      .route(deviceId, JSON.stringify(command), timeoutMs)
      .catch((error: unknown) =>
        logger.warn({ err: error, deviceId, kind: command.kind }, 'the owner of a device was not notified'),
      );
  };
  return {
    requestSearch: (deviceId, taskId) => send(deviceId, { v: 1, kind: 'named', taskId }),
    wake: (deviceId) => send(deviceId, { v: 1, kind: 'wake' }),
  };
}

/**
 * Notifies one api of new notifications, which sends them, or all apis if none confirms (rules, 14.5). Returns immediately; if it
 * fails, the next look of any api finds the notifications.
 */
export const createNotify = (backplane: Backplane, logger: Logger): (() => void) =>
  poker(
    backplane,
    'outbox',
    () => backplane.publishControl(JSON.stringify({ v: 1, kind: 'outbox' })),
    (error) => logger.warn({ err: error }, 'outbox not announced'),
  );
