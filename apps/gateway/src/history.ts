/** Requests to a daemon that are not answered yet (rules, 9.8). Identical requests in flight share one frame. */
import { randomUUID } from 'node:crypto';
import { type Reply, encodeFiles, encodeItems, transcriptLimits } from '@relay/protocol';
import type { Commands } from '@relay/backplane';
import type { DaemonConnection, Received } from './connection.ts';
import type { Answer, Question } from './requests.ts';
import { type FileAnswer, filesReply } from './file-questions.ts';
import type { GatewayMetrics } from './metrics.ts';
import { repeats } from './pages.ts';
import { asked, replyOf } from './questions.ts';
import { isTransfer } from './transfers.ts';
import { itemsReply } from './translate.ts';

export type HistoryPage = Extract<Reply, { kind: 'page' }>;
const maxRequests = 1000;

/** Twice the size limit of a page. */
const maxItemsBytes = 2 * transcriptLimits.pageBytes;
const tooMuch: Reply = { v: 1, kind: 'failure', code: 'DEVICE_ERROR', error: 'The device answered too much.' };

export interface History {
  /** Asks the daemon. False when it cannot be asked this, or the frame could not be written. */
  ask(connection: DaemonConnection, command: Question, replyTo: string, correlation: string): boolean;
  /** The newest messages of a session; undefined when the daemon cannot be asked, is silent or answers with an error. */
  page(connection: DaemonConnection, nativeId: string, limit: number): Promise<HistoryPage | undefined>;
  /** The answer to a request of this connection, or a stray. */
  answered(connection: DaemonConnection, frame: Received<Answer>): void;
  /** The connection closed: answers every waiting caller immediately. */
  abandon(connection: DaemonConnection): void;
}

export function createHistory(backplane: Pick<Commands, 'reply'>, metrics: GatewayMetrics, timeoutMs: number): History {
  const finish = (connection: DaemonConnection, requestId: string, reply: Reply, rest?: string) => {
    const request = connection.requests.inFlight.get(requestId);
    if (!request) return false;
    connection.requests.inFlight.delete(requestId);
    clearTimeout(request.timer);
    for (const tell of request.waiters) tell(reply, rest);
    return true;
  };

  const question = (
    connection: DaemonConnection,
    command: Question,
    tell: (reply: Reply, rest?: string) => void,
  ): boolean => {
    const { inFlight } = connection.requests;
    for (const request of inFlight.values()) {
      if (!isSame(request.question, command)) continue;
      request.waiters.push(tell);
      return true;
    }
    if (inFlight.size >= maxRequests) return false;
    const requestId = randomUUID();
    const request = asked(command, requestId, (capability) => connection.can(capability));
    if (!request || !connection.send(request.frame)) return false;
    // A large folder takes longer to compare than a page of history to read.
    const patienceMs = command.kind === 'ask_files' ? 2 * timeoutMs : timeoutMs;
    const timer = setTimeout(() => {
      finish(connection, requestId, {
        v: 1,
        kind: 'failure',
        code: 'DEVICE_TIMEOUT',
        error: 'The daemon did not answer in time. Try again.',
      });
    }, patienceMs);
    const { answer } = request;
    inFlight.set(requestId, { answer, question: command, waiters: [tell], timer });
    return true;
  };

  /** The reply; a page that repeats the one before is the last. */
  const notForEver = (connection: DaemonConnection, question: Question, frame: Exclude<Answer, FileAnswer>): Reply => {
    const reply = replyOf(question, frame, new Date());
    if (question.kind !== 'history' || reply.kind !== 'page') return reply;
    const { pages } = connection.requests;
    const { before, after, sessionId } = question;
    const page = { before, after, oldest: reply.oldestUuid, newest: reply.newestUuid };
    const again = repeats(pages.get(sessionId), page);
    pages.set(sessionId, page);
    return again ? { ...reply, hasMore: false } : reply;
  };

  return {
    ask: (connection, command, replyTo, correlation) =>
      question(connection, command, (reply, rest) => {
        const body = bodyOf(reply, rest);
        backplane
          .reply(replyTo, correlation, body)
          .catch((error: unknown) => connection.logger.warn({ err: error }, 'a reply could not be delivered'));
      }),
    page: (connection, nativeId, limit) =>
      new Promise((resolve) => {
        const command = { v: 1, kind: 'history', sessionId: nativeId, limit } as const;
        const tell = (reply: Reply) => resolve(reply.kind === 'page' ? reply : undefined);
        if (!question(connection, command, tell)) resolve(undefined);
      }),
    answered: (connection, frame) => {
      if (frame.type === 'pong') {
        for (const [id, { answer }] of connection.requests.inFlight)
          if (answer === 'pong') finish(connection, id, { v: 1, kind: 'device_pong' });
        return;
      }
      const request = connection.requests.inFlight.get(frame.request_id);
      if (request?.answer === frame.type) {
        if (isAboutFiles(frame)) {
          const { reply, rest } = filesReply(frame);
          finish(connection, frame.request_id, reply, rest);
          return;
        }
        const items = isForParts(request.question) && frame.type === 'messages' ? itemsReply(frame) : undefined;
        if (!items) finish(connection, frame.request_id, notForEver(connection, request.question, frame));
        else if (Buffer.byteLength(items.rest) > maxItemsBytes) finish(connection, frame.request_id, tooMuch);
        else finish(connection, frame.request_id, items.head, items.rest);
      } else metrics.ignored.inc({ cause: `stray ${frame.type}` });
    },
    abandon: (connection) => {
      for (const requestId of [...connection.requests.inFlight.keys()]) {
        finish(connection, requestId, {
          v: 1,
          kind: 'failure',
          code: 'DEVICE_OFFLINE',
          error: 'The device went offline while it was asked.',
        });
      }
    },
  };
}

