/** Commands from other instances → the socket of the device, if it is here and under that very fence (rules, 15.13). */
import { type Command as CommandBody, decodeCommand } from '@relay/protocol';
import type { Command } from '@relay/backplane';
import type { Cancels } from '../tasks/cancels.ts';
import type { DaemonConnection } from '../connection/connection.ts';
import type { History } from '../history/history.ts';
import type { Hub } from '../connection/hub.ts';
import type { GatewayMetrics } from '../connection/metrics.ts';
import { isQuestion } from '../history/questions.ts';
import type { TaskWriter } from '../tasks/tasks-out.ts';
import type { Unnamed } from '../history/unnamed.ts';
import type { Watching } from '../sessions/watching.ts';

interface Outbound {
  hub: Hub;
  history: History;
  writer: TaskWriter;
  watching: Watching;
  unnamed: Unnamed;
  cancels: Cancels;
  metrics: GatewayMetrics;
}

/** Returns the listener of the backplane: true when the bytes are with the socket or the work is under way here. */
export function createOutbound({
  hub,
  history,
  writer,
  watching,
  unnamed,
  cancels,
  metrics,
}: Outbound): (command: Command) => boolean {
  const act = (connection: DaemonConnection, body: CommandBody, command: Command): boolean => {
    const later = (work: Promise<void>) => {
      work.catch((error: unknown) => connection.logger.warn({ err: error, kind: body.kind }, 'a command failed'));
      return true;
    };
    if (isQuestion(body)) {
      const { replyTo, correlation } = command;
      return replyTo !== undefined && correlation !== undefined && history.ask(connection, body, replyTo, correlation);
    }
    switch (body.kind) {
      case 'wake':
        // A message was sent: sessions have a newer last message than was read.
        connection.sessions.forgetRecords();
        return later(writer.drain(connection, 'woken'));
      case 'cancel': {
        const isSent = cancels.send(connection, body.taskId);
        later(writer.drain(connection));
        return isSent;
      }
      case 'changed':
        connection.sessions.forgetRecords(body.sessionKey);
        return later(
          body.unwatched === true
            ? watching.stop(connection, body.sessionKey)
            : watching.sync(connection, body.sessionKey),
        );
      case 'open':
        return later(watching.open(connection, body.sessionKey));
      case 'named':
        return later(unnamed.named(connection, body.taskId));
      case 'drop_file':
        return connection.can('files') && connection.send({ type: 'file_drop', file_id: body.fileId });
    }
  };

  return (command) => {
    const connection = hub.get(command.device, command.fence);
    const body = decodeCommand(command.body);
    const done = connection?.live === true && body !== undefined && act(connection, body, command);
    metrics.commands.inc({ kind: body?.kind ?? 'unknown', outcome: done ? 'ack' : 'nack' });
    return done;
  };
}
