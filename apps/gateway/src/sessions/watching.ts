/**
 * Sends the daemon the sessions to watch (rules, 14.1): sessions that a person watches, and sessions that a client has
 * open.
 * The database is the source of truth; the connection's memory holds the sent state.
 */
import { type Database, type WatchedNative, gathered, readSessions, watchedOnDevices } from '@relay/database';
import type { Shared } from '@relay/backplane';
import type { DaemonConnection } from '../connection/connection.ts';
import type { Hub } from '../connection/hub.ts';

export interface Watching {
  /** After a connect: sends the daemon everything that is watched. */
  resume(connection: DaemonConnection): Promise<void>;
  /** A session changed: informs the daemon if its watch or its id changed. */
  sync(connection: DaemonConnection, sessionKey: string): Promise<void>;
  /** The person stopped watching the session: this closes it, too, until a client reads it again. */
  stop(connection: DaemonConnection, sessionKey: string): Promise<void>;
  /** A client looks at the session: watched for a while. */
  open(connection: DaemonConnection, sessionKey: string): Promise<void>;
  /** Changes might have been lost: sends these daemons the difference to the sent state. */
  again(hub: Pick<Hub, 'parts' | 'get'>): Promise<void>;
}

/** Sessions of a device that are remembered as open: the newest. */
const maxOpen = 200;

/** Storage for the open sessions of apps, which outlives the daemon's connection. */
type OpenSessions = Pick<Shared, 'take' | 'put'>;

export function createWatching(database: Database, backplane: OpenSessions, openMs: number): Watching {
  const sendWatch = (connection: DaemonConnection, key: string, nativeId: string, filePath: string) => {
    const before = connection.sessions.watching.get(key);
    if (before?.nativeId === nativeId && before.filePath === filePath) return;
    // Daemons find the session by its file: some keep to the first path of a session that they watch.
    if (before !== undefined) connection.send({ type: 'unwatch_session', session_id: before.nativeId });
    connection.sessions.watching.set(key, { nativeId, filePath });
    connection.send({ type: 'watch_session', session_id: nativeId, file_path: filePath });
  };
  const sendUnwatch = (connection: DaemonConnection, key: string) => {
    const sent = connection.sessions.watching.get(key);
    if (sent === undefined) return;
    connection.sessions.watching.delete(key);
    connection.send({ type: 'unwatch_session', session_id: sent.nativeId });
  };

  const watchedOn = gathered((deviceIds) => watchedOnDevices(database, [...new Set(deviceIds)]));

  const sync = async (connection: DaemonConnection, sessionKey: string) => {
    const [record] = await readSessions(database, [sessionKey]);
    const wanted = record !== undefined && (record.session.watched || connection.sessions.opened.has(sessionKey));
    if (!wanted) sendUnwatch(connection, sessionKey);
    else if (!record.placeholder) sendWatch(connection, sessionKey, record.nativeId, record.filePath);
  };

  /** Watched until then, without a word to the daemon. */
  const hold = (connection: DaemonConnection, key: string, untilMs: number) => {
    const { opened } = connection.sessions;
    clearTimeout(opened.get(key)?.timer);
    const timer = setTimeout(() => {
      opened.delete(key);
      sync(connection, key).catch((error: unknown) => connection.logger.warn({ err: error }, 'could not unwatch'));
    }, untilMs - Date.now());
    timer.unref();
    opened.set(key, { timer, untilMs });
  };

  const openKey = ({ deviceId }: DaemonConnection) => `open:${deviceId}`;
  const failed = (connection: DaemonConnection) => (error: unknown) =>
    connection.logger.warn({ err: error }, 'what is open could not be remembered');
  const remember = (connection: DaemonConnection): Promise<void> => {
    const all = [...connection.sessions.opened].map(([key, { untilMs }]) => [key, untilMs] as const);
    const newest = all.toSorted(([, one], [, other]) => other - one).slice(0, maxOpen);
    return backplane.put(openKey(connection), JSON.stringify(newest), openMs).catch(failed(connection));
  };
  /**
   * Restores the sessions that apps had open when the previous connection closed, on any instance. Returns the keys.
   */
  const openAgain = async (connection: DaemonConnection): Promise<string[]> => {
    const kept = await backplane.take(openKey(connection)).catch(failed(connection));
    if (!kept) return [];
    const now = Date.now();
    const still = (JSON.parse(kept) as [key: string, untilMs: number][]).filter(([, untilMs]) => untilMs > now);
    for (const [key, untilMs] of still) hold(connection, key, Math.min(untilMs, now + openMs));
    // Taken to be read: the next connection wants it too.
    await remember(connection);
    return still.map(([key]) => key);
  };

  /** Keys of the sessions whose state must be sent to the daemon, for the first time or again. */
  const differing = ({ sessions }: DaemonConnection, watched: readonly WatchedNative[]): string[] => {
    const unsent = watched.filter(({ key, nativeId, filePath }) => {
      const sent = sessions.watching.get(key);
      return sent?.nativeId !== nativeId || sent.filePath !== filePath;
    });
    const keys = new Set(watched.map(({ key }) => key));
    const over = [...sessions.watching.keys()].filter((key) => !keys.has(key) && !sessions.opened.has(key));
    return [...unsent.map(({ key }) => key), ...over];
  };

  return {
    sync,
    again: async (hub) => {
      for (const deviceIds of hub.parts) {
        const watched = await watchedOnDevices(database, deviceIds);
        for (const deviceId of deviceIds) {
          const connection = hub.get(deviceId);
          if (!connection?.live || (connection.sessions.watching.size === 0 && !watched.has(deviceId))) continue;
          // Read each again: a message about it might have arrived in between.
          for (const key of differing(connection, watched.get(deviceId) ?? [])) await sync(connection, key);
        }
      }
    },
    resume: async (connection) => {
      const opened = await openAgain(connection);
      for (const { key, nativeId, filePath } of (await watchedOn(connection.deviceId)) ?? []) {
        sendWatch(connection, key, nativeId, filePath);
      }
      for (const key of opened) if (!connection.sessions.watching.has(key)) await sync(connection, key);
    },
    stop: async (connection, sessionKey) => {
      const { opened } = connection.sessions;
      if (opened.has(sessionKey)) {
        clearTimeout(opened.get(sessionKey)?.timer);
        opened.delete(sessionKey);
        await remember(connection);
      }
      await sync(connection, sessionKey);
    },
    open: async (connection, sessionKey) => {
      hold(connection, sessionKey, Date.now() + openMs);
      await remember(connection);
      if (!connection.sessions.watching.has(sessionKey)) await sync(connection, sessionKey);
    },
  };
}
