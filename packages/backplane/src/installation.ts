/** One Redis serves one installation: the first instance writes its id there, and a start with another id stops (rules, 15.25). */
import type { Shared } from './shared.ts';

/** Redis belongs to another installation. The message names the next step. */
export class InstallationError extends Error {
  constructor(own: string, other: string) {
    super(
      `Redis at REDIS_URL belongs to another installation of the relay (${other}; this database is ${own}). ` +
        'Two installations on one Redis disturb each other. Give each a Redis server of its own: another database number is not enough. ' +
        'If the other installation is gone or its database was replaced, run "relay-admin take-redis --yes" with the settings of this one ' +
        '(docs/operations.md, "One Redis per installation"), then start again.',
    );
    this.name = 'InstallationError';
  }
}

const key = 'installation';
/** Equals the lifetime of the mark of the database (`apps/gateway/src/fleet/timeline.ts`): both belong to one database. */
const rememberMs = 7 * 24 * 3_600_000;
/**
 * Claims Redis for an installation, or confirms its claim.
 * @throws InstallationError when another installation has claimed it; BackplaneError when Redis does not answer
 */
export async function claimRedis(backplane: Pick<Shared, 'keepFirst'>, installation: string): Promise<void> {
  const kept = await backplane.keepFirst(key, installation, rememberMs);
  if (kept !== installation) throw new InstallationError(installation, kept);
}

/** Replaces the claim of another installation, and removes the mark of its database. Returns the old id, if any. */
export async function takeRedis(
  backplane: Pick<Shared, 'take' | 'put'>,
  installation: string,
): Promise<string | undefined> {
  const before = await backplane.take(key);
  if (before !== undefined && before !== installation) await backplane.take('timeline');
  await backplane.put(key, installation, rememberMs);
  return before === installation ? undefined : before;
}
