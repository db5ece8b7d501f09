/** Passkeys of people (rules, 8.25). The library of the sign-in writes them, and reads the public keys. */
import type { WithModels } from './transaction.ts';

export interface Passkey {
  id: string;
  name: string;
  createdAt: string;
  lastUsedAt?: string;
  /** A password manager takes it to other devices of the person. */
  synced: boolean;
}

/** The oldest first. */
export async function listPasskeys(db: WithModels, userId: string): Promise<Passkey[]> {
  const rows = await db.models.passkey.findMany({ where: { userId }, orderBy: { createdAt: 'asc' }, take: 100 });
  return rows.map(({ id, name, createdAt, lastUsedAt, backedUp: synced }) => ({
    id,
    name: name ?? '',
    createdAt: createdAt.toISOString(),
    ...(lastUsedAt ? { lastUsedAt: lastUsedAt.toISOString() } : {}),
    synced,
  }));
}

export async function countPasskeys(db: WithModels, userId: string): Promise<number> {
  return db.models.passkey.count({ where: { userId } });
}

/** Removes one passkey of a person. */
export async function removePasskey(db: WithModels, userId: string, id: string): Promise<void> {
  await db.models.passkey.deleteMany({ where: { userId, id } });
}

/** Removes every passkey of a person; how many there were. */
export async function removePasskeys(db: WithModels, userId: string): Promise<number> {
  return (await db.models.passkey.deleteMany({ where: { userId } })).count;
}

/** The person of a passkey, by the id that its device gave it. PostgreSQL takes no U+0000, so no id has one. */
export async function findPasskeyOwner(db: WithModels, credentialID: string): Promise<string | undefined> {
  if (credentialID.includes('\u0000')) return undefined;
  return (await db.models.passkey.findUnique({ where: { credentialID }, select: { userId: true } }))?.userId;
}

export async function markPasskeyUsed(db: WithModels, credentialID: string): Promise<void> {
  await db.models.passkey.updateMany({ where: { credentialID }, data: { lastUsedAt: new Date() } });
}
