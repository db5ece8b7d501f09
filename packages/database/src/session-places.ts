/**
 * Places of sessions: enough to query a daemon. Read for every page of a conversation, for many people in one
 * statement.
 */
import { formatSessionId, parseSessionId } from '@relay/protocol';
import { type Sql, sql } from './sql.ts';
import type { Db } from './transaction.ts';

/** A session as its owner names it, by its id or by any id it ever had (rules, 1.5). */
export interface NamedSession {
  readonly ownerId: string;
  readonly sessionId: string;
}

export interface SessionPlace {
  deviceId: string;
  /** Its id today. */
  id: string;
  nativeId: string;
  placeholder: boolean;
  projectPath: string;
  lastMessage: string;
}

interface Row {
  n: number;
  device_id: string;
  agent_type: string;
  native_id: string;
  placeholder: boolean;
  project_path: string;
  last_message: string;
}

/** Skips missing, deleted and other people's sessions, and texts that are not session ids. */
export async function findPlaces(db: Db, sessions: readonly NamedSession[]): Promise<Map<NamedSession, SessionPlace>> {
  const found = new Map<NamedSession, SessionPlace>();
  await findBy(isName, db, sessions, found);
  const missing = sessions.filter((one) => !found.has(one));
  await findBy(isAlias, db, missing, found);
  return found;
}

const isName = sql`device_id = a.device_id AND agent_type = a.agent_type AND native_id = a.native_id`;
const isAlias = sql`key = (SELECT session_key FROM session_aliases b
  WHERE b.device_id = a.device_id AND b.agent_type = a.agent_type AND b.native_id = a.native_id)`;

/** Each is looked up by itself, so that an index is the only way, with statistics and without. */
async function findBy(
  condition: Sql,
  db: Db,
  sessions: readonly NamedSession[],
  found: Map<NamedSession, SessionPlace>,
): Promise<void> {
  // PostgreSQL refuses U+0000, and would refuse it for all.
  const named = sessions.flatMap((one) => {
    const id = `${one.ownerId}${one.sessionId}`.includes('\0') ? undefined : parseSessionId(one.sessionId);
    return id ? [{ one, id }] : [];
  });
  if (named.length === 0) return;
  const rows = await db.sql.query<Row>`
    SELECT a.n::int AS n, s.*
    FROM unnest(${sql.texts(named.map(({ one }) => one.ownerId))}, ${sql.texts(named.map(({ id }) => id.deviceId))},
      ${sql.texts(named.map(({ id }) => id.agentType))}, ${sql.texts(named.map(({ id }) => id.nativeId))})
      WITH ORDINALITY AS a (owner_id, device_id, agent_type, native_id, n)
    CROSS JOIN LATERAL (
      SELECT device_id, agent_type, native_id, placeholder, project_path, last_message
      FROM sessions WHERE ${condition} AND owner_id = a.owner_id AND deleted_at IS NULL LIMIT 1) s`;
  for (const { n, device_id: deviceId, agent_type: agentType, native_id: nativeId, ...row } of rows) {
    found.set(named[n - 1]!.one, {
      deviceId,
      id: formatSessionId({ deviceId, agentType, nativeId }),
      nativeId,
      placeholder: row.placeholder,
      projectPath: row.project_path,
      lastMessage: row.last_message,
    });
  }
}
