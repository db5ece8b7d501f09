/**
 * MEANING of `event` frames (rules, 11.4): how each changes its task and session, and which frames apps receive, in
 * order. Write first, publish second. An event of a known running task that does not complete it touches no database;
 * only messages need a promise. Events are not fenced: see `withOwned`.
 */
import type { Publisher } from '@relay/attention';
import { type Database, type SessionRecord, readSessions, withDevice } from '@relay/database';
import { type DaemonEvent, type Progress, transcriptLimits } from '@relay/protocol';
import type { DaemonConnection, Received } from '../connection/connection.ts';
import type { Endings } from './endings.ts';
import type { GatewayMetrics } from '../connection/metrics.ts';
import type { ProgressBoard } from '../sessions/progress.ts';
import type { TaskEntry } from '../connection/open-tasks.ts';
import { type Prompts, isPromptEvent } from './prompts.ts';
import { publishResolution, resolveNamed } from '../sessions/resolution.ts';
import { type RunningTasks, keepsName } from '../tasks/running-tasks.ts';
import { type TextPublisher, isEnding } from '../sessions/text-publisher.ts';
import type { Steers } from '../tasks/steers.ts';
import type { Transcript } from './transcript.ts';
import { progress } from '../sessions/translate.ts';
import type { Watching } from '../sessions/watching.ts';

interface EventDeps {
  database: Database;
  publisher: Publisher;
  watching: Watching;
  progress: ProgressBoard;
  running: RunningTasks;
  textPublisher: TextPublisher;
  transcript: Transcript;
  endings: Endings;
  prompts: Prompts;
  steers: Steers;
  metrics: GatewayMetrics;
  requestSearch: (deviceId: string, taskId: string) => void;
}

export interface Events {
  /** Handles one event: at once, or when the promise resolves. The caller keeps the order. */
  dispatch(connection: DaemonConnection, event: Received<DaemonEvent>): void | Promise<void>;
}

export function createEvents(deps: EventDeps): Events {
  const { database, publisher, progress: board, running, textPublisher, transcript, metrics } = deps;

  /**
   * Shows the session's state at send time, which can be a while after the event: never an older state, never after the
   * task is over.
   */
  const showProgress = (connection: DaemonConnection, entry: TaskEntry, now: Progress) => {
    const show = (record: SessionRecord | undefined) => {
      // The task might have been cancelled without a command to this instance.
      const runs = record?.session.status === 'active' || record?.session.status === 'pending';
      if (record && runs && connection.tasks.get(entry.id) === entry)
        publisher.sessionHot({ ...record, session: { ...record.session, progress: now } });
    };
    // Publish immediately if possible: the daemon's next event is published after it.
    if (entry.record) show(entry.record);
    else
      running
        .recordOf(connection, entry)
        .then(show)
        .catch((error: unknown) => connection.logger.warn({ err: error }, 'progress was not shown'));
  };

  /** An event of a task that runs in this session and continues. */
  const publish = (
    connection: DaemonConnection,
    entry: TaskEntry,
    record: SessionRecord,
    event: Received<DaemonEvent>,
  ): void | Promise<void> => {
    switch (event.event_type) {
      case 'PROGRESS': {
        const now = progress(event, new Date());
        board.offer({ key: record.key, taskId: entry.id, progress: now }, () => showProgress(connection, entry, now));
        return;
      }
      case 'OUTPUT':
      case 'VERBOSE':
        textPublisher.output(record, event, entry);
        return;
      case 'AGENT_RESPONSE':
      case 'USER_MESSAGE':
        return textPublisher.publish(connection, record, event);
      case 'TRANSCRIPT':
        textPublisher.transcript(record, event, entry);
        return;
      case 'WARNING':
        return textPublisher.warn(connection, record, event);
    }
  };

  /**
   * A task that was already over, cancelled for instance: its session can still get its name, and apps still get its
   * messages.
   */
  const ofEndedTask = async (
    connection: DaemonConnection,
    taskId: string,
    sessionKey: string,
    event: Received<DaemonEvent>,
  ) => {
    const { record, resolved } = await withDevice(database, connection.deviceId, async (tx) => {
      const resolved = await resolveNamed(tx, connection.deviceId, sessionKey, event);
      const [record] = await readSessions(tx, [resolved?.key ?? sessionKey]);
      return { record, resolved };
    });
    if (!record) return;
    await publishResolution(deps, connection, record, resolved);
    if (resolved?.previousId !== undefined) deps.requestSearch(connection.deviceId, taskId);
    if (event.event_type === 'AGENT_RESPONSE' || event.event_type === 'USER_MESSAGE')
      await textPublisher.publish(connection, record, event);
    if (event.event_type === 'WARNING') await textPublisher.warn(connection, record, event);
    if (event.event_type !== 'TRANSCRIPT') return;
    connection.sessions.rememberSubject(event, record);
    textPublisher.transcript(record, event);
  };

  const ofTask = async (connection: DaemonConnection, taskId: string, event: Received<DaemonEvent>) => {
    const entry = await running.find(connection, taskId);
    if (!entry) return transcript.ofLostTask(connection, taskId, event);
    if (namesQuestion(event))
      await publisher.markPublished(connection.ownerId, entry.sessionKey, { uuid: event.user_message_uuid });
    if (isEnding(event)) return deps.endings(connection, taskId, entry.sessionKey, event);
    if ('ended' in entry) return ofEndedTask(connection, taskId, entry.sessionKey, event);
    connection.tasks.recordEvent(entry);
    const record = await running.confirm(connection, entry, event);
    if (!record) return transcript.ofLostTask(connection, taskId, event);
    return publish(connection, entry, record, event);
  };

  return {
    dispatch: (connection, event) => {
      const { task_id: taskId, session_id: nativeId } = event;
      if (event.event_type === 'TRANSCRIPT' && !connection.can('transcript')) {
        metrics.ignored.inc({ cause: 'undeclared event' });
        return;
      }
      if (isPromptEvent(event)) return deps.prompts.apply(connection, event);
      if (event.event_type === 'STEERED') return deps.steers.settle(connection, event);
      if (event.event_type === 'TRANSCRIPT') {
        // Apps see the gap, and ask.
        if (isOverlong(event.written)) {
          metrics.ignored.inc({ cause: 'long transcript' });
          return;
        }
        const subject = connection.sessions.subjectOf(event);
        if (subject) {
          textPublisher.transcript(subject, event);
          return;
        }
      }
      if (!taskId) {
        if (nativeId) return transcript.ofSession(connection, nativeId, event);
        metrics.ignored.inc({ cause: 'event of nothing' });
        return;
      }
      // The many: a task that is known to run, in a session that is remembered.
      const entry = connection.tasks.get(taskId);
      const isSettled = entry?.state === 'running' && entry.record && keepsName(event, entry.record);
      if (!isSettled || isEnding(event) || namesQuestion(event)) return ofTask(connection, taskId, event);
      connection.tasks.recordEvent(entry);
      return publish(connection, entry, entry.record!, event);
    },
  };
}

/** Longer than a transcript frame can be. */
const isOverlong = (written: string): boolean =>
  written.length * 3 > transcriptLimits.frameBytes && Buffer.byteLength(written) > transcriptLimits.frameBytes;

/** Whether it carries the uuid of the message that it answers: apps know that message already. */
const namesQuestion = (event: DaemonEvent): event is DaemonEvent & { user_message_uuid: string } =>
  'user_message_uuid' in event && !!event.user_message_uuid && event.event_type !== 'USER_MESSAGE';
