/** The relay's interface for commands: calls by route name, the live stream, and every failure as a sentence. */
import { type Client, type OutgoingFile, SignedOutError, createClient, sendFile } from '@relay/client';
import type { RouteName, Session, SessionStatus } from '@relay/protocol';
import { Failure, fetchWithin } from '@relay/machine';
import { exitCodes, notARelay } from './failure.ts';
import { failureOf } from './refusals.ts';
import type { Access } from './sign-in/access.ts';

/** `call`, `request` and `sendFile` throw a Failure; `attention` fails like the package. */
export interface Relay extends Client {
  /** Sends a file to a device. */
  sendFile(deviceId: string, file: OutgoingFile): Promise<void>;
}

/** The fields that commands rely on: an answer that lacks them does not come from a relay. Other fields can change. */
const essential: Partial<Record<RouteName, readonly string[]>> = {
  me: ['id', 'scopes'],
  exportMe: ['account', 'sessions'],
  listDevices: ['devices'],
  updateDevice: ['id'],
  listConnections: ['connections'],
  listSessions: ['sessions'],
  readSession: ['id', 'messages'],
  readMessages: ['messages'],
  updateSession: ['id'],
  createSession: ['id', 'taskId'],
  sendMessage: ['taskId', 'sessionId'],
  listCommands: ['commands'],
  readSummary: ['title', 'recentMessages'],
  readSettings: ['settings'],
  changeSetting: ['settings'],
  readDeviceSettings: ['settings'],
  changeDeviceSetting: ['settings'],
  readContent: ['data'],
  releaseSession: ['result'],
  letGo: ['free'],
  cancelSession: ['taskId', 'state'],
  readTask: ['id', 'state'],
  listInbox: ['version', 'counts', 'items'],
  ackInbox: ['version', 'counts'],
  ackItem: ['version', 'counts'],
  snoozeItem: ['version', 'counts'],
  unsnoozeItem: ['version', 'counts'],
  listSubscriptions: ['subscriptions'],
  addSubscription: ['subscription'],
  changeSubscription: ['id', 'state'],
  testSubscription: ['deliveryId'],
  readDelivery: ['id', 'state'],
  watch: ['sessionId', 'watched'],
  unwatch: ['sessionId', 'watched'],
};
const lists = new Set([
  'messages',
  'devices',
  'connections',
  'sessions',
  'commands',
  'settings',
  'subscriptions',
  'items',
]);

/** The package's client with this program's sign-in; failures stay errors of the package. */
export const clientOf = (access: Access): Client =>
  createClient({ baseUrl: access.url, getToken: tokenOf(access), fetch: fetchWithin() });

export function relayOf(access: Access): Relay {
  const { url } = access;
  const client = clientOf(access);

  const check = (name: RouteName, body: unknown) => {
    const fields = body as Readonly<Record<string, unknown>>;
    const missing = essential[name]?.find((field) =>
      lists.has(field) ? !Array.isArray(fields[field]) : fields[field] === undefined,
    );
    if (missing !== undefined) throw notARelay(url, `"${missing}" is missing in its answer`);
  };
  const request: Client['request'] = async (name, ...input) => {
    try {
      const answer = await client.request(name, ...input);
      check(name, answer.body);
      return answer;
    } catch (error) {
      throw failureOf(url, error);
    }
  };
  return {
    url,
    request,
    call: async (...input) => (await request(...input)).body,
    attention: (options) => client.attention(options),
    async sendFile(deviceId, file) {
      try {
        await sendFile(client, deviceId, file);
      } catch (error) {
        throw failureOf(url, error);
      }
    },
  };
}

/** An expired or revoked sign-in stops the stream; a temporary failure to renew is retried. */
const tokenOf =
  (access: Access) =>
  async ({ refused, minValidMs }: { refused?: string | undefined; minValidMs?: number | undefined }) => {
    try {
      const { renewable } = access;
      if (refused !== undefined && !renewable) return { token: refused };
      const { token, expiresAt } = await access.token({
        ...(minValidMs === undefined ? {} : { atLeastMs: minValidMs }),
        ...(refused === undefined ? {} : { refused }),
      });
      return renewable ? { token, expiresAt } : { token };
    } catch (error) {
      if (!(error instanceof Failure) || error.exitCode === exitCodes.temporary) throw error;
      throw new SignedOutError(error.message, { cause: error });
    }
  };

interface SessionsWish {
  deviceId?: string;
  status?: SessionStatus;
  archived?: 'true' | 'false' | 'all';
  q?: string;
  pinned?: 'true';
}

const maxSessions = 10_000;

/** Returns all pages, at most `maxSessions`. */
export async function allSessions(relay: Relay, wish: SessionsWish = {}): Promise<Session[]> {
  const found: Session[] = [];
  let cursor: string | undefined;
  do {
    const page = await relay.call('listSessions', { query: { ...wish, limit: 200, ...(cursor ? { cursor } : {}) } });
    found.push(...page.sessions);
    cursor = page.nextCursor;
  } while (cursor !== undefined && found.length < maxSessions);
  return found;
}

/** The relay answered this key before and repeated that answer. */
export const isReplay = (headers: Headers): boolean => headers.get('idempotent-replay') === 'true';
