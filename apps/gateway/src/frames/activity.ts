/** MEANING of `session_activity`: a session changed at the daemon, or an agent completed a turn there. */
import { type Publisher, message } from '@relay/attention';
import type { RelayConfig } from '@relay/config';
import { type Database, addNotification, applyFacts, findNativeSession, taskWithin, withDevice } from '@relay/database';
import { type FromDaemon, isNativeId } from '@relay/protocol';
import { foreignUuid } from '@relay/protocol/identity';
import type { DaemonConnection } from '../connection/connection.ts';
import type { GatewayMetrics } from '../connection/metrics.ts';
import { readingOf } from './native-sessions.ts';
import type { Outcomes } from '../history/outcomes.ts';
import type { TextPublisher } from '../sessions/text-publisher.ts';
import { activityFacts, toTime } from '../sessions/translate.ts';
import type { Watching } from '../sessions/watching.ts';

interface ActivityDeps {
  config: RelayConfig;
  database: Database;
  publisher: Publisher;
  watching: Watching;
  outcomes: Outcomes;
  textPublisher: TextPublisher;
  metrics: GatewayMetrics;
  notify: () => void;
}

type Frame = FromDaemon<'session_activity'>;

/** Returns the handler of `session_activity`. */
export function createActivity(deps: ActivityDeps): (connection: DaemonConnection, frame: Frame) => Promise<void> {
  const { config, database, publisher, watching, outcomes, textPublisher, metrics } = deps;
  return async (connection, frame) => {
    const found = isNativeId(frame.session_id)
      ? await findNativeSession(database, connection.deviceId, frame.session_id)
      : undefined;
    if (!found) {
      metrics.ignored.inc({ cause: 'unknown session' });
      return;
    }
    const completion = frame.is_completion === true;
    outcomes.stirred(connection, found.key, completion);
    const { changed, produced, notified } = await withDevice(database, connection.deviceId, async (tx, device) => {
      if (!device) return { changed: false, produced: true, notified: false };
      const facts = { ...activityFacts(frame), nativeId: found.nativeId };
      const keys = await applyFacts(tx, device, [facts], readingOf(connection, [facts], false));
      if (!completion) return { changed: keys.length > 0, produced: true, notified: false };
      // A relay task that runs, or completed a moment ago, publishes and notifies this itself.
      const produced = await taskWithin(tx, found.key, config.dedupeWindowMs);
      // A turn of the agent's own always deserves a notification, however recent the task before it.
      const windowMs = frame.own_turn === undefined || frame.own_turn === null ? config.dedupeWindowMs : 0;
      const notification = { sessionKey: found.key, cause: 'done', windowMs } as const;
      const notified = await addNotification(tx, notification);
      return { changed: keys.length > 0, produced, notified };
    });
    // A message with a uuid is compared by it, and not by its time.
    const isNamed = completion && !!frame.message_uuid && connection.can('transcript');
    if ((isNamed || !produced) && frame.last_message) {
      const key = `activity ${frame.last_activity ?? ''} ${frame.last_message}`;
      const uuid = frame.message_uuid || foreignUuid(found.session.id, key);
      const last = message(uuid, 'AGENT', frame.last_message, toTime(frame.last_activity, new Date()));
      await textPublisher.publishEnd(connection, found, last, { key, sinceMs: Date.now() - config.dedupeWindowMs });
    }
    connection.sessions.forgetRecords(found.key);
    if (changed || !produced) await publisher.sessions([found.key]);
    if (changed && connection.sessions.watching.has(found.key)) await watching.sync(connection, found.key);
    if (notified) deps.notify();
  };
}
