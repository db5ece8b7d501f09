/** Accounts of the built-in sign-in, and the programs that act for them. Its library writes most of these tables by itself. */
import { forgetHalfSignIns } from './second-factors.ts';
import type { Db, WithModels } from './transaction.ts';
import { newUlid } from './ulids.ts';

export interface FirstPartyClient {
  clientId: string;
  name: string;
  applicationType: 'web' | 'native';
  redirectUris: string[];
  postLogoutRedirectUris: string[];
  scopes: string[];
  /** True for the relay's own page: no consent is asked for. */
  skipConsent: boolean;
}

/** Saves the clients as given, replacing earlier values. Safe to run from any number of instances at once. */
export async function seedClients(db: WithModels, clients: readonly FirstPartyClient[]): Promise<void> {
  for (const client of clients) {
    const data = {
      ...client,
      disabled: false,
      tokenEndpointAuthMethod: 'none',
      grantTypes: ['authorization_code'],
      responseTypes: ['code'],
      requirePKCE: true,
      enableEndSession: true,
    };
    await db.models.oauthClient.upsert({
      where: { clientId: client.clientId },
      create: { ...data, id: newUlid(), createdAt: new Date(), updatedAt: new Date() },
      update: { ...data, updatedAt: new Date() },
    });
  }
}

/** Deletes the keys that sign access tokens: the next token creates a new one. */
export async function forgetSigningKeys(db: WithModels): Promise<void> {
  await db.models.signingKey.deleteMany();
}

/** Whether any account exists. */
export async function hasAccounts(db: WithModels): Promise<boolean> {
  return (await db.models.user.findFirst({ select: { id: true } })) !== null;
}

/** Removes an account without a credential: its creation failed half-way, so no one can sign in to it. */
export async function forgetUnfinishedAccount(db: WithModels, email: string): Promise<void> {
  await db.models.user.deleteMany({ where: { email, credentials: { none: {} } } });
}

/**
 * Deletes a refresh token that was written after the revocation of its source: its sign-in, its chain or (with `since`)
 * its program, if the revocation was recorded before the tokens were deleted; or the token that it replaces. Returns
 * true if it deleted the token; the caller must then not issue it.
 */
export async function forgetOrphan(
  db: WithModels,
  token: { id: string; sessionId: string | null; authorizationCodeId: string | null; userId: string; clientId: string },
  { replaces, since }: { replaces: string | undefined; since: Date },
): Promise<boolean> {
  const { id, sessionId, authorizationCodeId, userId: subject, clientId: client } = token;
  const login = { in: [sessionId, authorizationCodeId].filter((one) => one !== null) };
  const where = { OR: [{ login }, { subject, client, revokedAt: { gte: since } }] };
  const ended =
    (await db.models.revocation.findFirst({ where })) !== null ||
    (replaces !== undefined && (await db.models.oauthRefreshToken.findUnique({ where: { id: replaces } })) === null);
  if (ended) await db.models.oauthRefreshToken.deleteMany({ where: { id } });
  return ended;
}

/** Whether this refresh token was neither used nor taken back. */
export async function isTokenGood(db: WithModels, id: string): Promise<boolean> {
  const token = await db.models.oauthRefreshToken.findUnique({ where: { id }, select: { revoked: true } });
  return token?.revoked === null;
}

/** Deletes the refresh tokens that came from one code. */
export async function forgetChain(db: WithModels, chain: string): Promise<void> {
  await db.models.oauthRefreshToken.deleteMany({ where: { authorizationCodeId: chain } });
}

/** Deletes the refresh tokens that came from a sign-in; used before the sign-in itself is deleted. */
export async function forgetTokensOfLogin(db: WithModels, loginId: string): Promise<void> {
  await db.models.oauthRefreshToken.deleteMany({ where: { sessionId: loginId } });
}

const withoutLogin = (userId: string) => ({
  userId,
  OR: [{ sessionId: null }, { login: { expiresAt: { lte: new Date() } } }],
});

/** The programs that can still renew their access although the sign-in behind it has expired by age. */
export async function programsWithoutLogin(db: WithModels, userId: string): Promise<string[]> {
  const where = withoutLogin(userId);
  const rows = await db.models.oauthRefreshToken.findMany({
    where,
    distinct: ['clientId'],
    select: { clientId: true },
  });
  return rows.map(({ clientId }) => clientId);
}

/** Deletes the refresh tokens of `programsWithoutLogin`. */
export async function forgetTokensWithoutLogin(db: WithModels, userId: string): Promise<void> {
  await db.models.oauthRefreshToken.deleteMany({ where: withoutLogin(userId) });
  // The first statement missed tokens written while it ran. A token written from now on finds its predecessor deleted.
  await db.models.oauthRefreshToken.deleteMany({ where: withoutLogin(userId) });
}

