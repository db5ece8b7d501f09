/** The routes of the public API this program uses (contract §3). Answers are taken as they come: unknown fields and values pass. */
import type {
  CommandList,
  ConnectionList,
  CreateSession,
  CreatedSession,
  ReleasedSession,
  SessionSummary,
  Device,
  Me,
  SendMessage,
  SentMessage,
  Session,
  SessionDetail,
  SessionList,
  SessionStatus,
  Static,
  Task,
} from '@relay/protocol';
import { deleteConfirmation } from '@relay/protocol';
import { notARelay } from './failure.ts';
import { type Reply, createRequest } from './request.ts';
import type { Access } from './sign-in/access.ts';

export interface SessionsWish {
  deviceId?: string;
  status?: SessionStatus;
  archived?: 'true' | 'false' | 'all';
}

export type WatchState = { sessionId: string; watched: boolean };
export type Replayed = { replayed: boolean };

export interface Api {
  readonly url: string;
  me(): Promise<Static<typeof Me>>;
  /** Everything that the relay keeps of the person. */
  exportAccount(): Promise<Record<string, unknown>>;
  /** For good. */
  deleteAccount(): Promise<void>;
  devices(): Promise<Device[]>;
  renameDevice(id: string, name: string): Promise<Device>;
  removeDevice(id: string): Promise<void>;
  connections(id: string): Promise<ConnectionList['connections']>;
  /** All pages, at most `maxSessions`. */
  sessions(wish?: SessionsWish): Promise<Session[]>;
  /** With its newest `limit` messages (1–200). */
  session(id: string, limit: number): Promise<SessionDetail>;
  createSession(body: CreateSession, idempotencyKey: string): Promise<CreatedSession & Replayed>;
  sendMessage(id: string, body: SendMessage, idempotencyKey: string): Promise<SentMessage & Replayed>;
  commands(id: string): Promise<CommandList['commands']>;
  summary(id: string): Promise<SessionSummary>;
  release(id: string): Promise<ReleasedSession>;
  cancel(id: string): Promise<{ taskId: string; state: 'cancelled' }>;
  task(id: string): Promise<Task>;
  watch(id: string): Promise<WatchState>;
  unwatch(id: string): Promise<WatchState>;
}

export const maxSessions = 10_000;

export function createApi(access: Access): Api {
  const request = createRequest(access);
  const { url } = access;

  /** The door: an answer without the fields that everything here is built on is none of a relay. */
  const having = <T>({ body }: Reply, ...fields: (keyof T & string)[]): T => {
    const missing = fields.find((field) => body[field] === undefined);
    if (missing !== undefined) throw notARelay(url, `"${missing}" is missing in its answer`);
    return body as T;
  };
  const list = <T>({ body }: Reply, field: string): T[] => {
    if (!Array.isArray(body[field])) throw notARelay(url, `"${field}" is missing in its answer`);
    return body[field] as T[];
  };
  const device = (id: string) => `/api/devices/${encodeURIComponent(id)}`;
  const session = (id: string) => `/api/sessions/${encodeURIComponent(id)}`;

  return {
    url,
    me: async () => having<Static<typeof Me>>(await request('GET', '/api/me'), 'id', 'scopes'),
    exportAccount: async () =>
      having<Record<string, unknown>>(await request('GET', '/api/me/export'), 'account', 'sessions'),
    deleteAccount: async () => void (await request('DELETE', '/api/me', { body: { confirm: deleteConfirmation } })),
    devices: async () => list<Device>(await request('GET', '/api/devices'), 'devices'),
    renameDevice: async (id, name) => having<Device>(await request('PATCH', device(id), { body: { name } }), 'id'),
    removeDevice: async (id) => void (await request('DELETE', device(id))),
    connections: async (id) => list(await request('GET', `${device(id)}/connections`), 'connections'),
    async sessions(wish = {}) {
      const found: Session[] = [];
      let cursor: string | undefined;
      do {
        const reply = await request('GET', '/api/sessions', {
          query: { ...wish, ...(cursor ? { cursor, limit: 200 } : {}) },
        });
        found.push(...list<Session>(reply, 'sessions'));
        cursor = (reply.body as SessionList).nextCursor;
      } while (cursor !== undefined && found.length < maxSessions);
      return found;
    },
    session: async (id, limit) =>
      having<SessionDetail>(await request('GET', session(id), { query: { limit } }), 'id', 'messages'),
    async createSession(body, idempotencyKey) {
      const reply = await request('POST', '/api/sessions', { body, idempotencyKey });
      return { ...having<CreatedSession>(reply, 'id', 'taskId'), replayed: reply.replayed };
    },
    async sendMessage(id, body, idempotencyKey) {
      const reply = await request('POST', `${session(id)}/messages`, { body, idempotencyKey });
      return { ...having<SentMessage>(reply, 'taskId', 'sessionId'), replayed: reply.replayed };
    },
    commands: async (id) => list(await request('GET', `${session(id)}/commands`), 'commands'),
    summary: async (id) =>
      having<SessionSummary>(await request('GET', `${session(id)}/summary`), 'title', 'recentMessages'),
    release: async (id) => having<ReleasedSession>(await request('POST', `${session(id)}/release`), 'result'),
    cancel: async (id) =>
      having<{ taskId: string; state: 'cancelled' }>(await request('POST', `${session(id)}/cancel`), 'taskId', 'state'),
    task: async (id) => having<Task>(await request('GET', `/api/tasks/${encodeURIComponent(id)}`), 'id', 'state'),
    watch: async (sessionId) =>
      having<WatchState>(
        await request('POST', '/api/watched-sessions', { body: { sessionId } }),
        'sessionId',
        'watched',
      ),
    unwatch: async (sessionId) =>
      having<WatchState>(
        await request('DELETE', '/api/watched-sessions', { body: { sessionId } }),
        'sessionId',
        'watched',
      ),
  };
}
