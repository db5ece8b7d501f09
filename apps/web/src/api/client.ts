/** The relay's REST API as the pages use it. A token that is refused is renewed once; then the person signs in again. */
import type {
  CodeDetail,
  CommandList,
  ConnectionList,
  Device,
  MessagePage,
  SentMessage,
  Session,
  SessionDetail,
  SessionList,
  CreatedSession,
} from '@relay/protocol';
import type { Access } from '../auth/access.ts';
import type { Place } from '../place.ts';
import { type Asked, askJson } from './http.ts';
import { Refusal } from './refusal.ts';

export type Connection = ConnectionList['connections'][number];
export type Client = ReturnType<typeof createClient>;

const pageSize = 50;

const query = (values: Record<string, string | number | undefined>): string => {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) params.set(name, String(value));
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
};

/** Images take their time to travel. */
const imagesTimeoutMs = 120_000;

/** All that the relay keeps of a person. */
const exportTimeoutMs = 300_000;

const sending = (body: object, idempotencyKey: string, images: readonly string[]): Asked => ({
  method: 'POST',
  body: images.length > 0 ? { ...body, images } : body,
  headers: { 'Idempotency-Key': idempotencyKey },
  ...(images.length > 0 ? { timeoutMs: imagesTimeoutMs } : {}),
});

export function createClient({ publicUrl }: Place, access: Pick<Access, 'bearer' | 'renew'>) {
  const call = async <T>(path: string, asked: Asked = {}): Promise<T> => {
    const with_ = (token: string) =>
      askJson<T>(`${publicUrl}/api${path}`, {
        ...asked,
        headers: { ...asked.headers, Authorization: `Bearer ${token}` },
      });
    const token = await access.bearer();
    try {
      return await with_(token);
    } catch (error) {
      if (!(error instanceof Refusal) || error.status !== 401) throw error;
      return with_(await access.renew(token));
    }
  };
  const session = (id: string) => `/sessions/${encodeURIComponent(id)}`;
  const device = (id: string) => `/devices/${encodeURIComponent(id)}`;
  const code = (userCode: string) => `/devices/code/${encodeURIComponent(userCode)}`;

  return {
    devices: async (signal?: AbortSignal) =>
      (await call<{ devices: Device[] }>('/devices', { ...(signal ? { signal } : {}) })).devices,
    renameDevice: (id: string, name: string) => call<Device>(device(id), { method: 'PATCH', body: { name } }),
    removeDevice: (id: string) => call<void>(device(id), { method: 'DELETE' }),
    connections: async (id: string) =>
      (await call<{ connections: Connection[] }>(`${device(id)}/connections`)).connections,

    exportAccount: () => call<unknown>('/me/export', { timeoutMs: exportTimeoutMs }),
    deleteAccount: (confirm: string) =>
      call<unknown>('/me', { method: 'DELETE', body: { confirm }, timeoutMs: exportTimeoutMs }),

    readCode: (userCode: string) => call<CodeDetail>(code(userCode)),
    approveCode: (userCode: string) => call<{ deviceId: string }>(`${code(userCode)}/approve`, { method: 'POST' }),
    denyCode: (userCode: string) => call<unknown>(`${code(userCode)}/deny`, { method: 'POST' }),

    sessions: (filter: { deviceId?: string; archived?: 'true' | 'false'; cursor?: string } = {}) =>
      call<SessionList>(`/sessions${query({ limit: pageSize, ...filter })}`),
    session: (id: string, limit = pageSize) => call<SessionDetail>(`${session(id)}${query({ limit })}`),
    olderMessages: (id: string, before: string) =>
      call<MessagePage>(`${session(id)}/messages${query({ limit: pageSize, before })}`),
    startSession: (
      body: { deviceId: string; message: string; projectPath?: string },
      idempotencyKey: string,
      images: readonly string[] = [],
    ) => call<CreatedSession>('/sessions', sending(body, idempotencyKey, images)),
    sendMessage: (id: string, content: string, idempotencyKey: string, images: readonly string[] = []) =>
      call<SentMessage>(`${session(id)}/messages`, sending({ content }, idempotencyKey, images)),
    commands: async (id: string) => (await call<CommandList>(`${session(id)}/commands`)).commands,
    cancel: (id: string) => call<unknown>(`${session(id)}/cancel`, { method: 'POST' }),
    changeSession: (id: string, change: { title?: string; archived?: boolean }) =>
      call<Session>(session(id), { method: 'PATCH', body: change }),

    ticket: async () => (await call<{ ticket: string }>('/ws-tickets', { method: 'POST' })).ticket,
  };
}
