/** Records actions at the sign-in in the name of a person (rules, 8.20). */
import { type NewAuditEntry, addAuditEntry } from '@relay/database';
import type { IdentityDeps } from './deps.ts';

/**
 * Our own header, which overwrites any value from a client: the library believes the leftmost X-Forwarded-For, which any client
 * can write.
 */
export const addressHeader = 'x-relay-client-address';
export const requestIdHeader = 'x-request-id';

interface RequestContext {
  headers?: Headers | undefined;
}

/** Never rejects: a failure to write is logged and changes nothing. `ctx`: of the request that caused it. */
export async function noteAction(
  { database, logger }: Pick<IdentityDeps, 'database' | 'logger'>,
  ctx: RequestContext | null | undefined,
  entry: Pick<NewAuditEntry, 'userId' | 'action'> & { outcome?: string; target?: string | undefined; program?: string },
): Promise<void> {
  const address = ctx?.headers?.get(addressHeader);
  const requestId = ctx?.headers?.get(requestIdHeader);
  const { target, outcome = 'done', ...rest } = entry;
  await addAuditEntry(database, {
    ...rest,
    outcome,
    ...(target === undefined ? {} : { target }),
    ...(address ? { address } : {}),
    ...(requestId ? { requestId } : {}),
  }).catch((error: unknown) =>
    logger.error({ err: error, action: entry.action }, 'an entry of the audit could not be written'),
  );
}
