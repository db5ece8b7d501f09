/** Requests to a daemon that are not answered yet (rules, 9.8). Identical requests in flight share one frame. */
import { randomUUID } from 'node:crypto';
import { type Reply, encodeFiles, encodeItems } from '@relay/protocol';
import type { Commands } from '@relay/backplane';
import type { DaemonConnection, Received } from '../connection/connection.ts';
import type { GatewayMetrics } from '../connection/metrics.ts';
import { failure } from '../sessions/failures.ts';
import { repeats } from '../sessions/pages.ts';
import { type DaemonAnswer, type DaemonQuestion, patienceOf, questionFrame, replyOf, sharedKey } from './questions.ts';
import type { Requests, Waiter } from '../connection/requests.ts';

type DaemonPage = Extract<Reply, { kind: 'page' }>;

export interface History {
  /** Asks the daemon. False when it cannot be asked this, or the frame could not be written. */
  ask(connection: DaemonConnection, command: DaemonQuestion, replyTo: string, correlation: string): boolean;
  /** The newest messages of a session; undefined when the daemon cannot be asked, is silent or answers with an error. */
  page(connection: DaemonConnection, nativeId: string, limit: number): Promise<DaemonPage | undefined>;
  /** The answer to a request of this connection, or a stray. */
  answered(connection: DaemonConnection, frame: Received<DaemonAnswer>): void;
  /** The connection closed: answers every waiting caller immediately. */
  abandon(connection: DaemonConnection): void;
}

export function createHistory(backplane: Pick<Commands, 'reply'>, metrics: GatewayMetrics, timeoutMs: number): History {
  const requestsOf = ({ requests }: DaemonConnection) => requests as Requests<DaemonQuestion>;

  const send = (connection: DaemonConnection, question: DaemonQuestion, waiter: Waiter): boolean => {
    const requests = requestsOf(connection);
    const key = sharedKey(question);
    if (requests.join(key, waiter)) return true;
    if (requests.isFull) return false;
    const requestId = randomUUID();
    const request = questionFrame(question, requestId, (capability) => connection.can(capability));
    if (!request || !connection.send(request.frame)) return false;
    const timer = setTimeout(
      () => {
        requests.settle(requestId, failure('DEVICE_TIMEOUT'));
      },
      patienceOf(question) * timeoutMs,
    );
    requests.add(requestId, { question, answer: request.answer, key, waiters: [waiter], timer });
    return true;
  };

  /** A page that repeats the one before is the last. */
  const notForEver = (connection: DaemonConnection, question: DaemonQuestion, reply: Reply): Reply => {
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
      send(connection, command, (reply, rest) => {
        const body = bodyOf(reply, rest);
        backplane
          .reply(replyTo, correlation, body)
          .catch((error: unknown) => connection.logger.warn({ err: error }, 'a reply could not be delivered'));
      }),
    page: (connection, nativeId, limit) =>
      new Promise((resolve) => {
        const question = { v: 1, kind: 'history', sessionId: nativeId, limit } as const;
        const waiter = (reply: Reply) => resolve(reply.kind === 'page' ? reply : undefined);
        if (!send(connection, question, waiter)) resolve(undefined);
      }),
    answered: (connection, frame) => {
      const requests = requestsOf(connection);
      if (frame.type === 'pong') {
        requests.settleAll({ v: 1, kind: 'device_pong' }, 'pong');
        return;
      }
      const { request_id: id } = frame;
      const request = requests.get(id);
      if (request?.answer !== frame.type) {
        metrics.ignored.inc({ cause: `stray ${frame.type}` });
        return;
      }
      const reply = replyOf(request.question, frame);
      if ('rest' in reply) requests.settle(id, reply.reply, reply.rest);
      else requests.settle(id, notForEver(connection, request.question, reply));
    },
    abandon: ({ requests }) => requests.settleAll(failure('DEVICE_OFFLINE')),
  };
}

const bodyOf = (reply: Reply, rest = ''): string =>
  reply.kind === 'items'
    ? encodeItems(reply, rest)
    : reply.kind === 'device_files'
      ? encodeFiles(rest)
      : JSON.stringify(reply);