const bodyOf = (reply: Reply, rest = ''): string =>
  reply.kind === 'items'
    ? encodeItems(reply, rest)
    : reply.kind === 'device_files'
      ? encodeFiles(rest)
      : JSON.stringify(reply);

const isAboutFiles = (frame: Answer): frame is FileAnswer =>
  frame.type === 'changes' || frame.type === 'diff' || frame.type === 'files' || frame.type === 'file';

function isSame(one: Question, other: Question): boolean {
  if (one.kind === 'ask_pong' || other.kind === 'ask_pong') return one.kind === other.kind;
  // Each has an effect.
  if (isTransfer(one) || isTransfer(other)) return false;
  if (one.kind === 'ask_folders') return other.kind === 'ask_folders' && one.path === other.path;
  if (one.kind === 'ask_search') return other.kind === 'ask_search' && one.query === other.query;
  if (one.kind === 'ask_spending')
    return (
      other.kind === 'ask_spending' && (['from', 'to', 'zone'] as const).every((name) => one[name] === other[name])
    );
  if (other.kind === 'ask_folders' || other.kind === 'ask_search' || other.kind === 'ask_spending') return false;
  // Each has an effect or an answer of its own.
  if (one.kind === 'ask_agent_settings' || other.kind === 'ask_agent_settings') return false;
  if (one.sessionId !== other.sessionId) return false;
  if (one.kind === 'release' && other.kind === 'release') return one.stopTurn === other.stopTurn;
  if (one.kind === 'ask_desk' && other.kind === 'ask_desk') return one.letGo === other.letGo;
  if (one.kind === 'ask_files' && other.kind === 'ask_files')
    return fileFields.every((name) => one[name] === other[name]);
  if (one.kind === 'ask_settings' && other.kind === 'ask_settings')
    return one.change === undefined && other.change === undefined && one.known === other.known;
  if (one.kind === 'ask_content' && other.kind === 'ask_content')
    return (['uuid', 'name', 'offset', 'limit'] as const).every((name) => one[name] === other[name]);
  if (one.kind !== 'history' || other.kind !== 'history') return one.kind === other.kind;
  const isSamePlace = one.before === other.before && one.after === other.after && one.changed === other.changed;
  return isSamePlace && one.limit === other.limit && one.parts === other.parts;
}

const fileFields = ['about', 'scope', 'turn', 'path', 'after', 'from', 'find', 'side', 'offset', 'limit'] as const;
const isForParts = (question: Question): boolean => question.kind === 'history' && question.parts === true;
