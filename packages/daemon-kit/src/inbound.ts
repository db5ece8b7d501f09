/** MEANING of each frame of the relay (specification §6.2). Knows no socket. A frame that it cannot decode is ignored and counted. */
import { type FromDaemonFrame, type Usage, type ToDaemon, type ToDaemonFrame, decodeRelayFrame } from '@relay/protocol';
import { reasonOf } from '@relay/machine';
import type { Caps } from './caps.ts';
import { type ContentReader, answerContent } from './contents.ts';
import { type FileQuestion, type Workspace, createFileAnswers } from './changes.ts';
import type { Clock } from './clock.ts';
import { type Browse, createFolders } from './folders.ts';
import { createSearch } from './search.ts';
import { summaryOf } from './summary.ts';
import type { Controls } from './controls.ts';
import type { Desk } from './desk.ts';
import { type Spending, answerSpending } from './spending.ts';
import type { Incoming } from './incoming.ts';
import type { Log } from './log.ts';
import type { Agent } from './agent.ts';
import type { Reader, Store } from './store.ts';
import type { Tasks } from './task.ts';

export interface InboundCounts {
  /** Frames of a type this daemon does not know. */
  unknown: number;
  /** Frames that are not a JSON object with a type, or lack a required field. */
  invalid: number;
}

interface InboundOptions {
  tasks: Tasks;
  agent: Pick<Agent, 'context'>;
  controls: Pick<Controls, 'answer' | 'answerAgent'>;
  store: Store;
  /** Adds messages that were written elsewhere to the session, before it is read. */
  sync?: (sessionId: string) => void;
  /** The fetch that must finish before that, with the reason when it failed. */
  bring?: (sessionId: string) => Promise<string | undefined> | undefined;
  watched: Watched;
  desk: Pick<Desk, 'answer' | 'release'>;
  /** The form that the relay reads: messages only, or the whole transcript. */
  reader?: () => Reader;
  /** Sends the pending changes of a session, so that no page holds a change that follows it as a frame. */
  flush?: (sessionId: string) => void;
  /** Reads content that items reference but do not hold. Undefined: no transcript content leaves this machine. */
  content?: ContentReader | undefined;
  /** Figures of use and their caps. */
  use: { spending: Spending; caps: Pick<Caps, 'settings'> };
  /** Reads folders of this machine. */
  browse?: Browse | undefined;
  /** Reads the files of sessions. */
  workspace?: Workspace | undefined;
  /** Receives files of people; undefined: this machine refuses them. */
  incoming?: Incoming | undefined;
  clock: Clock;
  send: (frame: FromDaemonFrame) => void;
  log: Log;
}

export interface Inbound {
  receive: (text: string) => void;
  counts: () => InboundCounts;
}

/** Sessions for which the relay requested `session_activity`. */
export interface Watched {
  add(sessionId: string): void;
  remove(sessionId: string): void;
  has(sessionId: string): boolean;
  /** In the order of `add`. */
  all(): string[];
  /** A new connection: the relay names them again. */
  clear(): void;
}

type Handlers = { [T in ToDaemonFrame['type']]: (frame: ToDaemon<T>) => void };

/** Bound on one `messages` frame; the endpoint takes 16 MiB. */
const maxPageBytes = 8 * 1024 * 1024;

