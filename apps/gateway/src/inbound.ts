/**
 * MEANING: what each frame of a daemon causes (contract §2, §5, §8). One handler per frame type; adding a frame to the protocol
 * breaks the build here. Knows no socket. Frames of a connection come one at a time, in order.
 */
import { createHash, randomUUID } from 'node:crypto';
import { type FromDaemon, type FromDaemonFrame, isNativeId } from '@relay/protocol';
import {
  type SessionFacts,
  addNotification,
  applyFacts,
  applyReport,
  cancelledAmong,
  endedAmong,
  findNativeSession,
  markLost,
  markUnknown,
  openTasks,
  readSessions,
  saveReportHash,
  saveSlashCommandSets,
  saveSlashCommands,
  startRunning,
  taskWithin,
  withDevice,
  withOwned,
} from '@relay/database';
import type { DaemonConnection } from './connection.ts';
import { createEvents } from './events.ts';
import { gathered } from './gather.ts';
import type { InboundDeps } from './inbound-deps.ts';
import { message } from '@relay/attention';
import { inParts } from './parts.ts';
import { isAnswer } from './questions.ts';
import { reconcile, unconfirmed } from './reconcile.ts';
import { createReportNews } from './report-news.ts';
import { activityFacts, clockAheadMs, newestFirst, reportFacts, slashCommands, toTime } from './translate.ts';

type Handlers = {
  [T in FromDaemonFrame['type']]: (
    connection: DaemonConnection,
    frame: FromDaemon<T>,
    text: string,
  ) => Promise<void> | void;
};

export interface Inbound {
  /** The device is ours and online: loads what is under way, then talks to the daemon. */
  begin(connection: DaemonConnection, reportHash: string | null): Promise<void>;
  frame(connection: DaemonConnection, frame: FromDaemonFrame, text: string): Promise<void>;
  /** Does without delay what needs nobody's answer. False: nothing was done, it is for `frame`. */
  frameAtOnce(connection: DaemonConnection, frame: FromDaemonFrame, text: string): boolean;
  /** The wait for the first `status` is over. */
  statusOverdue(connection: DaemonConnection): Promise<void>;
}

/** Reports of one person are written during a quarter of the time at most. */
const restAfterPart = 3;

