/**
 * A client of `/ws/attention` on a real socket. Without `@relay/client` on purpose: it presents every kind of credential, wrong
 * ones too, sees each close, and never connects again.
 */
import { WebSocket } from 'ws';
import { opened } from './daemon.ts';
import { type Frame, Inbox } from './inbox.ts';
import type { RelayAddress } from './relay.ts';

export interface AppOptions {
  user?: string;
  /** The index of the api; default the first. */
  api?: number;
  /** Token to send; default a fresh one of the user. */
  token?: string;
  /** How to send the credential; `none` omits it. Default `header`. */
  credential?: 'header' | 'protocol' | 'access_token' | 'token' | 'ticket' | 'none';
  /** Understand offsets: '' from now on, or an offset to resume from. */
  since?: string;
  /** Ask for task output. */
  output?: boolean;
  /** Ask for the transcript of sessions. */
  transcript?: boolean;
  origin?: string;
  headers?: Record<string, string>;
}

export interface TestApp {
  readonly inbox: Inbox;
  readonly socket: WebSocket;
  next: Inbox['next'];
  send(frame: Frame): void;
  readonly closed: Promise<{ code: number; reason: string }>;
  close(): Promise<void>;
}

/** Opens `/ws/attention`. Rejects with `UpgradeRefused` when it is refused. */
export async function connectApp(relay: RelayAddress, options: AppOptions = {}): Promise<TestApp> {
  const { credential = 'header', user = 'alice' } = options;
  const token = options.token ?? relay.token(user);
  const url = new URL('/ws/attention', relay.apis[options.api ?? 0]!.url.replace('http', 'ws'));
  if (credential === 'access_token' || credential === 'token' || credential === 'ticket')
    url.searchParams.set(credential, token);
  if (options.since !== undefined) url.searchParams.set('since', options.since);
  const events = [...(options.output ? ['output'] : []), ...(options.transcript ? ['transcript'] : [])];
  if (events.length > 0) url.searchParams.set('events', events.join(','));
  const socket = new WebSocket(url, credential === 'protocol' ? ['relay.v1', `bearer.${token}`] : [], {
    headers: {
      ...(credential === 'header' ? { Authorization: `Bearer ${token}` } : {}),
      ...(options.origin === undefined ? {} : { Origin: options.origin }),
      ...options.headers,
    },
  });
  const inbox = new Inbox('the app');
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => {
      inbox.end(`closed with ${code}`);
      resolve({ code, reason: reason.toString() });
    });
  });
  socket.on('message', (data: Buffer) => inbox.push(JSON.parse(data.toString('utf8')) as Frame));
  await opened(socket);
  return {
    inbox,
    socket,
    next: (type, match, timeoutMs) => inbox.next(type, match, timeoutMs),
    send: (frame) => socket.send(JSON.stringify(frame)),
    closed,
    close: async () => {
      socket.close(1000);
      await closed;
    },
  };
}
