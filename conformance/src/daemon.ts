/**
 * A daemon on `/ws/daemon`, as the specification describes it: answers pings and `get_messages`, sends nothing by itself.
 * Every frame of the relay is checked against its schema; a task that arrives twice, on any connection, is a violation.
 */
import { type ToDaemon, type ToDaemonFrame, decodeRelayFrame } from '@relay/protocol';
import { Inbox } from './inbox.ts';
import { type Live, connect } from './socket.ts';

export interface Device {
  readonly id: string;
  readonly token: string;
  readonly agentType: string;
  readonly hostname: string;
  /** Tasks that any connection of this device got. */
  readonly seenTasks: Set<string>;
}

export interface StoredMessage {
  uuid: string;
  role: 'USER' | 'AGENT';
  content: string;
  timestamp: string;
}

/** Fields of the answer to `get_messages` besides `type`, `request_id` and `session_id`; undefined: no answer. */
export type Reply = Record<string, unknown> | undefined;

export interface Daemon {
  readonly device: Device;
  readonly inbox: Inbox<ToDaemonFrame>;
  readonly live: Live;
  send(frame: Record<string, unknown>): void;
  status(runningTasks: readonly string[]): void;
  report(sessions: readonly Record<string, unknown>[]): void;
  event(taskId: string, eventType: string, fields?: Record<string, unknown>): void;
  activity(nativeId: string, fields: Record<string, unknown>): void;
  /** The stored messages of the daemon, by native session id: the answers to `get_messages`. */
  readonly history: Map<string, StoredMessage[]>;
  /** Answers one session's `get_messages` in another way. */
  answers(nativeId: string, reply: (frame: ToDaemon<'get_messages'>) => Reply): void;
  close(): Promise<void>;
  drop(): Promise<void>;
}

export const daemonVersion = '1.2.3-conformance';

export const daemonHeaders = (device: Pick<Device, 'id' | 'token' | 'agentType'>): Record<string, string> => ({
  Authorization: `Bearer ${device.token}`,
  'X-Device-ID': device.id,
  'X-Agent-Type': device.agentType,
  'X-Daemon-Version': daemonVersion,
});

/** The page that specification §6.2 asks for: the last `limit` messages of the range, in chronological order. */
export function pageOf(stored: readonly StoredMessage[], frame: ToDaemon<'get_messages'>): Reply {
  const indexOf = (uuid: string | undefined) => stored.findIndex((message) => message.uuid === uuid);
  const before = frame.before_uuid === undefined ? stored.length : indexOf(frame.before_uuid);
  const range = stored.slice(frame.after_uuid === undefined ? 0 : indexOf(frame.after_uuid) + 1, before);
  const messages = range.slice(-frame.limit);
  return {
    messages,
    has_more: messages.length < range.length,
    oldest_uuid: messages.at(0)?.uuid ?? null,
    newest_uuid: messages.at(-1)?.uuid ?? null,
  };
}

export async function openDaemon(
  wsUrl: string,
  device: Device,
  violated: (text: string) => void,
  options: { headers?: Readonly<Record<string, string>>; answerPings?: boolean; name?: string } = {},
): Promise<Daemon> {
  const { headers = daemonHeaders(device), answerPings = true, name = 'the daemon' } = options;
  const inbox = new Inbox<ToDaemonFrame>(name);
  const history = new Map<string, StoredMessage[]>();
  const replies = new Map<string, (frame: ToDaemon<'get_messages'>) => Reply>();
  // Frames can come before `connect` has resolved.
  let write: (frame: Record<string, unknown>) => void = () => undefined;

  const react = (frame: ToDaemonFrame) => {
    if (frame.type === 'ping' && answerPings) write({ type: 'pong' });
    if (frame.type === 'task_start' || frame.type === 'task_resume') {
      if (device.seenTasks.has(frame.task_id))
        violated(`rules, 2.1: the task ${frame.task_id} was written to a daemon twice`);
      device.seenTasks.add(frame.task_id);
    }
    if (frame.type === 'get_messages') {
      const reply = (replies.get(frame.session_id) ?? ((asked) => pageOf(history.get(asked.session_id) ?? [], asked)))(
        frame,
      );
      if (reply) write({ type: 'messages', request_id: frame.request_id, session_id: frame.session_id, ...reply });
    }
  };
  const onText = (text: string) => {
    const decoded = decodeRelayFrame(text);
    if (decoded.kind === 'malformed' || decoded.kind === 'invalid')
      violated(
        `specification §6.2: a frame to the daemon is ${decoded.kind}, ${decoded.reason}; came ${text.slice(0, 300)}`,
      );
    if (decoded.kind !== 'frame') return;
    inbox.push(decoded.frame);
    react(decoded.frame);
  };

  const live = await connect(`${wsUrl}/ws/daemon`, { headers, answerPings, onText });
  void live.closed.then(({ code, reason }) => inbox.end(`the socket was closed with ${code} ${reason}`));
  write = (frame) => live.send(JSON.stringify(frame));
  // Pings that arrived before this listener.
  for (const frame of inbox.since(0)) if (frame.type === 'ping' && answerPings) write({ type: 'pong' });

  const send = (frame: Record<string, unknown>) => write(frame);
  return {
    device,
    inbox,
    live,
    send,
    status: (runningTasks) => send({ type: 'status', running_tasks: runningTasks }),
    report: (sessions) => send({ type: 'report_sessions', sessions }),
    event: (taskId, eventType, fields = {}) =>
      send({ type: 'event', task_id: taskId, event_type: eventType, ...fields }),
    activity: (nativeId, fields) => send({ type: 'session_activity', session_id: nativeId, ...fields }),
    history,
    answers: (nativeId, reply) => void replies.set(nativeId, reply),
    close: () => live.close(),
    drop: () => live.drop(),
  };
}
