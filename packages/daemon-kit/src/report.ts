/** Reports on the sessions of the daemon: `report_sessions` entries and `session_activity` (specification §6.3). Pure. */
import { basename } from 'node:path';
import type { FromDaemon, Held, ReportEntry } from '@relay/protocol';
import type { SessionSummary } from './store.ts';

/** A session, and whether a turn that is not ours runs in it. */
export type Reported = SessionSummary & { isActive?: boolean };

/**
 * Sessions in the given order, as many as fit: a frame holds at most 16 MiB, and leaving a session out does not delete it (rules,
 * 4.2: absence is not deletion).
 */
export function reportOf(
  sessions: readonly Reported[],
  isActive: (sessionId: string) => boolean,
  maxBytes: number = 8 * 1024 * 1024,
  withTranscript = false,
  held: ReadonlyMap<string, Held> = new Map(),
): FromDaemon<'report_sessions'> {
  const entries: ReportEntry[] = [];
  let bytes = 0;
  for (const session of sessions) {
    const holder = held.get(session.sessionId);
    const entry = {
      ...entryOf(counted(session, withTranscript), session.isActive === true || isActive(session.sessionId)),
      ...(holder === undefined ? {} : { held: holder }),
    };
    bytes += Buffer.byteLength(JSON.stringify(entry), 'utf8') + 1;
    if (bytes > maxBytes) break;
    entries.push(entry);
  }
  return { type: 'report_sessions', sessions: entries };
}

/** Counts the messages this relay knows; with a transcript also those in the middle of a turn. */
const counted = <S extends SessionSummary>(session: S, withTranscript: boolean): S =>
  withTranscript ? { ...session, messageCount: session.transcriptCount ?? session.messageCount } : session;

const entryOf = (session: SessionSummary, isActive: boolean): ReportEntry => ({
  session_id: session.sessionId,
  last_message: session.lastMessage,
  is_active: isActive,
  ...(session.agentType === undefined ? {} : { agent_type: session.agentType }),
  message_count: session.messageCount,
  // An empty time would clear the relay's time, an empty title or path would hide a better one.
  ...(session.lastActivity === '' ? {} : { last_activity: session.lastActivity }),
  ...(session.title === '' ? {} : { title: session.title }),
  ...(session.projectPath === '' ? {} : { project: session.projectPath, project_name: basename(session.projectPath) }),
});

/** `spoken`: for a relay with `transcript`. */
export function activityOf(
  session: SessionSummary,
  isCompletion: boolean,
  withTranscript = false,
): FromDaemon<'session_activity'> {
  return {
    type: 'session_activity',
    session_id: session.sessionId,
    last_message: session.lastMessage,
    message_count: counted(session, withTranscript).messageCount,
    is_completion: isCompletion,
    last_activity: session.lastActivity,
    ...(withTranscript && session.lastUuid !== undefined ? { message_uuid: session.lastUuid } : {}),
  };
}
