/** The second step of a sign-in with a password (rules, 8.22). The library of the sign-in writes the secrets; they are never read here. */
import type { WithModels } from './transaction.ts';
import { newUlid } from './ulids.ts';

/** Whether a sign-in of this person takes a one-time code in addition to the password. */
export async function hasSecondFactor(db: WithModels, userId: string): Promise<boolean> {
  return (await db.models.user.count({ where: { id: userId, twoFactorEnabled: true } })) > 0;
}

/** The recovery codes of a person as they are stored, encrypted; undefined without a second factor. */
export async function sealedRecoveryCodes(db: WithModels, userId: string): Promise<string | undefined> {
  const where = { userId, user: { twoFactorEnabled: true } };
  return (await db.models.secondFactor.findFirst({ where, select: { backupCodes: true } }))?.backupCodes;
}

/** The second factor of a person as it is stored, encrypted; undefined without one. */
export async function sealedFactor(db: WithModels, userId: string): Promise<SealedFactor | undefined> {
  const where = { userId, user: { twoFactorEnabled: true } };
  const select = { id: true, secret: true, backupCodes: true };
  return (await db.models.secondFactor.findFirst({ where, select })) ?? undefined;
}

/** Replaces the recovery codes by the remaining ones; false if another request changed them first. */
export async function useRecoveryCode(db: WithModels, previous: SealedFactor, backupCodes: string): Promise<boolean> {
  return (await db.models.secondFactor.updateMany({ where: { ...previous }, data: { backupCodes } })).count > 0;
}

/**
 * Marks a secret as proven whose owner has the second factor: the library writes the two one after the other, and without the second mark
 * it takes no code.
 */
export async function finishSecondFactor(db: WithModels, userId: string): Promise<void> {
  const where = { userId, verified: false, user: { twoFactorEnabled: true } };
  await db.models.secondFactor.updateMany({ where, data: { verified: true } });
}

/** Revokes the sign-ins of a person that wait for a code. */
export async function forgetHalfSignIns(db: WithModels, userId: string): Promise<void> {
  await db.models.verification.deleteMany({ where: { value: userId, identifier: { startsWith: '2fa-' } } });
}

/**
 * Removes the second factor of a person; false if the person has no second factor. Revokes sign-ins that wait for a
 * code.
 */
export async function removeSecondFactor(db: WithModels, userId: string): Promise<boolean> {
  const { count } = await db.models.user.updateMany({
    where: { id: userId, twoFactorEnabled: true },
    data: { twoFactorEnabled: false },
  });
  await db.models.secondFactor.deleteMany({ where: { userId } });
  await forgetHalfSignIns(db, userId);
  return count > 0;
}

const usedCode = (hash: string) => ({ id: `one-time-code:${hash}`, expiresAt: { gt: new Date() } });

/** Whether a one-time code was used, by the hash that `useOneTimeCode` was given. */
export async function isOneTimeCodeUsed(db: WithModels, hash: string): Promise<boolean> {
  return (await db.models.verification.count({ where: usedCode(hash) })) > 0;
}

/** Records that a one-time code is used, for `forMs`; false if it was already. Of two calls at the same time one is true. */
export async function useOneTimeCode(db: WithModels, hash: string, forMs: number): Promise<boolean> {
  const { id } = usedCode(hash);
  await db.models.verification.deleteMany({ where: { id, expiresAt: { lte: new Date() } } });
  const data = { id, identifier: newUlid(), value: '', expiresAt: new Date(Date.now() + forMs) };
  return (await db.models.verification.createMany({ data, skipDuplicates: true })).count > 0;
}

interface SealedFactor {
  id: string;
  secret: string;
  backupCodes: string;
}

/** Up to 100 second factors after `afterId` with a part that lacks `prefix`: it was encrypted with another secret. */
export async function factorsSealedOtherwise(db: WithModels, prefix: string, afterId: string): Promise<SealedFactor[]> {
  const other = { not: { startsWith: prefix } };
  return db.models.secondFactor.findMany({
    where: { id: { gt: afterId }, OR: [{ secret: other }, { backupCodes: other }] },
    select: { id: true, secret: true, backupCodes: true },
    orderBy: { id: 'asc' },
    take: 100,
  });
}

/** Replaces the sealed parts, unless they changed since they were read. */
export async function resealFactor(
  db: WithModels,
  previous: SealedFactor,
  fresh: Omit<SealedFactor, 'id'>,
): Promise<void> {
  await db.models.secondFactor.updateMany({ where: { ...previous }, data: fresh });
}
