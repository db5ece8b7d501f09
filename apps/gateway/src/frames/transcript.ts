/** MEANING of events that belong to no task of the database: the live transcript of a session, and tasks that were lost with commits. */
import type { DaemonEvent } from '@relay/protocol';
import type { DaemonConnection, Received } from '../connection/connection.ts';
import type { GatewayMetrics } from '../connection/metrics.ts';
import type { NativeSessions } from './native-sessions.ts';
import { type TextPublisher, endMessage, isEnding } from '../sessions/text-publisher.ts';
import { nativeIdOf } from '../sessions/translate.ts';

export interface Transcript {
  /** An event of a session that was started on the machine. */
  ofSession(connection: DaemonConnection, nativeId: string, event: Received<DaemonEvent>): Promise<void>;
  /**
   * The database lacks the task or its session: both can be lost with commits (ADR 32). Shows the texts in the session
   * that the daemon names, so that apps keep them after a reload. No task changes.
   */
  ofLostTask(connection: DaemonConnection, taskId: string, event: Received<DaemonEvent>): Promise<void>;
}

interface TranscriptDeps {
  sessions: NativeSessions;
  textPublisher: TextPublisher;
  metrics: GatewayMetrics;
}

export function createTranscript({ sessions, textPublisher, metrics }: TranscriptDeps): Transcript {
  const ofSession: Transcript['ofSession'] = async (connection, nativeId, event) => {
    const { changes } = connection.sessions;
    const record = await sessions.find(connection, nativeId);
    if (!record) return;
    switch (event.event_type) {
      case 'AGENT_RESPONSE':
      case 'USER_MESSAGE':
        return textPublisher.publish(connection, record, event);
      case 'OUTPUT':
      case 'VERBOSE':
        return textPublisher.output(record, event);
      case 'TRANSCRIPT':
        if (connection.sessions.changes === changes) connection.sessions.rememberSubject(event, record);
        return textPublisher.transcript(record, event);
      case 'WARNING':
        return textPublisher.warn(connection, record, event);
    }
  };

  return {
    ofSession,
    ofLostTask: async (connection, taskId, event) => {
      const nativeId = nativeIdOf(event);
      const isSilent = event.event_type === 'SESSION_STARTED' || event.event_type === 'PROGRESS';
      if (nativeId === undefined || isSilent || connection.evidence.isCompleted(taskId)) {
        metrics.ignored.inc({ cause: 'unknown task' });
        return;
      }
      if (!isEnding(event)) {
        await ofSession(connection, nativeId, event);
        return;
      }
      const record = await sessions.find(connection, nativeId, 'unknown task');
      connection.tasks.forget(taskId);
      connection.evidence.complete(taskId);
      if (record)
        await textPublisher.publishEnd(connection, record, endMessage(event, new Date()), { key: `lost ${taskId}` });
    },
  };
}
