/**
 * MEANING of `event` frames (contract §2, §6): what each does to its task and session, and what apps hear of it, in order.
 * Write first, publish second. PROGRESS and output of a running task touch no database.
 */
import { randomUUID } from 'node:crypto';
import { message } from '@relay/attention';
import {
  type DaemonEvent,
  type DaemonEventType,
  type NotificationCause,
  type Progress,
  isNativeId,
} from '@relay/protocol';
import {
  type Db,
  type Outcome,
  type SessionRecord,
  addNotification,
  endTask,
  findAskedTask,
  findDeviceTask,
  readSessions,
  resolveSession,
  startRunning,
  withDevice,
} from '@relay/database';
import type { DaemonConnection } from './connection.ts';
import type { TaskEntry } from './device-memory.ts';
import type { InboundDeps } from './inbound-deps.ts';
import { announceResolution } from './resolution.ts';
import { progress, prompt, question, taskOutput, taskOutputAsWritten, toTime } from './translate.ts';

type Transcript = DaemonEvent<'AGENT_RESPONSE'> | DaemonEvent<'USER_MESSAGE'>;
type Output = DaemonEvent<'OUTPUT'> | DaemonEvent<'VERBOSE'>;
type Ending = DaemonEvent<'TASK_COMPLETE'> | DaemonEvent<'WAIT_FOR_USER'> | DaemonEvent<'ERROR'>;

/** Of a conversation with parts and of questions with an identity: a daemon says them to a relay that declares so, which this one does not. */
const undeclared: ReadonlySet<DaemonEventType> = new Set(['TRANSCRIPT', 'PROMPT_OPEN', 'PROMPT_CLOSED']);

const isEnding = (event: DaemonEvent): event is Ending =>
  event.event_type === 'TASK_COMPLETE' || event.event_type === 'WAIT_FOR_USER' || event.event_type === 'ERROR';

/** Handles events; the caller keeps the order. */
export interface Events {
  handle(connection: DaemonConnection, event: DaemonEvent): Promise<void>;
  /** The many that need nobody's answer: output of a task that is known to run. False: nothing was done, `handle` it. */
  handleAtOnce(connection: DaemonConnection, event: DaemonEvent, text: string): boolean;
}