export interface SignedInApplication {
  clientId: string;
  name: string;
  scopes: string[];
  /** When it was allowed or first signed in. */
  authorizedAt: string;
  /** When it last got a token, if it keeps any. */
  lastUsedAt: string | undefined;
  /** It can get new tokens without the person. */
  offline: boolean;
}

/** Programs that the person allowed, or that hold a refresh token that still works; by name. */
export async function listApplications(db: WithModels, userId: string): Promise<SignedInApplication[]> {
  const consents = await db.models.oauthConsent.findMany({ where: { userId }, include: { client: true } });
  const tokens = await db.models.oauthRefreshToken.findMany({
    where: { userId, revoked: null, expiresAt: { gt: new Date() } },
    include: { client: true },
    orderBy: { createdAt: 'asc' },
  });
  const found = new Map<string, SignedInApplication>();
  for (const { clientId, client, scopes, createdAt } of [...consents, ...tokens]) {
    const existing = found.get(clientId);
    const at = createdAt.toISOString();
    found.set(clientId, {
      clientId,
      name: client.name ?? clientId,
      scopes: [...new Set([...(existing?.scopes ?? []), ...scopes])],
      authorizedAt: existing && existing.authorizedAt < at ? existing.authorizedAt : at,
      lastUsedAt: existing?.lastUsedAt,
      offline: existing?.offline ?? false,
    });
  }
  for (const { clientId, createdAt } of tokens) {
    const application = found.get(clientId);
    if (application) Object.assign(application, { offline: true, lastUsedAt: createdAt.toISOString() });
  }
  return [...found.values()].sort((a, b) => a.name.localeCompare(b.name));
}

/** The name of a program, or its id if it is unnamed. */
export async function clientName(db: WithModels, clientId: string): Promise<string> {
  const client = await db.models.oauthClient.findUnique({ where: { clientId }, select: { name: true } });
  return client?.name ?? clientId;
}

/** Deletes the codes that a program of the person has not redeemed yet. Returns how many. */
async function forgetCodes(db: WithModels, userId: string, clientId: string): Promise<number> {
  const value = { startsWith: '{"type":"authorization_code"', contains: userId };
  const found = await db.models.verification.findMany({ where: { value, expiresAt: { gt: new Date() } } });
  const isOurs = (text: string) => {
    const code = JSON.parse(text) as { userId?: unknown; query?: { client_id?: unknown } };
    return code.userId === userId && code.query?.client_id === clientId;
  };
  const ids = found.filter((code) => isOurs(code.value)).map(({ id }) => id);
  return (await db.models.verification.deleteMany({ where: { id: { in: ids } } })).count;
}

/**
 * Revokes the access that the person gave a program, including unredeemed codes. False if the program had no access.
 */
export async function forgetApplication(db: WithModels, userId: string, clientId: string): Promise<boolean> {
  const codes = await forgetCodes(db, userId, clientId);
  const tokens = await db.models.oauthRefreshToken.deleteMany({ where: { userId, clientId } });
  await db.models.oauthAccessToken.deleteMany({ where: { userId, clientId } });
  const consents = await db.models.oauthConsent.deleteMany({ where: { userId, clientId } });
  await db.models.schedule.updateMany({
    where: { ownerId: userId, program: clientId, pausedFor: null },
    data: { pausedFor: 'program', nextAt: null },
  });
  // The first statement missed tokens written while it ran. A token written from now on finds its predecessor deleted.
  await db.models.oauthRefreshToken.deleteMany({ where: { userId, clientId } });
  return codes + tokens.count + consents.count > 0;
}

/** The sign-ins of the person, by id (`sid`). */
export async function listLogins(db: WithModels, userId: string): Promise<string[]> {
  const rows = await db.models.login.findMany({ where: { userId }, select: { id: true } });
  return rows.map(({ id }) => id);
}

export interface SignedInBrowser {
  id: string;
  createdAt: Date;
  /** To a day: the library writes it no more often. */
  lastUsedAt: Date;
  address?: string;
  userAgent?: string;
  isThis: boolean;
}

/** The browsers with a sign-in of this person, last used first; at most 100. `current`: the sign-in of the caller. */
export async function listBrowsers(db: WithModels, userId: string, current: string): Promise<SignedInBrowser[]> {
  const rows = await db.models.login.findMany({
    where: { userId, expiresAt: { gt: new Date() } },
    orderBy: { updatedAt: 'desc' },
    take: 100,
  });
  return rows.map(({ id, createdAt, updatedAt: lastUsedAt, ipAddress, userAgent }) => ({
    ...{ id, createdAt, lastUsedAt, isThis: id === current },
    ...(ipAddress ? { address: ipAddress } : {}),
    ...(userAgent ? { userAgent } : {}),
  }));
}

/**
 * The secret of a sign-in of this person, which the library needs to revoke it; undefined if the sign-in is missing.
 */
