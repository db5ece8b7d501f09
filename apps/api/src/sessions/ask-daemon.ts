/** Asks the daemon of a session, through the instance that holds the device (rules, 9.8). */
import { BackplaneError } from '@relay/backplane';
import type { SessionPlace } from '@relay/database';
import { type Command, type ErrorCode, RelayError, type Reply, decodeAnswer, takesDetail } from '@relay/protocol';
import type { Operations } from '../deps.ts';

/** The gateway answers by its own clock; this one only fires when the gateway itself is gone. */
const patienceMs = 1000;

const failures: Partial<Record<BackplaneError['code'], ErrorCode>> = {
  OFFLINE: 'DEVICE_OFFLINE',
  CLOSED: 'DEVICE_OFFLINE',
  TIMEOUT: 'DEVICE_TIMEOUT',
};

const retryOf = (code: ErrorCode) => (code === 'DEVICE_OFFLINE' ? { retryAfter: 10 } : {});

/** The error of a failed reply. Gateways of earlier releases send a sentence of their own with each code. */
function errorOf({ code, error, scopes, received }: Extract<Reply, { kind: 'failure' }>): RelayError {
  const options = {
    ...retryOf(code),
    details: { ...(scopes ? { scopes } : {}), ...(received === undefined ? {} : { received }) },
  };
  return takesDetail(code) ? new RelayError(code, error, options) : new RelayError(code, options);
}

/** @throws RelayError SESSION_NOT_RESOLVED: the daemon has not named the session yet, so the api cannot ask about it */
export function requireNamed(session: Pick<SessionPlace, 'placeholder'>, what: string): void {
  if (session.placeholder)
    throw new RelayError('SESSION_NOT_RESOLVED', `The device has not started this session yet, so it has no ${what}.`);
}

/**
 * Returns the reply, of one of these kinds; `rest` is the text after `items`.
 * @throws RelayError DEVICE_OFFLINE, DEVICE_TIMEOUT, SERVICE_UNAVAILABLE, and refusals of the gateway
 */
export async function askDaemon<K extends Exclude<Reply['kind'], 'failure'>>(
  deps: Operations,
  deviceId: string,
  command: Command,
  ...kinds: readonly K[]
): Promise<Extract<Reply, { kind: K }> & { rest: string }> {
  const text = await deps.backplane
    .request(
      deviceId,
      JSON.stringify(command),
      (command.kind === 'ask_files' ? 2 : 1) * deps.config.daemonReplyTimeoutMs + patienceMs,
    )
    .catch((error: unknown) => {
      const code = error instanceof BackplaneError ? failures[error.code] : undefined;
      if (!code) throw error;
      throw new RelayError(code, { cause: error, ...retryOf(code) });
    });
  const { reply, rest } = decodeAnswer(text) ?? { reply: undefined, rest: '' };
  if (reply?.kind === 'failure') throw errorOf(reply);
  if (!reply || !(kinds as readonly string[]).includes(reply.kind))
    throw new RelayError('SERVICE_UNAVAILABLE', 'Another instance answered in a way this one does not understand.', {
      retryAfter: 5,
    });
  return { ...(reply as Extract<Reply, { kind: K }>), rest };
}
