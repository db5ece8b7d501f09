/**
 * DELETE /api/me (rules, 8.14): erases the account with all its data at once. The sweep of a gateway finishes an interrupted
 * erasure.
 */
import { beginAccountDeletion, eraseAccount } from '@relay/database';
import type { Operations } from '../deps.ts';
import { forgetHistory } from '../sessions/forget-history.ts';

/** `identity` and `announce` are absent on the command line: the next start prints the link. */
type AccountDeps = Pick<Operations, 'database' | 'backplane' | 'logger' | 'deviceVerifier' | 'identity' | 'announce'>;

/** Rejects when the database is away; once the sign-in is gone the rest follows in any case. */
export async function deleteAccount(deps: AccountDeps, userId: string): Promise<void> {
  const { database } = deps;
  // Instances that cannot be reached find out by themselves, and tokens live for minutes.
  const control = (body: object) =>
    deps.backplane
      .publishControl(JSON.stringify({ v: 1, ...body }))
      .catch((error: unknown) => deps.logger.warn({ err: error }, 'a deletion could not be announced'));
  await beginAccountDeletion(database, userId);
  await control({ kind: 'user_revoked', subject: userId });
  await eraseAccount(database, userId, async (deviceId) => {
    deps.deviceVerifier.forget(deviceId);
    await control({ kind: 'device_closed', deviceId, why: 'deleted' });
  });
  await forgetHistory(deps, userId);
  // The only record that a restore of an older backup does not undo.
  deps.logger.info({ userId }, 'an account was deleted');
  const setupLink = await deps.identity?.renewSetupLink();
  if (setupLink !== undefined) deps.announce?.(`The last account was deleted. Create the first one: ${setupLink}`);
}
