/** A scripted daemon on a real socket: sends exactly the frames of the test, and answers pings. */
import { type Capability, relayCapabilitiesHeader } from '@relay/protocol';
import { WebSocket } from 'ws';
import { clientOf } from './client.ts';
import { type Frame, Inbox } from './inbox.ts';
import type { RelayAddress, TestRelay } from './relay.ts';

export interface Registration {
  deviceId: string;
  refreshToken: string;
  agentType: string;
  user: string;
}

/** Registers a device the way a daemon and its owner do it: code, approval, poll. */
export async function registerDevice(
  relay: RelayAddress,
  { user = 'alice', agentType = 'scripted', hostname = 'laptop' } = {},
): Promise<Registration> {
  const machine = clientOf(relay, { user: null });
  const { userCode, deviceCode } = await machine.call('requestCode', { body: { hostname, agent_type: agentType } });
  await clientOf(relay, { user }).call('approveCode', { params: { userCode } });
  const { deviceId, refreshToken } = await machine.call('pollCode', { body: { device_code: deviceCode } });
  return { deviceId, refreshToken, agentType, user };
}

export interface DaemonOptions {
  /** The index of the gateway; default the first. */
  gateway?: number;
  user?: string;
  agentType?: string;
  /** An earlier registration; default a new device. */
  registration?: Registration;
  /** Frames sent right after the open, as daemons do; default `status` with nothing running and an empty report. */
  hello?: readonly Frame[];
  /** Answer pings; default yes. */
  pong?: boolean;
  headers?: Record<string, string>;
  /** Names for `X-Daemon-Capabilities`. */
  capabilities?: readonly Capability[];
}

export interface TestDaemon {
  readonly registration: Registration;
  readonly deviceId: string;
  readonly inbox: Inbox;
  readonly socket: WebSocket;
  /** The capabilities that the relay declared on the 101. */
  readonly relayCapabilities: readonly string[];
  send(frame: Frame): void;
  /** A frame as this text. */
  sendText(text: string): void;
  /** The next TRANSCRIPT of a session; its version is one more than that of the one before, from 1 on. Returns that version. */
  transcript(taskId: string, nativeId: string, ops: readonly unknown[]): number;
  /** An `event` frame. */
  event(taskId: string, eventType: string, fields?: Record<string, unknown>): void;
  next: Inbox['next'];
  /** How the connection closed. */
  readonly closed: Promise<{ code: number; reason: string }>;
  /** Closes normally. Resolves when the relay has noticed, if it runs in this process. */
  close(): Promise<void>;
  /** Cuts the connection without a goodbye. Resolves like `close`. */
  drop(): Promise<void>;
}

/** Opens `/ws/daemon`. Rejects with the status and body of a refusal, as `UpgradeRefused`. */
export async function connectDaemon(relay: RelayAddress, options: DaemonOptions = {}): Promise<TestDaemon> {
  const registration =
    options.registration ??
    (await registerDevice(relay, {
      ...(options.user === undefined ? {} : { user: options.user }),
      ...(options.agentType === undefined ? {} : { agentType: options.agentType }),
    }));
  const socket = new WebSocket(`${relay.gateways[options.gateway ?? 0]!.url.replace('http', 'ws')}/ws/daemon`, {
    headers: {
      Authorization: `Bearer ${registration.refreshToken}`,
      'X-Device-ID': registration.deviceId,
      'X-Agent-Type': registration.agentType,
      'X-Daemon-Version': '1.0.0',
      ...(options.capabilities ? { 'X-Daemon-Capabilities': options.capabilities.join(', ') } : {}),
      ...options.headers,
    },
  });
  let declared: readonly string[] = [];
  socket.once('upgrade', ({ headers }) => {
    const list = headers[relayCapabilitiesHeader.toLowerCase()];
    declared = typeof list === 'string' ? list.split(',').map((name) => name.trim()) : [];
  });
  const versions = new Map<string, number>();
  const inbox = new Inbox('the daemon');
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => {
      inbox.end(`closed with ${code}`);
      resolve({ code, reason: reason.toString() });
    });
  });
  const write = (frame: Frame) => socket.send(JSON.stringify(frame));
  socket.on('message', (data: Buffer) => {
    const frame = JSON.parse(data.toString('utf8')) as Frame;
    if (frame.type === 'ping' && options.pong !== false) write({ type: 'pong' });
    inbox.push(frame);
  });
  await opened(socket);
  /** Otherwise a later step of the daemon, or of its user, could precede the relay's knowledge that it left. */
  const leave = async (how: () => void): Promise<void> => {
    const { backplane } = relay.gateways[options.gateway ?? 0] as Partial<TestRelay['gateways'][number]>;
    const fence = async () =>
      (await backplane?.owners([registration.deviceId]).catch(() => undefined))?.get(registration.deviceId)?.fence;
    const held = socket.readyState === WebSocket.OPEN ? await fence() : undefined;
    how();
    await closed;
    const deadline = performance.now() + 10_000;
    while (held !== undefined && (await fence()) === held) {
      if (performance.now() > deadline) throw new Error(`the relay still has a connection of ${registration.deviceId}`);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  };
  for (const frame of options.hello ?? [
    { type: 'status', running_tasks: [] },
    { type: 'report_sessions', sessions: [] },
  ])
    write(frame);
  return {
    registration,
    deviceId: registration.deviceId,
    inbox,
    socket,
    relayCapabilities: declared,
    send: write,
    sendText: (text) => socket.send(text),
    transcript: (taskId, nativeId, ops) => {
      const v = (versions.get(nativeId) ?? 0) + 1;
      versions.set(nativeId, v);
      // Exactly these members in this order.
      write({ type: 'event', event_type: 'TRANSCRIPT', task_id: taskId, session_id: nativeId, v, ops });
      return v;
    },
    event: (taskId, eventType, fields = {}) =>
      write({ type: 'event', task_id: taskId, event_type: eventType, ...fields }),
    next: (type, match, timeoutMs) => inbox.next(type, match, timeoutMs),
    closed,
    close: () =>
      leave(() => {
        socket.close(1000);
      }),
    drop: () =>
      leave(() => {
        socket.terminate();
      }),
  };
}

export class UpgradeRefused extends Error {
  readonly status: number;
  readonly headers: Record<string, string>;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into bodies of every shape
  readonly body: any;
  constructor(status: number, headers: Record<string, string>, text: string) {
    super(`refused with ${status}: ${text}`);
    this.status = status;
    this.headers = headers;
    this.body = text.startsWith('{') ? (JSON.parse(text) as unknown) : text;
  }
}

/** Resolves when the socket is open; rejects with `UpgradeRefused` when it was answered with anything but 101. */
export function opened(socket: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
    socket.once('unexpected-response', (_request, response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        reject(
          new UpgradeRefused(
            response.statusCode ?? 0,
            response.headers as Record<string, string>,
            Buffer.concat(chunks).toString('utf8'),
          ),
        );
        socket.terminate();
      });
    });
  });
}
