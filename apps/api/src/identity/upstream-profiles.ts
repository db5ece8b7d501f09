/** A person's profile at another service: the permanent name and the displayed name. Every value of a service is bounded. */
import { isShowable } from '../devices/names.ts';

interface Tokens {
  accessToken?: string | undefined;
  idToken?: string | undefined;
}

export interface UpstreamProfile {
  /** A permanent name; the person keeps it even if their e-mail address or other fields change. */
  subject: string;
  user: { name: string; email: string | null; emailVerified: boolean };
}

const maxNameLength = 200;
const maxEmailLength = 254;
const maxSubjectLength = 255;

const text = (value: unknown, maxLength: number): string | undefined =>
  typeof value === 'string' && value.trim() !== '' && !/[\u0000-\u001f\u007f]/.test(value)
    ? value.slice(0, maxLength)
    : undefined;

function emailOf(value: unknown): string | null {
  const isAddress =
    typeof value === 'string' && value.length <= maxEmailLength && /^[^\s@\u0000-\u001f]+@[^\s@]+$/.test(value);
  return isAddress ? value : null;
}

const userOf = (names: readonly unknown[], email: unknown, verified: unknown): UpstreamProfile['user'] => {
  const address = emailOf(email);
  const shown = [...names, address].map((value) => text(value, maxNameLength));
  const name = shown.find((value) => value !== undefined && isShowable(value));
  return { name: name ?? '', email: address, emailVerified: verified === true };
};

function claimsOf(idToken: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString('utf8')) as Record<string, unknown>;
}

/** The provider issued the token to this client (OpenID Connect Core, 3.1.3.7): a token of several audiences names it in `azp`. */
function isFor(clientId: string, { aud, azp }: Record<string, unknown>): boolean {
  const audiences = [aud].flat();
  if (!audiences.includes(clientId)) return false;
  return azp === undefined ? audiences.length === 1 : azp === clientId;
}

/**
 * Reads a profile from a verified ID token and the service's userinfo; null if the token is missing, was issued to another
 * client, or the two describe different people (OpenID Connect Core, 5.3.2).
 */
export function openIdProfile(tokens: Tokens, userInfo: object, clientId: string): UpstreamProfile | null {
  if (tokens.idToken === undefined) return null;
  const claims = claimsOf(tokens.idToken);
  const info = userInfo as Record<string, unknown>;
  const { sub } = claims;
  if (!isFor(clientId, claims)) return null;
  if (typeof sub !== 'string' || sub === '' || sub.length > maxSubjectLength || info['sub'] !== sub) return null;
  const names = [info['name'], claims['name'], info['preferred_username'], info['nickname']];
  return { subject: sub, user: userOf(names, info['email'], info['email_verified']) };
}

async function ask(address: string, accessToken: string, timeoutMs: number): Promise<unknown> {
  const headers = {
    Authorization: `Bearer ${accessToken}`,
    Accept: 'application/vnd.github+json',
    'User-Agent': 'relay',
  };
  const answer = await fetch(address, { headers, redirect: 'error', signal: AbortSignal.timeout(timeoutMs) });
  if (!answer.ok) throw new Error(`${address} answers with status ${answer.status}`);
  return answer.json();
}

/** Returns the GitHub user of this token with their primary address; null if GitHub does not reveal it. Never rejects. */
export async function githubProfile(api: string, tokens: Tokens, timeoutMs: number): Promise<UpstreamProfile | null> {
  const { accessToken } = tokens;
  if (accessToken === undefined) return null;
  try {
    const [user, emails] = (await Promise.all([
      ask(`${api}/user`, accessToken, timeoutMs),
      ask(`${api}/user/emails`, accessToken, timeoutMs),
    ])) as [Record<string, unknown>, Record<string, unknown>[]];
    if (!Number.isSafeInteger(user['id'])) return null;
    const primary = emails.find((entry) => entry['primary'] === true);
    return {
      subject: String(user['id']),
      user: userOf([user['name'], user['login']], primary?.['email'], primary?.['verified']),
    };
  } catch {
    return null;
  }
}
