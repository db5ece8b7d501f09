/** Revokes tokens of ACP clients: every instance refuses them and closes their connections, as for a revoked sign-in. */
import type { Backplane } from '@relay/backplane';
import { type Database, revokeAllAcpTokens } from '@relay/database';
import type { Logger } from '@relay/telemetry';

interface Deps {
  database: Database;
  backplane: Backplane;
  logger: Logger;
}

/** A token used as a sign-in: the `sessionId` of its principal. */
export const acpLogin = (tokenId: string): string => `acp-token:${tokenId}`;

/** Never rejects. A connection that misses the message is closed when its token is checked next. */
export async function announceAcpTokens({ backplane, logger }: Deps, ids: readonly string[]): Promise<void> {
  const controls = ids.map((id) => JSON.stringify({ v: 1, kind: 'user_revoked', login: acpLogin(id) }));
  await Promise.all(controls.map((control) => backplane.publishControl(control))).catch((error: unknown) =>
    logger.warn({ err: error }, 'the end of a token could not be announced; it is noticed within minutes'),
  );
}

/** Revokes every token of the person. */
export async function endAcpTokens(deps: Deps, userId: string): Promise<void> {
  await announceAcpTokens(deps, await revokeAllAcpTokens(deps.database, userId));
}
