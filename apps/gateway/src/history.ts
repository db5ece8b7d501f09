/** History: the only thing the relay asks a daemon for and waits (contract §5). Identical requests in flight share one frame. */
import { randomUUID } from 'node:crypto';
import { type Command, type FromDaemon, type Reply, limits } from '@relay/protocol';
import type { Backplane } from '@relay/backplane';
import type { DaemonConnection } from './connection.ts';
import type { GatewayMetrics } from './metrics.ts';
import { historyReply } from './translate.ts';

type HistoryCommand = Extract<Command, { kind: 'history' }>;
const maxRequests = 1000;

export interface History {
  /** Asks the daemon. False when the frame could not be written: nobody will answer. */
  ask(connection: DaemonConnection, command: HistoryCommand, replyTo: string, correlation: string): boolean;
  /** A `messages` frame: the answer to a request of this connection, or a stray. */
  answered(connection: DaemonConnection, frame: FromDaemon<'messages'>): void;
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
      const limit = Math.min(command.limit, limits.historyPage);
      const sameAs = JSON.stringify([command.sessionId, limit, command.before, command.after]);
      for (const request of requests.values()) {
        if (request.sameAs !== sameAs) continue;
        request.waiters.push({ replyTo, correlation });
        return true;
      }
      if (requests.size >= maxRequests) return false;
      const requestId = randomUUID();
      const written = connection.send({
        type: 'get_messages',
        request_id: requestId,
        session_id: command.sessionId,
        limit,
        ...(command.before === undefined ? {} : { before_uuid: command.before }),
        ...(command.after === undefined ? {} : { after_uuid: command.after }),
      });
      if (!written) return false;
      const timer = setTimeout(() => {
        finish(connection, requestId, {
          v: 1,
          kind: 'failure',
          code: 'DEVICE_TIMEOUT',
          error: 'The daemon did not answer in time. Try again.',
        });
      }, timeoutMs);
      requests.set(requestId, { sameAs, waiters: [{ replyTo, correlation }], timer });
      return true;
    },
    answered: (connection, frame) => {
      if (!finish(connection, frame.request_id, historyReply(frame, new Date())))
        metrics.ignored.inc({ cause: 'stray messages' });
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
