// The blocks that PostgreSQL reads for each request of apps and for a turn, for two people among one million sessions: the large person has
// 10,000, the small person 20. First with plans that were made on small tables, then with statistics.
import { setTimeout as wait } from 'node:timers/promises';
import { openDatabase } from '@relay/database';
import { connectDaemon, registerDevice, startPostgres, startRelay } from '@relay/testing';
import { Table } from '../measure.mjs';
import { fill, prepare, readings } from './million-rows.mjs';

const people = { large: 'alice', small: 'bob' };
/** The bound of a request (docs/performance.md). */
const bound = 500;
const day = 86_400_000;
const slow = { statementTimeoutMs: 3_600_000, transactionTimeoutMs: 3_600_000 };

/** Machines: one with all sessions of its person, one with three. */
const all = ({ deviceId }) => deviceId;
const few = ({ few: deviceId }) => deviceId;

const listQueries = {
  'the first page': {},
  'the first page, 20': { limit: 20 },
  active: { limit: 20, status: 'active' },
  waiting: { limit: 20, status: 'waiting' },
  failed: { limit: 20, status: 'failed' },
  pending: { limit: 20, status: 'pending' },
  idle: { limit: 20, status: 'idle' },
  archived: { limit: 20, archived: 'true' },
  'archived or not': { limit: 20, archived: 'all' },
  pinned: { limit: 20, pinned: 'true' },
  'of a machine': { limit: 20, deviceId: all },
  'of a machine with few': { limit: 20, deviceId: few },
  'of the same, archived or not': { limit: 20, deviceId: few, archived: 'all' },
  'search: in no session': { limit: 20, q: 'nowhere' },
  'search: in 20': { limit: 20, q: 'rare7' },
  'search: in 100': { limit: 20, q: 'seldom7' },
  'search: in 450': { limit: 20, q: 'middle' },
  'search: in 1,400': { limit: 20, q: 'often' },
  'search: in all': { limit: 20, q: 'session' },
  'search: two terms': { limit: 20, q: 'middle session' },
  'search: a prefix of two letters': { limit: 20, q: 'mi' },
  'search: one letter': { limit: 20, q: 'm' },
  'search: old sessions only': { limit: 20, q: 'ancient' },
  'search: of a machine': { limit: 20, q: 'middle', deviceId: all },
  'search: archived': { limit: 20, q: 'middle', archived: 'true' },
  'search: failed': { limit: 20, q: 'middle', status: 'failed' },
};

/** The blocks and statements since the last reset, with background work. */
async function settled(side) {
  const countOf = (rows) => rows.reduce((sum, { calls }) => sum + calls, 0);
  let rows = await readings(side);
  for (let quiet = 0; quiet < 3;) {
    await wait(40);
    const now = await readings(side);
    quiet = countOf(now) === countOf(rows) ? quiet + 1 : 0;
    rows = now;
  }
  const blocks = rows.reduce((sum, row) => sum + row.blocks, 0);
  return { blocks, calls: countOf(rows), worst: rows[0] };
}