export function createEvents(deps: InboundDeps): Events {
  const { database, publisher, progress: board, writer, metrics, config } = deps;

  const outcomeOf = (event: Ending, now: Date): Outcome => {
    if (event.event_type === 'TASK_COMPLETE') return { kind: 'completed', result: event.result };
    if (event.event_type === 'ERROR') return { kind: 'failed', code: 'AGENT_ERROR', error: event.error };
    return { kind: 'waiting', prompt: prompt(event, now) };
  };
  const causes: Record<Outcome['kind'], NotificationCause> = {
    completed: 'done',
    waiting: 'needs_you',
    failed: 'failed',
  };

  /** What was said by an ending, as a message of the conversation. */
  const said = (event: Ending, now: Date) => {
    if (event.event_type === 'TASK_COMPLETE') return message(randomUUID(), 'AGENT', event.result, now.toISOString());
    if (event.event_type === 'ERROR') return message(randomUUID(), 'SYSTEM', event.error, now.toISOString());
    return message(randomUUID(), 'AGENT', question(event), now.toISOString());
  };

  /** The task an event names: from memory, else from the database (it ended before, or was sent by another instance). */
  const taskOf = async (
    connection: DaemonConnection,
    taskId: string,
  ): Promise<TaskEntry | { sessionKey: string; ended: true } | undefined> => {
    const known = connection.memory.tasks.get(taskId);
    if (known) return known;
    const found = await findDeviceTask(database.prisma, connection.deviceId, taskId);
    if (!found) return undefined;
    if (found.state !== 'sent' && found.state !== 'running') return { sessionKey: found.sessionKey, ended: true };
    const entry: TaskEntry = {
      id: found.id,
      sessionKey: found.sessionKey,
      state: found.state,
      fence: connection.fence,
      mentionedAtMs: Date.now(),
    };
    connection.memory.tasks.set(taskId, entry);
    return entry;
  };

  /** The native id that an event carries; one that no session can have names nothing (contract §9). */
  const named = ({ session_id: id }: DaemonEvent) => (id && isNativeId(id) ? id : undefined);

  /** Gives the session the native id that the event carries, if that is news. */
  const resolve = async (tx: Db, connection: DaemonConnection, sessionKey: string, event: DaemonEvent) => {
    const nativeId = named(event);
    if (nativeId === undefined) return undefined;
    return resolveSession(tx, connection.deviceId, sessionKey, nativeId, event.event_type === 'SESSION_STARTED');
  };

  const refresh = (connection: DaemonConnection, taskId: string, record: SessionRecord | undefined) => {
    const entry = connection.memory.tasks.get(taskId);
    if (entry && record) Object.assign(entry, { record, sessionKey: record.key });
  };

  /** The session of a task that runs: as remembered, else read, and remembered unless it changed meanwhile. */
  const recordOf = async ({ memory }: DaemonConnection, entry: TaskEntry) => {
    if (entry.record) return entry.record;
    const { changes } = memory;
    const [record] = await readSessions(database.prisma, [entry.sessionKey]);
    if (memory.changes === changes) entry.record = record;
    return record;
  };

  /**
   * The first sign of a task, or a new name of its session: the only non-final events that change state. Returns the session;
   * undefined when it is gone.
   */
  const confirm = async (
    connection: DaemonConnection,
    entry: TaskEntry,
    event: DaemonEvent,
  ): Promise<SessionRecord | undefined> => {
    if (entry.state === 'running') {
      const known = await recordOf(connection, entry);
      const nativeId = named(event);
      if (known && (nativeId === undefined || nativeId === known.nativeId)) return known;
    }
    const wasSent = entry.state === 'sent';
    const { record, resolved } = await withDevice(database.prisma, connection.deviceId, async (tx) => {
      if (wasSent) await startRunning(tx, entry.id);
      const resolved = await resolve(tx, connection, entry.sessionKey, event);
      const [record] = await readSessions(tx, [resolved?.key ?? entry.sessionKey]);
      return { record, resolved };
    });
    entry.state = 'running';
    if (!record) return undefined;
    if (wasSent) metrics.tasks.inc({ state: 'running' });
    refresh(connection, entry.id, record);
    if (resolved?.previousId !== undefined) await announceResolution(deps, connection, record, resolved);
    else if (wasSent) await publisher.session(record);
    return record;
  };

  const end = async (connection: DaemonConnection, taskId: string, sessionKey: string, event: Ending) => {
    const now = new Date();
    const outcome = outcomeOf(event, now);
    const { memory, deviceId } = connection;
    // The same frame again, after an error that may have hidden a commit: that it is there already does not mean that it was told.
    const isAgain = memory.ending === taskId;
    memory.ending = taskId;
    const sinceMs = memory.tasks.get(taskId)?.writtenAtMs;
    const isWordless = outcome.kind !== 'waiting' && said(event, now).content.trim() === '';
    const { ended, notified, record, resolved, asked } = await withDevice(database.prisma, deviceId, async (tx) => {
      const resolved = await resolve(tx, connection, sessionKey, event);
      const key = resolved?.key ?? sessionKey;
      // Before the end takes the instruction away, by which the history finds the answer.
      const asked = isWordless ? await findAskedTask(tx, taskId) : undefined;
      const ended = await endTask(tx, taskId, outcome);
      const notified =
        ended === 'ended' &&
        (await addNotification(tx, {
          sessionKey: key,
          cause: causes[outcome.kind],
          taskId,
          windowMs: config.dedupeWindowMs,
        }));
      const [record] = await readSessions(tx, [key]);
      return { ended, notified, record, resolved, asked };
    });
    memory.ending = undefined;
    const isNew = ended === 'ended' || ended === 'settled' || (isAgain && ended === 'repeated');
    memory.tasks.delete(taskId);
    board.drop(sessionKey);
    if (isNew) metrics.tasks.inc({ state: outcome.kind });
    if (record) {
      await announceResolution(deps, connection, record, resolved);
      // A daemon that was cut off says its last word again: it was heard.
      if (isNew || ended === 'late')
        await publisher.sayEnd(record.ownerId, record.key, record.session.id, said(event, now), {
          ...(sinceMs !== undefined && { sinceMs }),
        });
      if (isNew) await publisher.session(record);
    } else await ofLostTask(connection, taskId, event);
    memory.rememberEnd(taskId);
    if (notified || isAgain) deps.notify();
    if (isNew && asked) deps.outcomes.ofWordless(connection, asked, outcome.kind === 'failed');
    void writer.drain(connection);
  };

  const speak = async (record: SessionRecord, event: Transcript) => {
    const uuid = event.uuid || randomUUID();
    const role = event.event_type === 'AGENT_RESPONSE' ? 'AGENT' : 'USER';
    // With an answer, `user_message_uuid` is what it answers and not another name of it.
    const names = role === 'USER' ? [event.uuid, event.user_message_uuid] : [event.uuid];
    const uuids = names.filter((id): id is string => !!id);
    const spoken = message(uuid, role, event.content, toTime(event.timestamp, new Date()));
    await publisher.say(record.ownerId, record.key, record.session.id, spoken, uuids);
  };

  /** Something the daemon noticed: people should know, and the session goes on. */
  const warn = (record: SessionRecord, { warning }: DaemonEvent<'WARNING'>) =>
    publisher.say(
      record.ownerId,
      record.key,
      record.session.id,
      message(randomUUID(), 'SYSTEM', warning, new Date().toISOString()),
    );

  /** The session as it is when the frame leaves, which may be a while after the event: never an older state, never after the end. */
  const show = async (connection: DaemonConnection, entry: TaskEntry, progress: Progress) => {
    const { tasks } = connection.memory;
    const record = await recordOf(connection, entry);
    if (record && tasks.get(entry.id) === entry)
      publisher.sessionHot({ ...record, session: { ...record.session, progress } });
  };

  /**
   * `entry`: the task whose output it is, which is counted, so that apps see what was lost on the way (R5). `written`: the frame as it
   * came, to pass on what is long as it stands there.
   */
  const output = (record: SessionRecord, event: Output, entry?: TaskEntry, written?: string) => {
    const sequence = entry && (entry.outputs = (entry.outputs ?? 0) + 1);
    const { id } = record.session;
    const asWritten =
      written === undefined || sequence === undefined ? undefined : taskOutputAsWritten(id, event, written, sequence);
    if (asWritten !== undefined) {
      publisher.hotText(record.ownerId, asWritten, 'o');
      return;
    }
    const text = event.output ?? (event.event_type === 'VERBOSE' ? event.content : undefined) ?? '';
    publisher.hot(record.ownerId, taskOutput(id, event.task_id ?? undefined, text, sequence), 'o');
  };

  const mentioned = (entry: TaskEntry) => {
    entry.mentionedAtMs = Date.now();
    entry.heardAtMs = entry.mentionedAtMs;
    // It lives: that a `status` omitted it before proves nothing any more.
    if (entry.missingSinceMs !== undefined) delete entry.missingSinceMs;
  };

  const ofTask = async (connection: DaemonConnection, taskId: string, event: DaemonEvent) => {
    const entry = await taskOf(connection, taskId);
    if (!entry) {
      await ofLostTask(connection, taskId, event);
      return;
    }
    if ('user_message_uuid' in event && event.user_message_uuid && event.event_type !== 'USER_MESSAGE') {
      await publisher.markSaid(connection.ownerId, entry.sessionKey, { uuid: event.user_message_uuid });
    }
    if (isEnding(event)) {
      await end(connection, taskId, entry.sessionKey, event);
      return;
    }
    if ('ended' in entry) {
      await ofEndedTask(connection, entry.sessionKey, event);
      return;
    }
    mentioned(entry);
    const record = await confirm(connection, entry, event);
    if (!record) {
      await ofLostTask(connection, taskId, event);
      return;
    }
    switch (event.event_type) {
      case 'PROGRESS': {
        const now = progress(event, new Date());
        board.offer(record.key, now, () => {
          show(connection, entry, now).catch((error: unknown) =>
            connection.logger.warn({ err: error }, 'progress was not shown'),
          );
        });
        return;
      }
      case 'OUTPUT':
      case 'VERBOSE':
        output(record, event, entry);
        return;
      case 'AGENT_RESPONSE':
      case 'USER_MESSAGE':
        await speak(record, event);
        return;
      case 'WARNING':
        await warn(record, event);
        return;
      case 'SESSION_STARTED':
        return;
    }
  };

  /** A task that ended before, by a cancel for instance: its session may still get its name, and what is said is shown. */
  const ofEndedTask = async (connection: DaemonConnection, sessionKey: string, event: DaemonEvent) => {
    const { record, resolved } = await withDevice(database.prisma, connection.deviceId, async (tx) => {
      const resolved = await resolve(tx, connection, sessionKey, event);
      const [record] = await readSessions(tx, [resolved?.key ?? sessionKey]);
      return { record, resolved };
    });
    if (!record) return;
    await announceResolution(deps, connection, record, resolved);
    if (event.event_type === 'AGENT_RESPONSE' || event.event_type === 'USER_MESSAGE') await speak(record, event);
    if (event.event_type === 'WARNING') await warn(record, event);
  };

  /**
   * The database has no such task, or no longer its session: both may be lost with commits (ADR 32). What people read is shown in the
   * session that the daemon names, so that nothing it says is dropped after apps were told to reload. No task changes.
   */
  const ofLostTask = async (connection: DaemonConnection, taskId: string, event: DaemonEvent) => {
    const { memory } = connection;
    const nativeId = named(event);
    const isHeard =
      event.event_type === 'SESSION_STARTED' || event.event_type === 'PROGRESS' || memory.over.has(taskId);
    if (nativeId === undefined || isHeard) {
      metrics.ignored.inc({ cause: 'unknown task' });
      return;
    }
    if (!isEnding(event)) {
      await ofTranscript(connection, nativeId, event);
      return;
    }
    const record = await deps.sessionOf(connection, nativeId);
    memory.tasks.delete(taskId);
    memory.rememberEnd(taskId);
    if (record)
      await publisher.sayEnd(record.ownerId, record.key, record.session.id, said(event, new Date()), {
        key: `lost ${taskId}`,
      });
    else metrics.ignored.inc({ cause: 'unknown task' });
  };

  /** No task: the live transcript of a session that was started at the desk. */
  const ofTranscript = async (connection: DaemonConnection, nativeId: string, event: DaemonEvent) => {
    const record = await deps.sessionOf(connection, nativeId);
    if (!record) {
      metrics.ignored.inc({ cause: 'unknown session' });
      return;
    }
    const handlers: Partial<Record<DaemonEventType, () => Promise<void> | void>> = {
      AGENT_RESPONSE: () => speak(record, event as DaemonEvent<'AGENT_RESPONSE'>),
      USER_MESSAGE: () => speak(record, event as DaemonEvent<'USER_MESSAGE'>),
      OUTPUT: () => output(record, event as DaemonEvent<'OUTPUT'>),
      VERBOSE: () => output(record, event as DaemonEvent<'VERBOSE'>),
      WARNING: () => warn(record, event as DaemonEvent<'WARNING'>),
    };
    await handlers[event.event_type]?.();
  };

  return {
    handle: async (connection, event) => {
      if (undeclared.has(event.event_type)) metrics.ignored.inc({ cause: 'undeclared event' });
      else if (event.task_id) await ofTask(connection, event.task_id, event);
      else if (event.session_id) await ofTranscript(connection, event.session_id, event);
      else metrics.ignored.inc({ cause: 'event of nothing' });
    },
    handleAtOnce: (connection, event, text) => {
      if ((event.event_type !== 'OUTPUT' && event.event_type !== 'VERBOSE') || !event.task_id) return false;
      const entry = connection.memory.tasks.get(event.task_id);
      if (entry?.state !== 'running' || !entry.record || event.user_message_uuid) return false;
      const nativeId = named(event);
      if (nativeId !== undefined && nativeId !== entry.record.nativeId) return false;
      mentioned(entry);
      output(entry.record, event, entry, text);
      return true;
    },
  };
}
