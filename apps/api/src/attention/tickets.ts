/** Single-use credentials for `/ws/attention?ticket=` (rules, 11.1): for clients that cannot send a header. */
import { createHash, randomBytes } from 'node:crypto';
import type { UserPrincipal } from '@relay/auth';
import type { ApiDeps } from '../deps.ts';

type Stored = Omit<UserPrincipal, 'scopes'> & {
  scopes: UserPrincipal['scopes'] extends ReadonlySet<infer S> ? S[] : never;
};

const keyOf = (ticket: string) => `ticket:${createHash('sha256').update(ticket).digest('base64url')}`;

/** A ticket stands for this principal, once, for 30 s. Only its hash is kept. `offset`: where the frames of the person are now. */
export async function createTicket(
  deps: Pick<ApiDeps, 'backplane' | 'config'>,
  principal: UserPrincipal,
): Promise<{ ticket: string; offset?: string }> {
  const ticket = randomBytes(32).toString('base64url');
  const stored: Stored = { ...principal, scopes: [...principal.scopes] };
  const [{ top }] = await Promise.all([
    deps.backplane.read(principal.userId),
    deps.backplane.put(keyOf(ticket), JSON.stringify(stored), deps.config.ticketTtlSeconds * 1000),
  ]);
  return { ticket, ...(top === '' ? {} : { offset: top }) };
}

/** Returns the user the ticket was issued to; undefined for a used, expired or unknown ticket. */
export async function redeemTicket(
  deps: Pick<ApiDeps, 'backplane'>,
  ticket: string,
): Promise<UserPrincipal | undefined> {
  const text = await deps.backplane.take(keyOf(ticket));
  if (text === undefined) return undefined;
  const stored = JSON.parse(text) as Stored;
  return { ...stored, scopes: new Set(stored.scopes) };
}