export async function loginToken(db: WithModels, userId: string, id: string): Promise<string | undefined> {
  return (await db.models.login.findFirst({ where: { id, userId }, select: { token: true } }))?.token;
}

/** The time of the last authentication of a sign-in (`sid`); undefined if the sign-in is deleted. */
export async function readSignInTime(db: WithModels, loginId: string): Promise<Date | undefined> {
  const login = await db.models.login.findUnique({
    where: { id: loginId },
    select: { createdAt: true, confirmedAt: true },
  });
  return login ? (login.confirmedAt ?? login.createdAt) : undefined;
}

/** Records that the password was confirmed in this browser. */
export async function confirmSignIn(db: WithModels, loginId: string): Promise<void> {
  await db.models.login.updateMany({ where: { id: loginId }, data: { confirmedAt: new Date() } });
}

/** Revokes every sign-in of the person, including those that wait for a code, and every renewable token. */
export async function forgetAllLogins(db: WithModels, userId: string): Promise<void> {
  await forgetHalfSignIns(db, userId);
  // The sign-ins first: a deleted one yields no new tokens.
  await db.models.login.deleteMany({ where: { userId } });
  await db.models.oauthRefreshToken.deleteMany({ where: { userId } });
  await db.models.oauthAccessToken.deleteMany({ where: { userId } });
  // The first statement missed tokens written while it ran. A token written from now on finds its predecessor deleted.
  await db.models.oauthRefreshToken.deleteMany({ where: { userId } });
}

const usedCode = (hash: string) => `used-code:${hash}`;

/** Saves whose tokens a code was exchanged for, under the hash of the code. */
export async function noteUsedCode(db: WithModels, hash: string, userId: string, forMs: number): Promise<void> {
  const data = { id: newUlid(), identifier: usedCode(hash), value: JSON.stringify({ subject: userId }) };
  await db.models.verification.create({ data: { ...data, expiresAt: new Date(Date.now() + forMs) } });
}

/** Loads and deletes the record of this code, and returns the person: a second call finds nothing. */
export async function takeUsedCode(db: WithModels, hash: string): Promise<string | undefined> {
  const where = { identifier: usedCode(hash), expiresAt: { gt: new Date() } };
  const found = await db.models.verification.findFirst({ where });
  if (!found) return undefined;
  await db.models.verification.deleteMany({ where });
  return (JSON.parse(found.value) as { subject: string }).subject;
}

export interface Person {
  id: string;
  email: string;
  name: string;
  createdAt: Date;
  /** When a browser last signed in; undefined without a signed-in browser. */
  lastSignInAt: Date | undefined;
  hasPassword: boolean;
  /** A sign-in takes a one-time code in addition to the password. */
  hasSecondFactor: boolean;
  /** When an operator disabled the sign-in of this person. */
  disabledAt: Date | undefined;
}

/** Everyone who has an account, oldest first; with `email` that person alone. */
export async function listPeople(db: WithModels, email?: string): Promise<Person[]> {
  const users = await db.models.user.findMany({
    where: email === undefined ? {} : { email: email.toLowerCase() },
    orderBy: { createdAt: 'asc' },
    include: {
      logins: { orderBy: { createdAt: 'desc' }, take: 1, select: { createdAt: true } },
      credentials: { where: { providerId: 'credential' }, select: { id: true } },
    },
  });
  return users.map(({ id, email: address, name, createdAt, disabledAt, twoFactorEnabled, logins, credentials }) => ({
    ...{ id, email: address, name, createdAt },
    lastSignInAt: logins[0]?.createdAt,
    hasPassword: credentials.length > 0,
    hasSecondFactor: twoFactorEnabled,
    disabledAt: disabledAt ?? undefined,
  }));
}

/** Whether the id belongs to an account, or to an owner of a device, such as a person of another issuer. */
export async function isPerson(db: Db, userId: string): Promise<boolean> {
  const rows = await db.sql.query`
    SELECT 1 WHERE EXISTS (SELECT 1 FROM users WHERE id = ${userId}) OR EXISTS (SELECT 1 FROM devices WHERE owner_id = ${userId})`;
  return rows.length > 0;
}

/** Disables or enables the sign-in of a person. Existing sign-ins continue. */
export async function setDisabled(db: WithModels, userId: string, disabled: boolean): Promise<void> {
  await db.models.user.update({ where: { id: userId }, data: { disabledAt: disabled ? new Date() : null } });
}

/** Whether the operator has disabled this account; false for a person of another issuer. */
export async function isDisabled(db: WithModels, userId: string): Promise<boolean> {
  return (await db.models.user.count({ where: { id: userId, disabledAt: { not: null } } })) > 0;
}

/** Replaces the password of a person; false if the person has no password. */
export async function replacePassword(db: WithModels, userId: string, hash: string): Promise<boolean> {
  const { count } = await db.models.credential.updateMany({
    where: { userId, providerId: 'credential' },
    data: { password: hash },
  });
  return count > 0;
}
