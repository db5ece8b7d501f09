/** The turns that the only process of a relay remembers (rules, 12.3): hashes of texts, by session. They outlive the process. */
import { sql } from './sql.ts';
import type { Db } from './transaction.ts';

const untilOf = (ttlMs: number) => sql`now() + ${ttlMs}::double precision * interval '1 millisecond'`;

/** Deleting a session deletes its turns. */
export function createSessionTurns(db: Db) {
  const peek = async (key: string): Promise<string | undefined> => {
    const [row] = await db.sql.query<{ turn: string }>`
      SELECT turn FROM session_turns WHERE session_key = ${key} AND expires_at > now()`;
    return row?.turn;
  };
  return {
    peek,
    async take(key: string): Promise<string | undefined> {
      const [row] = await db.sql.query<{ turn: string }>`
        DELETE FROM session_turns WHERE session_key = ${key} RETURNING turn`;
      return row?.turn;
    },
    async put(key: string, value: string, ttlMs: number): Promise<void> {
      await db.sql.execute`
        INSERT INTO session_turns (session_key, turn, expires_at)
        SELECT s.key, ${value}, ${untilOf(ttlMs)} FROM sessions s WHERE s.key = ${key} AND s.deleted_at IS NULL
        ON CONFLICT (session_key) DO UPDATE SET turn = EXCLUDED.turn, expires_at = EXCLUDED.expires_at`;
    },
    async extend(key: string, more: string, ttlMs: number): Promise<boolean> {
      const changed = await db.sql.execute`
        UPDATE session_turns SET turn = turn || ${more}, expires_at = ${untilOf(ttlMs)}
        WHERE session_key = ${key} AND expires_at > now()`;
      return changed > 0;
    },
  };
}
