// Rows for the suite `million`: one person has 1 % of all sessions, scattered over the table, and the rest belongs to 20,000 others.
import { Sql, sql } from '@relay/database';

/** Indexes of terms, which PostgreSQL builds faster than it adds to them. */
const termIndexes = ['session_words_own_idx', 'session_words_words_idx'];

/** A session of the large person: every 450th to 20th contains a term of that frequency. */
const lastMessage = sql`'rare' || n % 500 || ' seldom' || n % 100 || ' done with the change' || CASE WHEN n % 22 = 0 THEN ' middle' ELSE '' END
  || CASE WHEN n % 7 = 0 THEN ' often' ELSE '' END || CASE WHEN age > 9000 AND n % 3 = 0 THEN ' ancient' ELSE '' END`;

/** The statements since the last reset, with the blocks that they read. */
export const readings = async (db) => db.sql.query`
  SELECT query, calls::int, (shared_blks_hit + shared_blks_read)::int AS blocks FROM pg_stat_statements
  WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND query !~ 'pg_stat_statements' ORDER BY blocks DESC`;

/** Before the plans are made: the sessions, watches and items that requests name. */
export async function prepare(db, parties) {
  for (const { userId, deviceId, native, item } of Object.values(parties)) {
    const who = native.split('-')[0];
    await db.sql.execute`
      INSERT INTO sessions (key, owner_id, device_id, agent_type, native_id, title, title_source, project_path, status, last_message, message_count)
      SELECT ${`${who}-`} || n, ${userId}, ${deviceId}, 'scripted', ${`${who}-`} || n, 'Session ' || n, 'report', '/work', 'idle', 'done', 3
      FROM generate_series(1, 10) n`;
    const few = `few-${who}`;
    await db.sql.execute`
      INSERT INTO devices (id, owner_id, name, hostname, agent_type, token_hash) VALUES (${few}, ${userId}, 'few', 'few.local', 'scripted', ${few})`;
    await db.sql.execute`
      INSERT INTO sessions (key, owner_id, device_id, agent_type, native_id, title, title_source, project_path, status, last_message, message_count, updated_at)
      SELECT ${`${few}-`} || n, ${userId}, ${few}, 'scripted', 'few-' || n, 'Session ' || n, 'report', '/work', 'idle', 'done', 3, now() - interval '1 year'
      FROM generate_series(1, 3) n`;
    // Both people watch the session of the turn, which so has an item of the inbox.
    await db.sql.execute`INSERT INTO watched_sessions (user_id, session_key) VALUES (${userId}, ${native})`;
    await db.sql.execute`
      INSERT INTO session_aliases (device_id, agent_type, native_id, session_key)
      SELECT ${deviceId}, 'scripted', 'PENDING-' || key, key FROM sessions WHERE owner_id = ${userId}`;
    await db.sql.execute`
      INSERT INTO inbox_items (id, user_id, kind, session_key, subject, version) VALUES (${item}, ${userId}, 'finished', ${`${who}-3`}, '', 1)`;
  }
}

