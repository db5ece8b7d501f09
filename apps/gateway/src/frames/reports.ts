/** MEANING of `report_sessions` (rules, 4.2): the sessions of a device, written in parts and published. The same report costs nothing. */
import { createHash } from 'node:crypto';
import type { Publisher } from '@relay/attention';
import type { RelayConfig } from '@relay/config';
import {
  type Database,
  type SessionFacts,
  applyReport,
  readSessions,
  saveReportHash,
  withOwned,
} from '@relay/database';
import type { FromDaemon } from '@relay/protocol';
import type { DaemonConnection, Received } from '../connection/connection.ts';
import type { FairShare } from './fair-share.ts';
import type { HeldSessions } from './held-sessions.ts';
import type { GatewayMetrics } from '../connection/metrics.ts';
import { countLeftOut, readingOf } from './native-sessions.ts';
import type { Status } from './status.ts';
import { newestFirst, reportFacts } from '../sessions/translate.ts';
import type { Unnamed } from '../history/unnamed.ts';
import type { Watching } from '../sessions/watching.ts';

interface ReportDeps {
  config: RelayConfig;
  database: Database;
  publisher: Publisher;
  watching: Watching;
  status: Status;
  unnamed: Unnamed;
  share: FairShare;
  metrics: GatewayMetrics;
  held: HeldSessions;
}

type Report = Received<FromDaemon<'report_sessions'>>;

/** Reports of one person are written during a quarter of the time at most. */
const restAfterPart = { factor: 3, maxMs: 2000 };

/** Drops the facts of a turn that has since completed: its activity and its text. */
const withoutTurn = (fact: SessionFacts): SessionFacts => ({ ...fact, active: undefined, lastMessage: '' });

export interface Reports {
  apply(connection: DaemonConnection, report: Report): Promise<void>;
  /** Handles a report whose text equals the last one of this connection. Returns undefined for any other text. */
  repeat(connection: DaemonConnection, text: string): Promise<void> | undefined;
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64url');

export function createReports(deps: ReportDeps): Reports {
  const { config, database, publisher, watching, status, unnamed, share, metrics, held } = deps;

  /** Undefined: a newer connection owns the device, or this instance leaves; the daemon reports again where it connects next. */
  const write = async (connection: DaemonConnection, reported: readonly SessionFacts[], hash: string) => {
    const { sessions, report } = connection;
    const reading = { ...readingOf(connection, reported, true), maxSessions: config.sessionsPerDevice };
    const news = createReportNews(database, publisher, connection.ownerId);
    let leftOut = 0;
    let hasUnnamed = false;
    let isFirst = true;
    report.beginWriting();
    const applying = inParts(newestFirst(reported), async (facts, isLast) => {
      if (connection.phase === 'leaving' && !isFirst) return false;
      isFirst = false;
      const applied = await share.run(connection.ownerId, restAfterPart, async () => {
        // The connection might have closed during the wait.
        if (connection.phase === 'ended') return undefined;
        const changes = await withOwned(database, connection, async (tx, device) => {
          // Under the lock, so that a completed turn is either known here or written later.
          const still = facts.map((fact) => (report.isCompleted(fact.nativeId) ? withoutTurn(fact) : fact));
          const written = await applyReport(tx, device, still, reading);
          if (isLast) hasUnnamed = await saveReportHash(tx, device.id, hash);
          return written;
        });
        if (!changes) return undefined;
        for (const key of changes.keys) sessions.forgetRecords(key);
        await news.add(changes.keys);
        return changes;
      });
      if (!applied) return false;
      leftOut += applied.leftOut;
      const { keys } = applied;
      for (const key of keys) if (sessions.watching.has(key)) await watching.sync(connection, key);
      return true;
    });
    // The parts that were written are published, even when the rest fails.
    const all = await applying.finally(() => {
      report.endWriting();
      return news.end();
    });
    return all ? { leftOut, hasUnnamed } : undefined;
  };

  const apply = async (connection: DaemonConnection, frame: Report) => {
    const { report } = connection;
    // Only a task contradicts this (rules, 3.6).
    const active = new Set(frame.sessions.flatMap((entry) => (entry.is_active ? [entry.session_id] : [])));
    report.active = active;
    await status.checkSilent(connection);
    const hash = hashOf(frame.written);
    if (report.isSaved(hash)) {
      // The text comes from an earlier connection, which might have reported more since.
      if (report.savedActive === undefined) await held.replace(connection, frame.sessions);
      report.saved(hash, active);
      metrics.reports.inc({ outcome: 'same' });
      return;
    }
    const written = await write(connection, frame.sessions.map(reportFacts), hash);
    if (!written) return;
    await held.replace(connection, frame.sessions);
    report.saved(hash, active);
    if (written.hasUnnamed) unnamed.look(connection);
    metrics.reports.inc({ outcome: 'changed' });
    countLeftOut(metrics, connection, written.leftOut);
  };

  return {
    apply,
    repeat: (connection, text) => {
      const { report } = connection;
      const active = report.savedActive;
      if (active === undefined || !report.isSaved(hashOf(text))) return undefined;
      if (!connection.countUndecoded('report_sessions')) return Promise.resolve();
      report.active = active;
      return status.checkSilent(connection).then(() => metrics.reports.inc({ outcome: 'same' }));
    },
  };
}

/** Entries of a report that are written in one transaction: some twenty milliseconds in the embedded database. */
const together = 50;

/**
 * Hands over `items` in parts, in order, one after another; at least one, which is empty without items. `work` answers whether to go on.
 * True: all were handed over.
 */
async function inParts<T>(
  items: readonly T[],
  work: (part: readonly T[], isLast: boolean) => Promise<boolean>,
): Promise<boolean> {
  for (let start = 0; ; start += together) {
    const isLast = start + together >= items.length;
    if (!(await work(items.slice(start, start + together), isLast))) return false;
    if (isLast) return true;
  }
}

/** From this many changes in one report, clients that understand `sessions_changed` get it instead of each session. */
const many = 50;

/** Publishes the sessions that a report changed: each by itself, or, from 50 on, that many did (rules, 11.10). */
interface ReportNews {
  /** These sessions changed in the database. Calls must not repeat keys of earlier calls. */
  add(keys: readonly string[]): Promise<void>;
  /** Publishes the rest; the last call. */
  end(): Promise<void>;
}

function createReportNews(database: Database, publisher: Publisher, ownerId: string): ReportNews {
  /** Held back until their number is known; then empty from there on. */
  let held: readonly string[] = [];
  let count = 0;

  const publishSingly = async (keys: readonly string[]) => {
    // All in one turn: one command for the backplane.
    await Promise.all((await readSessions(database, keys)).map((record) => publisher.sessionSingle(record)));
  };

  return {
    add: async (keys) => {
      count += keys.length;
      held = [...held, ...keys];
      if (count < many) return;
      const pending = held;
      held = [];
      await publishSingly(pending);
    },
    end: async () => {
      if (count < many) await publisher.sessions(held);
      else await publisher.append(ownerId, { type: 'sessions_changed', count }, 'x');
    },
  };
}
