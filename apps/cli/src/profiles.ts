/**
 * The sign-ins: one profile per relay in `credentials.json`, the newest sign-in last, which is the default. Holds
 * secrets, so none of it is ever printed as it is.
 */
import { Failure } from './failure.ts';
import { type Home, makePrivateFolder } from './home.ts';
import { withLock } from './lock.ts';
import { readOwnerFile, replaceOwnerFile } from './owner-file.ts';

export interface Profile {
  /** Base address of the relay, without a slash at the end. */
  url: string;
  /** For people: an e-mail address, else the user id. */
  account: string;
  accessToken: string;
  /** ISO 8601; absent when the token does not say. */
  expiresAt?: string;
  /** Present after a sign-in in the browser; a token that was handed over cannot be renewed. */
  renewal?: { clientId: string; refreshToken: string; tokenEndpoint: string; revocationEndpoint?: string };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
/** A line break would end the header it is sent in. */
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

/** All profiles, the default last. A file that cannot be understood is a Failure, never an empty list. */
export function readProfiles(home: Home): Profile[] {
  const text = readOwnerFile(home.credentialsFile);
  if (text === undefined) return [];
  try {
    const { relays } = fields(JSON.parse(text));
    if (Array.isArray(relays) && relays.every(isProfile)) return relays;
  } catch {
    // Falls through: the text of a parse error could show parts of a secret.
  }
  throw new Failure('CREDENTIALS_BROKEN', `${home.credentialsFile} is damaged. Remove it and run "relay login".`);
}

export const profileOf = (home: Home, url: string): Profile | undefined =>
  readProfiles(home).find((profile) => profile.url === url);

/** Runs `work` while no other process changes the profiles. */
export async function changingProfiles<T>(home: Home, work: () => Promise<T>): Promise<T> {
  makePrivateFolder(home.folder);
  return withLock(home.lockFile, work);
}

const write = (home: Home, relays: Profile[]) =>
  replaceOwnerFile(home.credentialsFile, `${JSON.stringify({ version: 1, relays }, null, 2)}\n`);

/** Adds a sign-in, which becomes the default, or replaces the one at the same relay. Call inside `changingProfiles`. */
export const putProfile = (home: Home, profile: Profile): void =>
  write(home, [...readProfiles(home).filter(({ url }) => url !== profile.url), profile]);

/** New tokens of a profile, which keeps its place. Call inside `changingProfiles`. */
export const renewProfile = (home: Home, profile: Profile): void =>
  write(
    home,
    readProfiles(home).map((known) => (known.url === profile.url ? profile : known)),
  );

/** Call inside `changingProfiles`. */
export const forgetProfile = (home: Home, url: string): void =>
  write(
    home,
    readProfiles(home).filter((profile) => profile.url !== url),
  );