export async function fill(db, { large, small }, size, progress) {
  await db.sql.transaction(async (tx) => {
    const run = (what, statement) => {
      progress(what);
      return tx.sql.execute(statement);
    };
    // Disables the triggers: these statements write their rows.
    await run('devices', sql`SET LOCAL session_replication_role = replica`);
    for (const index of termIndexes) await tx.sql.execute(new Sql([`ALTER INDEX ${index} SET (fastupdate = off)`]));
    const defs = await tx.sql
      .query`SELECT indexname AS name, indexdef AS definition FROM pg_indexes WHERE indexname = ANY(${termIndexes}::text[])`;
    for (const { name } of defs) await tx.sql.execute(new Sql([`DROP INDEX ${name}`]));
    await run(
      'devices',
      sql`
      INSERT INTO devices (id, owner_id, name, hostname, agent_type, token_hash)
      SELECT 'd' || n, 'user-' || n, 'laptop', 'laptop.local', 'scripted', 'hash-' || n FROM generate_series(1, ${size.people}::int) n`,
    );
    const every = Math.round(size.sessions / size.large);
    // The age is a permutation, so that the newest sessions of a person are scattered over the table.
    await run(
      'sessions',
      sql`
      INSERT INTO sessions (key, owner_id, device_id, agent_type, native_id, title, title_source, project_path, status, last_message, message_count,
        pinned_at, archived, news_at, created_at, updated_at, last_task)
      SELECT 'k' || lpad(i::text, 25, '0'), CASE WHEN mine THEN ${large.userId} ELSE 'user-' || person END, CASE WHEN mine THEN ${large.deviceId} ELSE 'd' || person END,
        'scripted', 'native-' || i, 'Session ' || n, 'report', '/work/project-' || n % 50, CASE n % 997 WHEN 1 THEN 'failed' WHEN 2 THEN 'waiting' ELSE 'idle' END,
        ${lastMessage}, n % 90 + 1, CASE WHEN n % 1000 = 5 THEN now() END, n % 10 = 9, now() - age * interval '4 minutes',
        now() - age * interval '5 minutes', now() - age * interval '4 minutes',
        CASE WHEN mine OR NOT (n % 90 + 1 = 50 AND person % 100 = 0) THEN jsonb_build_object('id', CASE WHEN mine THEN 't-2k' ELSE 't-1k' END || lpad(i::text, 25, '0'), 'state', 'completed') END
      FROM (SELECT i, i % ${every}::int = 0 AS mine, i / ${every}::int AS n, 1 + (i::bigint * 7919) % ${size.people}::int AS person,
        ((i / ${every}::int)::bigint * 7919) % ${size.large}::int AS age FROM generate_series(1, ${size.sessions}::int) i) rows`,
    );
    await run(
      'sessions of the small person',
      sql`
      INSERT INTO sessions (key, owner_id, device_id, agent_type, native_id, title, title_source, project_path, status, last_message, message_count, updated_at, last_task)
      SELECT 'row-small-' || n, ${small.userId}, ${small.deviceId}, 'scripted', 'native-small-' || n, 'Session ' || n, 'report', '/work', 'idle',
        'middle often', 3, now() - n * interval '1 hour', jsonb_build_object('id', 't-2row-small-' || n, 'state', 'completed') FROM generate_series(1, 20) n`,
    );
    await run(
      'aliases',
      sql`
      INSERT INTO session_aliases (device_id, agent_type, native_id, session_key)
      SELECT device_id, agent_type, 'PENDING-' || key, key FROM sessions ON CONFLICT DO NOTHING`,
    );
    await run(
      'tasks',
      sql`
      INSERT INTO tasks (id, session_key, device_id, owner_id, kind, instruction, state, created_at, expires_at, sent_at, finished_at)
      SELECT 't-' || n || key, key, device_id, owner_id, 'resume', '', 'completed', updated_at, updated_at, updated_at, updated_at
      FROM sessions, generate_series(1, 2) n WHERE n = 1 OR owner_id IN (${large.userId}, ${small.userId})`,
    );
    // Some messages wait: a fiftieth of the people has one.
    await run(
      'messages that wait',
      sql`
      INSERT INTO tasks (id, session_key, device_id, owner_id, kind, instruction, state, expires_at)
      SELECT 'q-' || key, key, device_id, owner_id, 'resume', 'go on', 'queued', now() + interval '1 day' FROM sessions WHERE message_count = 50 AND owner_id LIKE 'user-%00'`,
    );
    await run(
      'terms',
      sql`
      INSERT INTO session_words (session_key, words, own, version)
      SELECT key, '', array_to_tsvector(ARRAY(SELECT DISTINCT relay_owner_word(owner_id) || '/' || term
        FROM unnest(string_to_array(lower(title || ' work ' || replace(substr(project_path, 7), '-', ' ') || ' ' || last_message), ' ')) AS term WHERE term <> '')), 2
      FROM sessions ON CONFLICT (session_key) DO NOTHING`,
    );
    await run(
      'watches',
      sql`
      INSERT INTO watched_sessions (user_id, session_key, device_id, agent_type, native_id)
      (SELECT owner_id, key, device_id, agent_type, native_id FROM sessions WHERE owner_id = ${large.userId} ORDER BY message_count, key LIMIT ${size.watches})
      UNION ALL (SELECT owner_id, key, device_id, agent_type, native_id FROM sessions WHERE owner_id = ${small.userId} LIMIT 5)
      UNION ALL (SELECT DISTINCT ON (owner_id) owner_id, key, device_id, agent_type, native_id FROM sessions WHERE owner_id LIKE 'user-%' ORDER BY owner_id, key) ON CONFLICT DO NOTHING`,
    );
    await run(
      'watches',
      sql`UPDATE sessions SET watched = true WHERE key IN (SELECT session_key FROM watched_sessions)`,
    );
    const items = (which, state, limit) => sql`
      INSERT INTO inbox_items (id, user_id, kind, session_key, subject, state, version, created_at, closed_at)
      SELECT gen_random_uuid()::text, owner_id, CASE row_number() OVER () % 3 WHEN 0 THEN 'failure' WHEN 1 THEN 'finished' ELSE 'unknown' END, key,
        CASE WHEN row_number() OVER () % 3 = 1 THEN '' ELSE 't-1' || key END, ${state}, row_number() OVER (), updated_at, CASE WHEN ${state} = 'closed' THEN updated_at END
      FROM (SELECT * FROM sessions WHERE ${which} ORDER BY message_count, key LIMIT ${limit}) s ON CONFLICT DO NOTHING`;
    await run('inbox', items(sql`owner_id = ${large.userId}`, 'open', size.items));
    await run('inbox', items(sql`owner_id = ${large.userId}`, 'closed', size.large));
    await run('inbox', items(sql`owner_id = ${small.userId}`, 'open', 5));
    await run('inbox', items(sql`owner_id LIKE 'user-%'`, 'open', size.people));
    await run(
      'inbox',
      sql`
      INSERT INTO inbox_heads (user_id, version, published, counts)
      SELECT user_id, max(version), max(version), relay_inbox_count(user_id) FROM inbox_items GROUP BY user_id
      ON CONFLICT (user_id) DO UPDATE SET version = excluded.version, published = excluded.published, counts = excluded.counts`,
    );
    await run(
      'notifications',
      sql`
      INSERT INTO notifications (id, user_id, session_key, session_id, task_id, cause, state, created_at, sent_at)
      SELECT 'n-' || key, owner_id, key, device_id || ':scripted:' || native_id, 't-1' || key, 'done', 'sent', updated_at, updated_at
      FROM sessions WHERE message_count < 10`,
    );
    await run(
      'audit',
      sql`
      INSERT INTO audit_entries (id, user_id, at, action, outcome, target)
      SELECT 'a-' || key, owner_id, updated_at, 'sendMessage', 'done', key FROM sessions WHERE message_count < 10`,
    );
    for (const { name, definition } of defs) await run(name, new Sql([definition]));
  });
}
