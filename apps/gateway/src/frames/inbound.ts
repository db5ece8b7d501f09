/**
 * MEANING: the handler for each frame type. Adding a frame to the protocol breaks the build here. A connection handles
 * its frames one at a time, in order: the next frame waits for the promise that a handler returns; a handler that
 * returns undefined is done.
 */
import type { Publisher } from '@relay/attention';
import { type FromDaemon, type FromDaemonFrame, isNativeId } from '@relay/protocol';
import { type Database, gathered, openTasks, saveSlashCommandSets, saveSlashCommands } from '@relay/database';
import type { DaemonConnection, Received } from '../connection/connection.ts';
import type { Events } from './events.ts';
import type { HeldSessions } from './held-sessions.ts';
import type { History } from '../history/history.ts';
import type { GatewayMetrics } from '../connection/metrics.ts';
import type { NativeSessions } from './native-sessions.ts';
import { type AnswerType, answerTypes } from '../history/questions.ts';
import type { Reports } from './reports.ts';
import type { Status } from './status.ts';
import { slashCommands } from '../sessions/translate.ts';
import type { Watching } from '../sessions/watching.ts';

type Handler<T extends FromDaemonFrame['type']> = (
  connection: DaemonConnection,
  frame: Received<FromDaemon<T>>,
) => void | Promise<void>;

interface InboundDeps {
  database: Database;
  publisher: Publisher;
  sessions: NativeSessions;
  watching: Watching;
  history: History;
  status: Status;
  events: Events;
  reports: Reports;
  activity: Handler<'session_activity'>;
  held: HeldSessions;
  metrics: GatewayMetrics;
}

export interface FrameDispatcher {
  /** The device is ours and online: loads its open tasks, and sends the daemon the sessions to watch. */
  begin(connection: DaemonConnection, reportHash: string | null): Promise<void>;
  /** Handles one frame: at once, or when the promise resolves. */
  dispatch(connection: DaemonConnection, frame: Received): void | Promise<void>;
  /** Handles the text of a report that is the last one of its connection again. Undefined: it has to be decoded. */
  repeat(connection: DaemonConnection, text: string): Promise<void> | undefined;
}

export function createInbound(deps: InboundDeps): FrameDispatcher {
  const { database, publisher, sessions, watching, history, status, events, reports, activity, held, metrics } = deps;

  const tasksOf = gathered((deviceIds) => openTasks(database, deviceIds));

  const saveCommands: Handler<'report_slash_commands'> = async ({ deviceId }, frame) => {
    if (frame.sets) {
      const sets = frame.sets.map(({ project, commands }) => ({ project, commands: slashCommands(commands) }));
      await saveSlashCommandSets(database, deviceId, sets);
      return;
    }
    const nativeId = frame.session_id ?? '';
    if (nativeId === '' || isNativeId(nativeId))
      await saveSlashCommands(database, deviceId, nativeId, slashCommands(frame.commands ?? []));
    else metrics.ignored.inc({ cause: 'unknown session' });
  };

  const answered: Handler<AnswerType> = (connection, frame) => history.answered(connection, frame);
  const answers = Object.fromEntries(answerTypes.map((type) => [type, answered])) as {
    [T in AnswerType]: Handler<T>;
  };
  const handlers: { [T in FromDaemonFrame['type']]: Handler<T> } = {
    ...answers,
    status: (connection, frame) => status.apply(connection, frame),
    stopping: ({ tasks }) => tasks.phase.stop(),
    report_sessions: (connection, frame) => reports.apply(connection, frame),
    session_activity: activity,
    settings_activity: async (connection, { session_id: nativeId, defaults }) => {
      const record = await sessions.find(connection, nativeId);
      if (!record) return;
      const { ownerId, session } = record;
      await publisher.append(ownerId, { type: 'settings_changed', sessionId: session.id }, 'x');
      const { deviceId, agentType } = session;
      if (defaults) await publisher.append(ownerId, { type: 'device_settings_changed', deviceId, agentType }, 'x');
    },
    session_held: (connection, frame) => held.save(connection, frame),
    report_slash_commands: saveCommands,
    event: (connection, frame) => events.dispatch(connection, frame),
  };

  return {
    begin: async (connection, reportHash) => {
      connection.report.load(reportHash);
      for (const task of (await tasksOf(connection.deviceId)) ?? []) connection.tasks.add(task);
      await watching.resume(connection);
    },
    repeat: (connection, text) => reports.repeat(connection, text),
    dispatch: (connection, frame) => (handlers[frame.type] as Handler<typeof frame.type>)(connection, frame),
  };
}