export function createInbound({
  tasks,
  agent,
  store,
  sync,
  bring,
  watched,
  desk,
  send,
  log,
  ...options
}: InboundOptions): Inbound {
  const counts: InboundCounts = { unknown: 0, invalid: 0 };
  const folders = createFolders(options.browse);
  const search = createSearch({ store, clock: options.clock, log });
  const fileAnswers = createFileAnswers(options.workspace, store, options.clock);
  const answerFiles = (frame: FileQuestion) => void fileAnswers(frame).then(send);

  const notRead = (sessionId: string, error: unknown): string => {
    log.warn('history not read', { session: sessionId, why: reasonOf(error) });
    return 'the history of this session cannot be read';
  };

  /** `unread`: the reason why the agent's record of the session could not be read. */
  const answer = (frame: ToDaemon<'get_messages'>, unread?: string) => {
    const {
      request_id: requestId,
      session_id: sessionId,
      limit,
      before_uuid: beforeUuid,
      after_uuid: afterUuid,
      parts = false,
      changed,
    } = frame;
    const reply = { type: 'messages', request_id: requestId, session_id: sessionId } as const;
    const missing =
      unread === undefined
        ? 'this device has no such session'
        : `this session could not be read from its agent: ${unread}`;
    const fail = (error: string = missing) =>
      send({ ...reply, messages: [], has_more: false, oldest_uuid: null, newest_uuid: null, error });
    try {
      sync?.(sessionId);
      if (parts) {
        options.flush?.(sessionId);
        const found = partsOf(store, sessionId, { limit, beforeUuid, afterUuid, changed });
        if (!found) return fail();
        return 'error' in found ? fail(found.error) : send({ ...reply, ...found });
      }
      const reader = options.reader?.() ?? 'messages';
      const result = store.page(sessionId, { limit, beforeUuid, afterUuid, maxBytes: maxPageBytes }, reader);
      if (!result) return fail();
      if (!result.ok) return fail(result.error);
      const { page } = result;
      send({
        ...reply,
        messages: page.messages,
        has_more: page.hasMore,
        oldest_uuid: page.oldestUuid,
        newest_uuid: page.newestUuid,
      });
    } catch (error) {
      fail(notRead(sessionId, error));
    }
  };

  const sendUsage = ({ request_id: requestId, session_id: sessionId }: ToDaemon<'usage_request'>) => {
    const reply = { type: 'usage_response', request_id: requestId, session_id: sessionId } as const;
    const usage = store.has(sessionId) ? agent.context?.(sessionId) : undefined;
    if (!usage)
      return void send({
        ...reply,
        error: 'this device has no such session, or its agent does not report its context',
      });
    void usageOf(usage, options.use, sessionId).then((answer) => send({ ...reply, ...answer }));
  };

  const receive = (frame: ToDaemon<'file_open' | 'file_piece'>) =>
    send(
      options.incoming?.answer(frame) ?? {
        type: 'file_result',
        request_id: frame.request_id,
        error: 'this machine takes no files',
      },
    );

  const handlers: Handlers = {
    ping: () => send({ type: 'pong' }),
    task_start: (frame) => tasks.start(frame),
    task_resume: (frame) => tasks.resume(frame),
    task_steer: (frame) => tasks.steer(frame),
    task_cancel: (frame) => tasks.cancel(frame.task_id),
    get_messages(frame) {
      const wait = bring?.(frame.session_id);
      if (wait) void wait.then((unread) => answer(frame, unread));
      else answer(frame);
    },
    watch_session: (frame) => watched.add(frame.session_id),
    unwatch_session: (frame) => watched.remove(frame.session_id),
    usage_request: sendUsage,
    spending_request: (frame) => send(answerSpending(options.use.spending, frame)),
    settings_request: (frame) => void options.controls.answer(frame).then(send),
    agent_settings_request: (frame) => send(options.controls.answerAgent(frame)),
    get_folders: (frame) => void folders(frame).then(send),
    search_request: (frame) => void search(frame).then(send),
    get_changes: answerFiles,
    get_diff: answerFiles,
    get_files: answerFiles,
    get_file: answerFiles,
    content_request: (frame) => send(answerContent(options.content, frame)),
    context_request({ request_id: requestId, session_id: sessionId, include }) {
      const reply = { type: 'context_response', request_id: requestId, session_id: sessionId } as const;
      try {
        const context = summaryOf(store, sessionId, include ?? {}, tasks.isActive(sessionId));
        send(context ? { ...reply, context } : { ...reply, error: 'this device has no such session' });
      } catch (error) {
        send({ ...reply, error: notRead(sessionId, error) });
      }
    },
    force_quit_session: (frame) => void desk.release(frame).then(send),
    file_open: receive,
    file_piece: receive,
    file_drop: (frame) => options.incoming?.drop(frame.file_id),
    desk_request: (frame) => void desk.answer(frame).then(send),
    version_status({ status, message, latest_version: latest, changelog_url: changelog }) {
      if (status === 'current') return;
      log.warn(status === 'update_required' ? 'update required' : 'update available', { latest, message, changelog });
    },
  };

  return {
    receive(text) {
      const decoded = decodeRelayFrame(text);
      if (decoded.kind === 'frame') {
        const { frame } = decoded;
        try {
          return (handlers[frame.type] as (frame: ToDaemonFrame) => void)(frame);
        } catch (error) {
          // A bad frame must not stop the daemon and with it every turn.
          return log.warn('frame failed', { frame: frame.type, why: reasonOf(error) });
        }
      }
      if (decoded.kind === 'unknown') counts.unknown++;
      else counts.invalid++;
      log.warn('frame ignored', { kind: decoded.kind, why: decoded.reason.slice(0, 200) });
    },
    counts: () => ({ ...counts }),
  };
}

/** Bounded: the relay can name more sessions than exist, but must not fill the memory. */
export function createWatched(maxSessions: number = 10_000): Watched {
  const sessions = new Set<string>();
  return {
    add(sessionId) {
      sessions.add(sessionId);
      const [oldest] = sessions;
      if (sessions.size > maxSessions && oldest !== undefined) sessions.delete(oldest);
    },
    remove: (sessionId) => void sessions.delete(sessionId),
    has: (sessionId) => sessions.has(sessionId),
    all: () => [...sessions],
    clear: () => sessions.clear(),
  };
}

/** A page of items, as fields of `messages`. */
function partsOf(store: Store, sessionId: string, request: Parameters<Store['items']>[1]) {
  const found = store.items(sessionId, request);
  if (!found || 'error' in found) return found;
  const { items, hasMore, v, reset } = found;
  return {
    has_more: hasMore,
    oldest_uuid: items[0]?.uuid ?? null,
    newest_uuid: items.at(-1)?.uuid ?? null,
    v,
    ...(reset ? { reset } : {}),
    // Last: an instance of the relay forwards it as text.
    messages: items,
  };
}

/** The answer of the agent, with the caps in force. Cost and caps outlive the process of an agent. */
async function usageOf(usage: Promise<Usage>, { spending, caps }: InboundOptions['use'], sessionId: string) {
  const settings = caps.settings(sessionId);
  const inForce = { caps: Object.fromEntries(settings.map(({ id, value }) => [id, value])) };
  const own = settings.length === 0 ? {} : inForce;
  try {
    return { usage: { ...(await usage), ...own } };
  } catch (error) {
    const cost = { amount: spending.ofSession(sessionId, 'USD'), currency: 'USD' };
    return settings.length === 0 ? { error: reasonOf(error) } : { usage: { cost, ...own } };
  }
}
