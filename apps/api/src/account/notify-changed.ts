/**
 * Notifies a person at all their addresses that the sign-in to their account changed (rules, 8.24), in case another
 * person changed it.
 */
import type { Shared } from '@relay/backplane';
import { type Database, addAccountNotice } from '@relay/database';
import type { Logger } from '@relay/telemetry';

interface Changing {
  database: Database;
  backplane: Pick<Shared, 'publishControl'>;
  logger: Logger;
}

/** Keyed by the names of the audit. Notification services show these sentences unchanged. */
const sentences: Readonly<Record<string, string>> = {
  turnOnSecondFactor: 'The second step at sign-in was turned on.',
  turnOffSecondFactor: 'The second step at sign-in was turned off.',
  resetSecondFactor: 'The operator removed the second step at sign-in.',
  useRecoveryCode: 'A recovery code was used to sign in.',
  renewRecoveryCodes: 'New recovery codes replaced the old ones.',
  addPasskey: 'A passkey was added. It signs in without the password.',
  removePasskey: 'A passkey was removed.',
};

/** Does nothing for any other action. Never rejects: the change has been made, and the audit has it too. */
export async function notifyChanged(
  { database, backplane, logger }: Changing,
  userId: string,
  action: string,
): Promise<void> {
  const sentence = sentences[action];
  if (sentence === undefined) return;
  try {
    await addAccountNotice(database, userId, sentence);
    await backplane.publishControl(JSON.stringify({ v: 1, kind: 'outbox' }));
  } catch (error) {
    logger.warn({ err: error, action }, 'a person could not be notified of a change of their account');
  }
}
