/**
 * History and context: what the relay asks a daemon for and waits (contract §5; `context_request`: field daemons). Identical
 * requests in flight share one frame.
 */
import { randomUUID } from 'node:crypto';
import { type FromDaemon, type Reply, type ToDaemon, limits } from '@relay/protocol';
import type { Backplane } from '@relay/backplane';
import type { DaemonConnection } from './connection.ts';
import type { Question } from './device-memory.ts';
import type { GatewayMetrics } from './metrics.ts';
import { contextReply, historyReply } from './translate.ts';

type Answer = FromDaemon<'messages' | 'context_response'>;
const maxRequests = 1000;

export interface History {
  /** Asks the daemon. False when the frame could not be written: nobody will answer. */
  ask(connection: DaemonConnection, command: Question, replyTo: string, correlation: string): boolean;
  /** The answer to a request of this connection, or a stray. */
  answered(connection: DaemonConnection, frame: Answer): void;
  /** The connection ended: everybody who waits is told at once. */
  abandon(connection: DaemonConnection): void;
}

export function createHistory(backplane: Backplane, metrics: GatewayMetrics, timeoutMs: number): History {
  const finish = (connection: DaemonConnection, requestId: string, reply: Reply) => {
    const request = connection.memory.requests.get(requestId);
    if (!request) return false;
    connection.memory.requests.delete(requestId);
    clearTimeout(request.timer);
    const body = JSON.stringify(reply);
    for (const { replyTo, correlation } of request.waiters) {
      backplane
        .reply(replyTo, correlation, body)
        .catch((error: unknown) => connection.logger.warn({ err: error }, 'a reply could not be delivered'));
    }
    return true;
  };

  return {
    ask: (connection, command, replyTo, correlation) => {
      const { requests } = connection.memory;
      for (const request of requests.values()) {
        if (!isSame(request.question, command)) continue;
        request.waiters.push({ replyTo, correlation });
        return true;
      }
      if (requests.size >= maxRequests) return false;
      const requestId = randomUUID();
      const frame = frameOf(command, requestId);
      const written = connection.send(frame);
      if (!written) return false;
      const timer = setTimeout(() => {
        finish(connection, requestId, {
          v: 1,
          kind: 'failure',
          code: 'DEVICE_TIMEOUT',
          error: 'The daemon did not answer in time. Try again.',
        });
      }, timeoutMs);
      const answer = frame.type === 'get_messages' ? 'messages' : 'context_response';
      requests.set(requestId, { answer, question: command, waiters: [{ replyTo, correlation }], timer });
      return true;
    },
    answered: (connection, frame) => {
      const isAnswer = connection.memory.requests.get(frame.request_id)?.answer === frame.type;
      const reply = () => (frame.type === 'messages' ? historyReply(frame, new Date()) : contextReply(frame));
      if (!isAnswer || !finish(connection, frame.request_id, reply()))
        metrics.ignored.inc({ cause: `stray ${frame.type}` });
    },
    abandon: (connection) => {
      for (const requestId of [...connection.memory.requests.keys()]) {
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

function isSame(one: Question, other: Question): boolean {
  if (one.sessionId !== other.sessionId) return false;
  if (one.kind !== 'history' || other.kind !== 'history') return one.kind === other.kind;
  return one.limit === other.limit && one.before === other.before && one.after === other.after;
}

function frameOf(command: Question, requestId: string): ToDaemon<'get_messages'> | ToDaemon<'context_request'> {
  if (command.kind === 'ask_context')
    return { type: 'context_request', session_id: command.sessionId, request_id: requestId };
  return {
    type: 'get_messages',
    session_id: command.sessionId,
    limit: Math.min(command.limit, limits.historyPage),
    ...(command.before === undefined ? {} : { before_uuid: command.before }),
    ...(command.after === undefined ? {} : { after_uuid: command.after }),
    request_id: requestId,
  };
}
