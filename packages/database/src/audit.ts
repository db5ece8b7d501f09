/** The audit of a person (rules, 8.20): actor, action, address, object and outcome. Never a text. */
import type { AuditEntry } from '@relay/protocol';
import { sql } from './sql.ts';
import type { Db } from './transaction.ts';
import { newUlid } from './ulids.ts';

export type NewAuditEntry = Omit<AuditEntry, 'id' | 'at' | 'times'> & { userId: string };

const maxCharacters = 1024;
const given = (text: string | undefined) => (text === undefined || text === '' ? null : text.slice(0, maxCharacters));

/**
 * Adds an entry, except for an account in deletion. A refusal that repeats within an hour, without a success in
 * between, increments the entry of the first, which then has the newest address and request.
 */
export async function addAuditEntry(db: Db, entry: NewAuditEntry): Promise<void> {
  if (entry.outcome !== 'done' && (await countAgain(db, entry))) return;
  await db.sql.execute`
    INSERT INTO audit_entries (id, user_id, action, outcome, program, address, target, question, digest, deliver, setting, request_id)
    SELECT ${newUlid()}, ${entry.userId}, ${entry.action}, ${entry.outcome}, ${given(entry.program)}, ${given(entry.address)},
      ${given(entry.target)}, ${given(entry.question)}, ${given(entry.digest)}, ${given(entry.deliver)}, ${given(entry.setting)}, ${given(entry.requestId)}
    WHERE NOT EXISTS (SELECT 1 FROM account_deletions WHERE user_id = ${entry.userId})`;
}

async function countAgain(db: Db, entry: NewAuditEntry): Promise<boolean> {
  const counted = await db.sql.execute`
    UPDATE audit_entries SET times = times + 1, address = ${given(entry.address)}, request_id = ${given(entry.requestId)}
    WHERE id = (SELECT e.id FROM audit_entries e WHERE e.user_id = ${entry.userId} AND e.at > now() - interval '1 hour'
      AND e.action = ${entry.action} AND e.outcome = ${entry.outcome} AND e.program IS NOT DISTINCT FROM ${given(entry.program)}
      AND e.target IS NOT DISTINCT FROM ${given(entry.target)} AND e.question IS NOT DISTINCT FROM ${given(entry.question)}
      AND e.digest IS NOT DISTINCT FROM ${given(entry.digest)} AND e.setting IS NOT DISTINCT FROM ${given(entry.setting)}
      -- The password was right: two addresses may be two people.
      AND (e.outcome <> 'SECOND_FACTOR_REQUIRED' OR e.address IS NOT DISTINCT FROM ${given(entry.address)})
      AND NOT EXISTS (SELECT 1 FROM audit_entries d WHERE d.user_id = e.user_id AND d.action = e.action AND d.outcome = 'done' AND (d.at, d.id) > (e.at, e.id))
      ORDER BY e.at DESC, e.id DESC LIMIT 1)`;
  return counted > 0;
}

interface Row {
  id: string;
  at: Date;
  action: string;
  outcome: string;
  program: string | null;
  address: string | null;
  target: string | null;
  question: string | null;
  digest: string | null;
  deliver: string | null;
  setting: string | null;
  request_id: string | null;
  times: number;
}

function toEntry({ at, request_id: requestId, times, ...row }: Row): AuditEntry {
  const entries = Object.entries({ ...row, requestId, times: times === 1 ? null : times }).filter(
    ([, value]) => value !== null,
  );
  return { ...(Object.fromEntries(entries) as Omit<AuditEntry, 'at'>), at: at.toISOString() };
}

/** The present id of a session that had no name yet when the entry was written; NULL for any other target. */
const named = sql`(
  SELECT concat_ws(':', s.device_id, s.agent_type, s.native_id) FROM session_aliases a JOIN sessions s ON s.key = a.session_key
  WHERE target LIKE '%:PENDING-%' AND a.device_id = split_part(target, ':', 1) AND a.agent_type = split_part(target, ':', 2)
    AND a.native_id = split_part(target, ':', 3) AND s.owner_id = user_id)`;

/** Entries of a person before `before`, newest first; one more than `limit` when there are more. */
export async function listAudit(
  db: Db,
  userId: string,
  limit: number,
  before?: { at: Date; id: string },
): Promise<AuditEntry[]> {
  const earlier = before === undefined ? sql`` : sql`AND (at, id) < (${before.at}::timestamptz, ${before.id})`;
  const rows = await db.sql.query<Row>`
    SELECT id, at, action, outcome, program, address, COALESCE(${named}, target) AS target, question, digest, deliver, setting, request_id, times
    FROM audit_entries
    WHERE user_id = ${userId} ${earlier} ORDER BY at DESC, id DESC LIMIT ${limit + 1}`;
  return rows.map(toEntry);
}

const keptEntries = 10_000;
const rowsAtOnce = 5000;

/**
 * Deletes all but the newest entries of each person, a few thousand at a time. Looks only at people with activity
 * within a day: earlier runs trimmed the rest.
 */
export async function trimAudit(db: Db): Promise<void> {
  const statement = sql`
    DELETE FROM audit_entries WHERE ctid = ANY(ARRAY(
      SELECT surplus.ctid FROM (SELECT DISTINCT user_id FROM audit_entries WHERE at > now() - interval '1 day') recent
      CROSS JOIN LATERAL (
        SELECT ctid FROM audit_entries WHERE user_id = recent.user_id ORDER BY at DESC, id DESC OFFSET ${keptEntries}) surplus
      LIMIT ${rowsAtOnce}))`;
  while ((await db.sql.execute(statement)) === rowsAtOnce);
}
