/** Registrations in progress (rules, chapter 7): requested by a daemon, decided by a person, redeemed once. */
import type { CodeDetail } from '@relay/protocol';
import { addAccessNotice } from './access-notices.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { sql } from './sql.ts';
import type { Db, Whole, WithModels } from './transaction.ts';

export interface NewDeviceCode {
  codeHash: string;
  userCode: string;
  hostname: string;
  agentType: string;
  deviceName: string;
  requestedFrom: string;
  boundTo: string | undefined;
  /** The id the device will have. */
  deviceId: string;
  tokenSalt: string;
  ttlSeconds: number;
}

/** Stores a registration; false when the user code is taken (ask again with another). */
export async function createDeviceCode(db: Db, code: NewDeviceCode): Promise<boolean> {
  const count = await db.sql.execute`
    INSERT INTO device_codes (code_hash, user_code, hostname, agent_type, device_name, requested_from, bound_to, device_id, token_salt, expires_at)
    VALUES (${code.codeHash}, ${code.userCode}, ${code.hostname}, ${code.agentType}, ${code.deviceName}, ${code.requestedFrom},
      ${code.boundTo ?? null}, ${code.deviceId}, ${code.tokenSalt}, now() + ${code.ttlSeconds}::double precision * interval '1 second')
    ON CONFLICT (user_code) DO NOTHING`;
  return count > 0;
}

type CodeState = { kind: 'none' } | { kind: 'used' } | { kind: 'pending'; detail: CodeDetail };

/**
 * Returns the request that waits under a user code; `none` also if the code has expired or is bound to another user.
 */
export async function readDeviceCode(db: WithModels, userCode: string, userId: string): Promise<CodeState> {
  const row = await db.models.deviceCode.findUnique({ where: { userCode } });
  if (!row || row.expiresAt <= new Date() || (row.boundTo !== null && row.boundTo !== userId)) return { kind: 'none' };
  if (row.state !== 'pending') return { kind: 'used' };
  return {
    kind: 'pending',
    detail: {
      userCode: row.userCode,
      hostname: row.hostname,
      agentType: row.agentType,
      deviceName: row.deviceName,
      requestedFrom: row.requestedFrom,
      requestedAt: row.createdAt.toISOString(),
      expiresAt: row.expiresAt.toISOString(),
    },
  };
}

/** Approves or denies, once: every later decision gets `used`. An approval and its notification are one transaction. */
export async function decideDeviceCode(
  db: Whole,
  userCode: string,
  userId: string,
  approve: boolean,
  maxDevices: number,
): Promise<{ kind: 'none' | 'used' | 'full' } | { kind: 'decided'; deviceId: string; name: string }> {
  const decided = await db.sql.transaction(async (tx) => {
    await oneAtATime(tx, 'devices', userId);
    const [row] = await tx.sql.query<{ deviceId: string; name: string }>`
    UPDATE device_codes SET state = ${approve ? 'approved' : 'denied'}, decided_by = ${userId}
    WHERE user_code = ${userCode} AND state = 'pending' AND expires_at > now() AND (bound_to IS NULL OR bound_to = ${userId})
      AND (NOT ${approve} OR ${maxDevices} > (SELECT count(*) FROM devices WHERE owner_id = ${userId} AND removed_at IS NULL)
        + (SELECT count(*) FROM device_codes WHERE decided_by = ${userId} AND state = 'approved' AND expires_at > now()))
    RETURNING device_id AS "deviceId", device_name AS name`;
    if (row && approve) await addAccessNotice(tx, { userId, ...row });
    return row;
  });
  if (decided) return { kind: 'decided', ...decided };
  const state = await readDeviceCode(db, userCode, userId);
  if (state.kind === 'pending' && approve) return { kind: 'full' };
  return { kind: state.kind === 'used' ? 'used' : 'none' };
}

type Poll =
  | { kind: 'unknown' | 'expired' | 'denied' }
  | { kind: 'pending'; /** Polled below half the interval */ tooFast: boolean }
  | { kind: 'granted'; deviceId: string; tokenSalt: string };

/**
 * Answers a poll. The first poll after the approval creates the device; for `repeatMs` later polls get the same answer,
 * because a client can lose it. `tokenHashOf` derives the hash of the credential from the salt of the code.
 */
export async function pollDeviceCode(
  db: Whole,
  codeHash: string,
  options: { intervalSeconds: number; repeatMs: number; tokenHashOf: (salt: string) => string },
): Promise<Poll> {
  // Unauthenticated callers can poll: a made-up code costs neither a transaction nor a lock.
  const [found] = await db.sql.query`SELECT 1 FROM device_codes WHERE code_hash = ${codeHash}`;
  if (!found) return { kind: 'unknown' };
  return db.sql.transaction(async (tx): Promise<Poll> => {
    const rows = await tx.sql.query<{
      state: string;
      expired: boolean;
      too_fast: boolean | null;
      repeatable: boolean | null;
      device_id: string;
      token_salt: string;
      decided_by: string | null;
      hostname: string;
      agent_type: string;
      device_name: string;
    }>(sql`
      SELECT state, expires_at <= now() AS expired, device_id, token_salt, decided_by, hostname, agent_type, device_name,
        polled_at > now() - ${options.intervalSeconds / 2}::double precision * interval '1 second' AS too_fast,
        redeemed_at > now() - ${options.repeatMs}::double precision * interval '1 millisecond' AS repeatable
      FROM device_codes WHERE code_hash = ${codeHash} FOR UPDATE`);
    const row = rows[0];
    if (!row) return { kind: 'unknown' };
    if (row.state === 'redeemed') {
      return row.repeatable
        ? { kind: 'granted', deviceId: row.device_id, tokenSalt: row.token_salt }
        : { kind: 'unknown' };
    }
    if (row.state === 'denied') return { kind: 'denied' };
    if (row.expired) return { kind: 'expired' };
    if (row.state === 'pending' || row.decided_by === null) {
      await tx.sql.execute`UPDATE device_codes SET polled_at = now() WHERE code_hash = ${codeHash}`;
      return { kind: 'pending', tooFast: row.too_fast === true };
    }
    await tx.sql.execute`
      INSERT INTO devices (id, owner_id, name, hostname, agent_type, token_hash)
      VALUES (${row.device_id}, ${row.decided_by}, ${row.device_name}, ${row.hostname}, ${row.agent_type}, ${options.tokenHashOf(row.token_salt)})`;
    await tx.sql.execute`UPDATE device_codes SET state = 'redeemed', redeemed_at = now() WHERE code_hash = ${codeHash}`;
    return { kind: 'granted', deviceId: row.device_id, tokenSalt: row.token_salt };
  });
}