/** The requests of apps, by name. */
function requestsOf(relay, party) {
  const { user, deviceId, id, old, watched, item } = party;
  const call = (name, options) => async () => {
    const { status, body } = await relay.call(name, { user, ...options });
    if (status >= 300) throw new Error(`${name}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  const lists = Object.entries(listQueries).map(([name, query]) => [
    `list: ${name}`,
    call('listSessions', { query: { ...query, ...(query.deviceId ? { deviceId: query.deviceId(party) } : {}) } }),
  ]);
  const of = (sessionId) => ({ params: { id: sessionId } });
  return Object.fromEntries([
    ...lists,
    [
      'list: a page from the middle',
      async () => {
        const cursor = Buffer.from(JSON.stringify([new Date(Date.now() - 14 * day).toISOString(), 'k'])).toString(
          'base64url',
        );
        await call('listSessions', { query: { limit: 20, cursor } })();
      },
    ],
    ['inbox', call('listInbox')],
    ['inbox: 20', call('listInbox', { query: { limit: 20 } })],
    ['inbox: finished', call('listInbox', { query: { limit: 20, kind: 'finished' } })],
    ['inbox: questions', call('listInbox', { query: { limit: 20, kind: 'question' } })],
    ['inbox: snoozed', call('listInbox', { query: { limit: 20, snoozed: 'true' } })],
    ['inbox: close an item', call('ackItem', { params: { id: item } })],
    ['inbox: close those of a session', call('ackInbox', { body: { sessionId: old, upToVersion: 1_000_000 } })],
    ['watched sessions', call('listWatched')],
    ['watch', call('watch', { body: { sessionId: watched } })],
    ['watch no longer', call('unwatch', { query: { sessionId: watched } })],
    ['devices', call('listDevices')],
    ['connections of a device', call('listConnections', { params: { id: deviceId } })],
    ['folders of a device', call('listFolders', { params: { id: deviceId } })],
    ['messages with a time', call('listLater')],
    ['notifications', call('listNotifications')],
    ['notification settings', call('readNotificationSettings')],
    ['audit', call('listAudit')],
    ['addresses for notifications', call('listSubscriptions')],
    ['queue of a session', call('readQueue', of(id))],
    ['a session by its former name', call('readQueue', of(old))],
    ['mark as read', call('markRead', { ...of(id), body: {} })],
    ['mark as unread', call('markUnread', of(id))],
    ['title', call('updateSession', { ...of(id), body: { title: 'Session mine' } })],
    ['archive', call('updateSession', { ...of(id), body: { archived: true } })],
    ['out of the archive', call('updateSession', { ...of(id), body: { archived: false } })],
    ['pin', call('updateSession', { ...of(id), body: { pinned: true } })],
    ['ticket for a socket', call('createTicket')],
  ]);
}

/** A turn as its person and its daemon make it, in three measured steps. */
function turnOf(relay, daemon, { user, id, native }) {
  let task;
  return {
    'turn: the message': async (n) => {
      const { status, body } = await relay.call('sendMessage', {
        user,
        params: { id },
        body: { content: `go on ${n}` },
      });
      if (status !== 202) throw new Error(JSON.stringify(body));
      task = (await daemon.next('task_resume')).task_id;
    },
    'turn: its confirmation and output': async () => {
      daemon.send({ type: 'status', running_tasks: [task] });
      daemon.event(task, 'OUTPUT', { text: 'working' });
    },
    'turn: its end': async (n) => {
      daemon.event(task, 'TASK_COMPLETE', { session_id: native, result: `done ${n}` });
    },
    'a changed report of ten sessions': async (n) => {
      const sessions = Array.from({ length: 10 }, (_, i) => ({
        session_id: `${native.replace(/\d+$/, '')}${i + 1}`,
        title: `Session changed ${n}`,
        last_message: `changed ${n}`,
        message_count: 20 + n,
        last_activity: new Date().toISOString(),
      }));
      daemon.send({ type: 'report_sessions', sessions });
    },
  };
}

export async function million({ share, progress }) {
  // The large person keeps her size down to a fifth of all sessions.
  const own = Math.min(1, share * 5);
  const size = {
    sessions: Math.ceil(1_000_000 * share),
    people: Math.ceil(20_000 * share),
    large: Math.ceil(10_000 * own),
    watches: Math.ceil(990 * own),
    items: Math.ceil(1_450 * own),
  };
  const tables = {
    blocks: new Table('Blocks of PostgreSQL for a request'),
    statements: new Table('Statements of a request'),
  };
  const stops = [];
  try {
    progress('starting');
    const postgres = await startPostgres({
      settings: [
        'shared_preload_libraries = pg_stat_statements',
        'plan_cache_mode = force_generic_plan',
        'autovacuum = off',
        'fsync = off',
        'max_wal_size = 8GB',
        'shared_buffers = 512MB',
        'maintenance_work_mem = 512MB',
      ],
    });
    stops.push(() => postgres.stop());
    const url = await postgres.createDatabase();
    // One connection, which keeps its first plans.
    const database = await openDatabase({ url, poolSize: 1, ...slow });
    const side = await openDatabase({ url, poolSize: 1, ...slow });
    stops.push(
      () => database.close(),
      () => side.close(),
    );
    await side.sql.execute`CREATE EXTENSION pg_stat_statements`;
    const relay = await startRelay({ database, config: { sweepIntervalMs: 3_600_000, outboxPollMs: 3_600_000 } });
    stops.push(() => relay.stop());
    const parties = {};
    for (const [who, user] of Object.entries(people)) {
      const registration = await registerDevice(relay, { user });
      const { deviceId } = registration;
      const daemon = await connectDaemon(relay, { registration, user });
      const sessionId = (name) => `${deviceId}:scripted:${name}`;
      const party = {
        user,
        deviceId,
        native: `${who}-1`,
        id: sessionId(`${who}-1`),
        old: sessionId(`PENDING-${who}-2`),
        watched: sessionId(`${who}-4`),
        few: `few-${who}`,
        item: `item-${who}`,
      };
      parties[who] = { ...party, daemon, userId: relay.issuer.userId(user) };
    }
    const measure = async (work) => {
      await settled(side);
      await side.sql.query`SELECT pg_stat_statements_reset()`;
      await work();
      return settled(side);
    };
    const round = async (when, n) => {
      for (const [who, party] of Object.entries(parties)) {
        const steps = { ...requestsOf(relay, party), ...turnOf(relay, party.daemon, party) };
        for (const [name, work] of Object.entries(steps)) {
          const { blocks, calls, worst } = await measure(() => work(n));
          if (when === undefined) continue;
          tables.blocks.add(name, `${who}, ${when}`, blocks);
          if (when === 'with statistics') tables.statements.add(name, who, calls);
          if (blocks > bound)
            progress(`${blocks} blocks for "${name}", ${who}, ${when}; ${worst.blocks} of it: ${worst.query}`);
        }
      }
    };
    await prepare(side, parties);
    progress('making plans on small tables');
    await round(undefined, 1);
    progress(`filling ${size.sessions} sessions`);
    const alive = setInterval(() => void database.sql.query`SELECT 1`.catch(() => {}), 5_000);
    await fill(side, parties, size, progress);
    clearInterval(alive);
    progress('measuring without statistics');
    await round('no statistics', 2);
    progress('analyzing');
    // A vacuum marks only rows as visible whose commit is on disk, and its own commits can be in the same group of 32.
    await side.sql.execute`SET synchronous_commit = on`;
    await side.sql.execute`CHECKPOINT`;
    await side.sql.execute`VACUUM (ANALYZE)`;
    // New statistics discard all plans. The first caller makes them again, which reads the catalog.
    await round(undefined, 3);
    await round('with statistics', 4);
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
  return Object.values(tables);
}