export function createInbound(input: Omit<InboundDeps, 'sessionOf'>): Inbound {
  const { config, database, publisher, progress, writer, watching, history, outcomes, unnamed, metrics, share } = input;

  const tasksOf = gathered((deviceIds) => openTasks(database.prisma, deviceIds));

  /** How to read these facts, and every one after them: the clock of a daemon is learned from what it says about the future. */
  const readingOf = ({ memory }: DaemonConnection, facts: readonly SessionFacts[], discover: boolean) => {
    memory.clockAheadMs = Math.max(memory.clockAheadMs, clockAheadMs(facts, Date.now()));
    return { discover, clockAheadMs: memory.clockAheadMs };
  };

  const sessionOf: InboundDeps['sessionOf'] = async (connection, nativeId) => {
    if (!isNativeId(nativeId)) return undefined;
    const key = connection.memory.keys.get(nativeId);
    const [known] = key === undefined ? [] : await readSessions(database.prisma, [key]);
    const record = known ?? (await findNativeSession(database.prisma, connection.deviceId, nativeId));
    if (record) {
      connection.memory.rememberKey(nativeId, record.key);
      return record;
    }
    const fact = reportFacts({ session_id: nativeId });
    const keys = await withDevice(database.prisma, connection.deviceId, async (tx, device) =>
      device ? applyFacts(tx, device, [fact], readingOf(connection, [fact], true)) : [],
    );
    // Apps must know what a message belongs to.
    await publisher.sessions(keys);
    unnamed.look(connection);
    const [discovered] = await readSessions(database.prisma, keys);
    return discovered;
  };

  const events = createEvents({ ...input, sessionOf });

  /** Writes what a `status`, its absence or a report revealed, and tells everybody. */
  const settle = async (
    connection: DaemonConnection,
    verdict: { confirmed?: string[]; unknown: string[]; lost: string[] },
  ) => {
    const { confirmed = [], unknown, lost } = verdict;
    if (confirmed.length + unknown.length + lost.length === 0) return;
    const { tasks } = connection.memory;
    const ended = [...unknown, ...lost];
    const settled = await withOwned(database.prisma, connection, async (tx) => {
      for (const id of confirmed) await startRunning(tx, id);
      const failed = [...(await markUnknown(tx, unknown)), ...(await markLost(tx, lost))];
      let notified = false;
      for (const id of lost) {
        const sessionKey = tasks.get(id)?.sessionKey;
        if (sessionKey === undefined || !failed.includes(sessionKey)) continue;
        notified =
          (await addNotification(tx, { sessionKey, cause: 'failed', taskId: id, windowMs: config.dedupeWindowMs })) ||
          notified;
      }
      const started = confirmed.flatMap((id) => tasks.get(id)?.sessionKey ?? []);
      return { keys: [...new Set([...started, ...failed])], notified };
    });
    for (const id of confirmed) {
      const entry = tasks.get(id);
      if (entry) entry.state = 'running';
    }
    for (const id of ended) {
      const entry = tasks.get(id);
      if (entry) progress.drop(entry.sessionKey);
      tasks.delete(id);
    }
    metrics.tasks.inc({ state: 'running' }, confirmed.length);
    metrics.tasks.inc({ state: 'unknown' }, unknown.length);
    metrics.tasks.inc({ state: 'lost' }, lost.length);
    if (!settled) return;
    await publisher.sessions(settled.keys);
    if (settled.notified) input.notify();
  };

  const lose = async (connection: DaemonConnection, lost: string[]) => {
    await settle(connection, { unknown: [], lost });
    void writer.drain(connection);
  };

  /** Silent for long, with no session to ask: what was written to an earlier connection has ended as far as anybody can know. */
  const silent = (connection: DaemonConnection) => outcomes.ofSilent(connection, (lost) => lose(connection, lost));

  /** The daemon no longer knows these tasks. Its history may still have what became of them. */
  const doubted = (connection: DaemonConnection, taskIds: readonly string[]) =>
    outcomes.ofOmitted(connection, taskIds, (lost) => lose(connection, lost));

  /** Written to an earlier connection and not confirmed. The history may have them, or even what became of them. */
  const unconfirmedOnes = (connection: DaemonConnection, taskIds: readonly string[]) =>
    outcomes.ofUnconfirmed(connection, taskIds, {
      arrived: async (id, nativeId) => {
        await settle(connection, { confirmed: [id], unknown: [], lost: [] });
        const { memory } = connection;
        if (memory.sawStatus && !memory.active.has(nativeId)) await doubted(connection, [id]);
        else outcomes.afterReconnect(connection);
      },
      otherwise: async (unknown) => {
        await settle(connection, { unknown, lost: [] });
        void writer.drain(connection);
      },
    });

  const onStatus = async (connection: DaemonConnection, frame: FromDaemon<'status'>) => {
    const { memory } = connection;
    const listed = new Set(frame.running_tasks);
    const nowMs = Date.now();
    if (frame.running_tasks.some((id) => memory.over.has(id))) memory.listOnlyGrows = true;
    const verdict = reconcile(memory.tasks, listed, {
      fence: connection.fence,
      first: !memory.sawStatus,
      nowMs,
      lostAfterMs: config.statusLostMs,
      silentAfterMs: config.taskSilenceMs,
    });
    for (const id of verdict.present) {
      const entry = memory.tasks.get(id)!;
      delete entry.missingSinceMs;
      if (memory.listOnlyGrows) continue;
      entry.mentionedAtMs = nowMs;
      outcomes.listed(connection, id);
    }
    for (const id of verdict.missing) memory.tasks.get(id)!.missingSinceMs = nowMs;
    const strangers = frame.running_tasks.filter((id) => !memory.tasks.has(id));
    memory.strangers = new Set(strangers);
    memory.statusUnderWay = true;
    memory.listed = new Set(verdict.present);
    const { confirmed, unknown, lost } = verdict;
    await settle(connection, { confirmed, unknown: [], lost: [] })
      .then(() => unconfirmedOnes(connection, unknown))
      .then(() => doubted(connection, lost))
      .finally(() => (memory.statusUnderWay = false));
    if (!memory.sawStatus && strangers.length > 0) {
      const ended = await endedAmong(database.prisma, connection.deviceId, strangers.slice(0, 1000));
      if (ended.length > 0) memory.listOnlyGrows = true;
      // A cancel that the daemon never heard of, because it was away.
      for (const id of await cancelledAmong(database.prisma, [connection.deviceId], strangers.slice(0, 1000))) {
        connection.send({ type: 'task_cancel', task_id: id });
      }
    }
    if (!memory.sawStatus) outcomes.afterReconnect(connection);
    await silent(connection);
    memory.sawStatus = true;
    memory.mayReceiveTasks = true;
    void writer.drain(connection);
  };

  const onReport = async (connection: DaemonConnection, frame: FromDaemon<'report_sessions'>, text: string) => {
    const { memory } = connection;
    // Said of a task alone, it contradicts nothing (contract §10).
    memory.active = new Set(frame.sessions.flatMap((entry) => (entry.is_active ? [entry.session_id] : [])));
    await silent(connection);
    const hash = createHash('sha256').update(text).digest('base64url');
    if (memory.reportHash === hash) {
      metrics.reports.inc({ outcome: 'same' });
      return;
    }
    let leftOut = 0;
    let hasUnnamed = false;
    const reported = frame.sessions.map(reportFacts);
    const reading = { ...readingOf(connection, reported, true), maxSessions: config.sessionsPerDevice };
    const news = createReportNews(database, publisher, connection.ownerId);
    let isFirst = true;
    const applying = inParts(newestFirst(reported), async (facts, isLast) => {
      // The daemon reports again where it connects next.
      if (connection.leaving && !isFirst) return false;
      isFirst = false;
      const applied = await share.run(connection.ownerId, restAfterPart, () =>
        withOwned(database.prisma, connection, async (tx, device) => {
          const changes = await applyReport(tx, device, facts, reading);
          if (isLast) hasUnnamed = await saveReportHash(tx, device.id, hash);
          return changes;
        }),
      );
      if (!applied) return false;
      leftOut += applied.leftOut;
      const { keys } = applied;
      for (const key of keys) memory.forgetRecord(key);
      await news.add(keys);
      for (const key of keys) if (memory.watching.has(key)) await watching.sync(connection, key);
      return true;
    });
    // The parts that were written are announced, even when the rest fails.
    const all = await applying.finally(() => news.end());
    if (!all) return;
    memory.reportHash = hash;
    if (hasUnnamed) unnamed.look(connection);
    metrics.reports.inc({ outcome: 'changed' });
    if (leftOut === 0) return;
    metrics.ignored.inc({ cause: 'sessions of a device' }, leftOut);
    if (memory.warnedOfSessions) return;
    memory.warnedOfSessions = true;
    connection.logger.warn(
      { leftOut },
      'the device has as many sessions as SESSIONS_PER_DEVICE allows: new ones are left out',
    );
  };

  const onActivity = async (connection: DaemonConnection, frame: FromDaemon<'session_activity'>) => {
    const found = isNativeId(frame.session_id)
      ? await findNativeSession(database.prisma, connection.deviceId, frame.session_id)
      : undefined;
    if (!found) {
      metrics.ignored.inc({ cause: 'unknown session' });
      return;
    }
    const completion = frame.is_completion === true;
    outcomes.stirred(connection, found.key, completion);
    const { changed, produced, notified } = await withDevice(
      database.prisma,
      connection.deviceId,
      async (tx, device) => {
        if (!device) return { changed: false, produced: true, notified: false };
        const facts = { ...activityFacts(frame), nativeId: found.nativeId };
        const keys = await applyFacts(tx, device, [facts], readingOf(connection, [facts], false));
        if (!completion) return { changed: keys.length > 0, produced: true, notified: false };
        // A task of the relay that runs, or ended a moment ago, says and notifies this itself.
        const produced = await taskWithin(tx, found.key, config.dedupeWindowMs);
        const notified = await addNotification(tx, {
          sessionKey: found.key,
          cause: 'done',
          windowMs: config.dedupeWindowMs,
        });
        return { changed: keys.length > 0, produced, notified };
      },
    );
    if (!produced && frame.last_message) {
      const said = message(randomUUID(), 'AGENT', frame.last_message, toTime(frame.last_activity, new Date()));
      await publisher.sayEnd(found.ownerId, found.key, found.session.id, said, {
        key: `activity ${frame.last_activity ?? ''} ${frame.last_message}`,
        sinceMs: Date.now() - config.dedupeWindowMs,
      });
    }
    connection.memory.forgetRecord(found.key);
    if (changed || !produced) await publisher.sessions([found.key]);
    if (changed && connection.memory.watching.has(found.key)) await watching.sync(connection, found.key);
    if (notified) input.notify();
  };

  const onCommands = async (connection: DaemonConnection, frame: FromDaemon<'report_slash_commands'>) => {
    if (frame.sets) {
      const sets = frame.sets.map(({ project, commands }) => ({ project, commands: slashCommands(commands) }));
      await saveSlashCommandSets(database.prisma, connection.deviceId, sets);
      return;
    }
    const nativeId = frame.session_id ?? '';
    if (nativeId === '' || isNativeId(nativeId))
      await saveSlashCommands(database.prisma, connection.deviceId, nativeId, slashCommands(frame.commands ?? []));
    else metrics.ignored.inc({ cause: 'unknown session' });
  };

  const handlers: Handlers = {
    status: onStatus,
    report_sessions: onReport,
    session_activity: onActivity,
    messages: (connection, frame) => history.answered(connection, frame),
    usage_response: (connection, frame) => history.answered(connection, frame),
    context_response: (connection, frame) => history.answered(connection, frame),
    force_quit_result: (connection, frame) => history.answered(connection, frame),
    report_slash_commands: onCommands,
    pong: () => undefined,
    event: (connection, frame) => events.handle(connection, frame),
  };

  return {
    begin: async (connection, reportHash) => {
      connection.memory.reportHash = reportHash;
      for (const task of (await tasksOf(connection.deviceId)) ?? []) {
        connection.memory.tasks.set(task.id, { ...task, mentionedAtMs: Date.now() });
      }
      await watching.resume(connection);
    },
    frame: async (connection, frame, text) => {
      const handle = handlers[frame.type] as (
        connection: DaemonConnection,
        frame: FromDaemonFrame,
        text: string,
      ) => Promise<void> | void;
      await handle(connection, frame, text);
    },
    frameAtOnce: (connection, frame, text) => {
      if (isAnswer(frame)) history.answered(connection, frame);
      else if (frame.type === 'event') return events.handleAtOnce(connection, frame, text);
      else return frame.type === 'pong';
      return true;
    },
    statusOverdue: async (connection) => {
      const { memory } = connection;
      if (memory.mayReceiveTasks || memory.statusUnderWay || !connection.live) return;
      await unconfirmedOnes(connection, unconfirmed(memory.tasks, connection.fence));
      outcomes.afterReconnect(connection);
      memory.mayReceiveTasks = true;
      await writer.drain(connection);
    },
  };
}
