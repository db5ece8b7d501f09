/** The three REST calls of a daemon (specification §4.1; rules, chapter 7). Knows no file and no socket. */
import { retryAfterMs } from '@relay/protocol';
import { KEY_NOT_VALID } from '@relay/protocol/sentences';
import { type HttpAnswer, Failure, exchange, reasonOf, unreachable } from '@relay/machine';
import { exitCodes } from './exit-codes.ts';

export interface DeviceCode {
  deviceCode: string;
  userCode: string;
  /** The page where the person confirms; the code is already filled in if the relay offers such a link. */
  link: string;
  expiresInMs: number;
  intervalMs: number;
  /** A registration key has approved it: there is nothing to confirm. */
  approved: boolean;
}

export type PollAnswer =
  | { kind: 'credential'; deviceId: string; refreshToken: string }
  /** One of the strings of RFC 8628 §3.5 and RFC 6749 §5.2. */
  | { kind: 'refused'; error: string }
  /** The relay could not answer this time. */
  | { kind: 'later'; why: string; waitMs: number };

export interface RelayApi {
  /** `key`: a registration key, which approves it without a person. */
  requestCode(device: { hostname: string; agentType: string; name: string; key?: string }): Promise<DeviceCode>;
  pollToken(deviceCode: string): Promise<PollAnswer>;
  /** Resolves when the device is deleted, or was deleted before (200, 204, 404). */
  deleteDevice(deviceId: string, refreshToken: string): Promise<void>;
}

const requestTimeoutMs = 15_000;

interface ApiAnswer {
  status: number;
  body: Record<string, unknown>;
  retryAfter: string | null;
  location: string | null;
}

/** `timeoutMs`: the limit of one call. */
export function createApi(server: string, { timeoutMs = requestTimeoutMs }: { timeoutMs?: number } = {}): RelayApi {
  const call = async (method: string, path: string, headers: Record<string, string>, body?: unknown) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const type: Record<string, string> = text === undefined ? {} : { 'Content-Type': 'application/json' };
    try {
      // Redirects are not followed: they could send a credential elsewhere. The person decides.
      const headersOfAll = { Accept: 'application/json', ...type, ...headers };
      return answerOf(await exchange(`${server}${path}`, { method, headers: headersOfAll, body: text, timeoutMs }));
    } catch (error) {
      throw unreachable(server, error, '--server', exitCodes.unavailable);
    }
  };

  return {
    async requestCode({ hostname, agentType, name, key }) {
      const answer = await call(
        'POST',
        '/api/devices/code',
        {},
        { hostname, agent_type: agentType, device_name: name, ...(key === undefined ? {} : { key }) },
      );
      if (answer.body.code === 'KEY_NOT_VALID') throw new Failure('KEY_NOT_VALID', KEY_NOT_VALID, exitCodes.denied);
      if (answer.status !== 200) throw unexpected(server, 'the request for a code', answer);
      const field = reader(answer.body);
      const deviceCode = field.text('device_code', 'deviceCode');
      const userCode = field.text('user_code', 'userCode');
      const link = field.text(
        'verification_uri_complete',
        'verification_url',
        'verificationUrl',
        'verification_uri',
        'verificationUri',
      );
      if (!deviceCode || !userCode || !link) throw notARelay(server, 'its answer contains no code');
      return {
        deviceCode,
        userCode,
        link,
        expiresInMs: (field.seconds('expires_in', 'expiresIn') ?? 900) * 1000,
        intervalMs: (field.seconds('interval') ?? 5) * 1000,
        approved: answer.body.approved === true,
      };
    },

    async pollToken(deviceCode) {
      let answer: ApiAnswer;
      try {
        answer = await call('POST', '/api/devices/token', {}, { device_code: deviceCode });
      } catch (error) {
        return { kind: 'later', why: reasonOf(error), waitMs: 0 };
      }
      const field = reader(answer.body);
      if (answer.status === 200) {
        const deviceId = field.text('device_id', 'deviceId');
        const refreshToken = field.text('refresh_token', 'refreshToken');
        if (!deviceId || !refreshToken) throw notARelay(server, 'its answer contains no credential');
        return { kind: 'credential', deviceId, refreshToken };
      }
      if (answer.status === 429 || answer.status >= 500) {
        const waitMs = retryAfterMs(answer.retryAfter, Date.now()) ?? 0;
        return { kind: 'later', why: `the relay answered ${answer.status}`, waitMs };
      }
      const error = field.text('error');
      if (answer.status !== 400 || !error) throw unexpected(server, 'polling', answer);
      return { kind: 'refused', error };
    },

    async deleteDevice(deviceId, refreshToken) {
      const path = `/api/devices/${encodeURIComponent(deviceId)}`;
      const answer = await call('DELETE', path, { Authorization: `Bearer ${refreshToken}` });
      if ([200, 204, 404].includes(answer.status)) return;
      if (answer.status === 401) {
        throw new Failure(
          'CREDENTIAL_REFUSED',
          `${server} no longer accepts the credential of this device. Run "relay-daemon unregister --force" to delete it from this machine.`,
          exitCodes.denied,
        );
      }
      throw unexpected(server, 'the removal of the device', answer);
    },
  };
}

function answerOf({ status, headers, body: bytes }: HttpAnswer): ApiAnswer {
  let body: Record<string, unknown> = {};
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    if (typeof value === 'object' && value !== null) body = value as Record<string, unknown>;
  } catch {
    // An empty or foreign body: the status is enough.
  }
  return { status, body, retryAfter: headers.get('retry-after'), location: headers.get('location') };
}

/** Relays write snake_case, camelCase, or both (rules, 1.3). */
function reader(body: Record<string, unknown>) {
  const first = (names: readonly string[]) => names.map((name) => body[name]).find((value) => value !== undefined);
  return {
    text(...names: string[]): string | undefined {
      const value = first(names);
      return typeof value === 'string' && value !== '' ? value : undefined;
    },
    seconds(...names: string[]): number | undefined {
      const value = first(names);
      return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
    },
  };
}

const notARelay = (server: string, why: string) =>
  new Failure('NOT_A_RELAY', `${server} does not answer like a relay: ${why}. Check --server.`, exitCodes.unavailable);

function unexpected(server: string, what: string, { status, body, retryAfter, location }: ApiAnswer): Failure {
  const detail = typeof body.error === 'string' ? `: ${body.error.slice(0, 300)}` : '';
  if (status >= 300 && status < 400 && location) {
    return new Failure(
      'REDIRECTED',
      `${server} redirects to ${location}. Use that address with --server.`,
      exitCodes.usage,
    );
  }
  const later = status === 429 || status >= 500;
  const advice = later ? ` Try again ${retryAfter ? `in ${retryAfter} s` : 'later'}.` : '';
  return new Failure(
    later ? 'UNAVAILABLE' : 'REFUSED',
    `${server} answered ${status} to ${what}${detail}.${advice}`,
    later ? exitCodes.unavailable : exitCodes.failed,
  );
}
