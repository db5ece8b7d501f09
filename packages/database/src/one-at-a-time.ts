/** Limits of a person that rows of several devices share. One transaction at a time counts rows and adds some. */
import type { Db } from './transaction.ts';

/** Each kind of row has a lock of its own for each person. */
type Counted = 'agent_turns' | 'devices' | 'images' | 'invitations' | 'later' | 'schedules' | 'watches';

/**
 * Waits until other transactions stop counting this for the person. The transaction releases the lock. Take it after
 * the lock of a device.
 */
export async function oneAtATime(tx: Db, counted: Counted, userId: string): Promise<void> {
  await tx.sql.execute`SELECT pg_advisory_xact_lock(hashtextextended(${`${counted} ${userId}`}, 0))`;
}
