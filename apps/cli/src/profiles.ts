/**
 * The sign-ins: one profile per relay in `credentials.json`. The newest sign-in comes last and is the default. The file holds secrets: never
 * print it.
 */
import { Failure, readOwnerFile, replaceOwnerFile } from '@relay/machine';
import { type Home, makeHome } from './home.ts';
import { withLock } from './lock.ts';

export interface Profile {
  /** Base address of the relay, without a trailing slash. */
  url: string;
  /** For display: an e-mail address, else the user id. */
  account: string;
  accessToken: string;
  /** ISO 8601; absent if the token has no expiry. */
  expiresAt?: string;
  /** Present after a sign-in in the browser; a pasted token cannot be renewed. */
  renewal?: { clientId: string; refreshToken: string; tokenEndpoint: string; revocationEndpoint?: string };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
/** A line break would terminate the header. */
const isToken = (value: unknown): value is string => isText(value) && /^[\x21-\x7e]+$/.test(value);
const fields = (value: unknown) =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

function isProfile(value: unknown): value is Profile {
  const { url, account, accessToken, expiresAt, renewal } = fields(value);
  const { clientId, refreshToken, tokenEndpoint } = fields(renewal);
  return (
    isText(url) &&
    isText(account) &&
    isToken(accessToken) &&
    (expiresAt === undefined || isText(expiresAt)) &&
    (renewal === undefined || (isText(clientId) && isToken(refreshToken) && isText(tokenEndpoint)))
  );
}

/** Returns all profiles, the default last. A malformed file is a Failure, never an empty list. */
export function readProfiles(home: Home): Profile[] {
  const text = readOwnerFile(home.credentialsFile, 'Remove it and sign in again.');
  if (text === undefined) return [];
  try {
    const { relays } = fields(JSON.parse(text));
    if (Array.isArray(relays) && relays.every(isProfile)) return relays;
  } catch {
    // Falls through: the text of a parse error could reveal parts of a secret.
  }
  throw new Failure('CREDENTIALS_BROKEN', `${home.credentialsFile} is damaged. Remove it and run "relay login".`);
}

export const profileOf = (home: Home, url: string): Profile | undefined =>
  readProfiles(home).find((profile) => profile.url === url);

/** Runs `work` exclusively among processes that change the profiles. */
export async function changingProfiles<T>(home: Home, work: () => Promise<T>): Promise<T> {
  makeHome(home);
  return withLock(home.lockFile, work);
}

const write = (home: Home, relays: Profile[]) =>
  replaceOwnerFile(home.credentialsFile, `${JSON.stringify({ version: 1, relays }, null, 2)}\n`);

/** Adds a sign-in as the default, or replaces the sign-in at the same relay. Call inside `changingProfiles`. */
export const putProfile = (home: Home, profile: Profile): void =>
  write(home, [...readProfiles(home).filter(({ url }) => url !== profile.url), profile]);

/** Stores new tokens of a profile, which keeps its place. Call inside `changingProfiles`. */
export const renewProfile = (home: Home, profile: Profile): void =>
  write(
    home,
    readProfiles(home).map((stored) => (stored.url === profile.url ? profile : stored)),
  );

/** Call inside `changingProfiles`. */
export const forgetProfile = (home: Home, url: string): void =>
  write(
    home,
    readProfiles(home).filter((profile) => profile.url !== url),
  );
