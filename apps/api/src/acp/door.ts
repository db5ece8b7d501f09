/** The door of ACP clients (rules, 18.9): `/acp/<deviceId>` leads to the agent of a device, over a WebSocket. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type Budget, createBudget } from '@relay/acp';
import { closedAmong, touchAcpTokens } from '@relay/database';
import { limits } from '@relay/protocol';
import { type Room, createRoom } from '../attention/room.ts';
import type { ApiDeps } from '../deps.ts';
import type { CallRoute } from '../http/call-route.ts';
import type { LateRefusals } from '../http/late-refusals.ts';
import { AcpConnection } from './connection.ts';
import { acpPath, authenticateAcp } from './upgrade.ts';

interface AcpDoorDeps extends ApiDeps {
  callRoute: CallRoute;
  /** The address of the client, for the audit. */
  addressOf(request: IncomingMessage): string;
}

export const isAcp = (url: string | undefined): boolean => (url ?? '').startsWith(acpPath);

export function createAcpDoor(deps: AcpDoorDeps, late: LateRefusals): Omit<Room<AcpConnection>, 'users'> {
  const { config, logger, backplane } = deps;
  const frameRate = { ratePerSecond: config.appFramesPerSecond, burst: 60 * config.appFramesPerSecond };
  /** Budgets by person. The door drops one with the last client of its person. */
  const budgets = new Map<string, { budget: Budget; clients: number }>();
  const budgetOf = (userId: string) => {
    const shared = budgets.get(userId) ?? { budget: createBudget(), clients: 0 };
    budgets.set(userId, shared);
    shared.clients += 1;
    const giveBack = () => {
      shared.clients -= 1;
      if (shared.clients === 0) budgets.delete(userId);
    };
    return { budget: shared.budget, giveBack };
  };
  const room = createRoom<AcpConnection>(deps, late, {
    name: 'acp',
    title: 'ACP client',
    limits: { maxFrameBytes: limits.acpFrameBytes, maxUnsentBytes: 1024 * 1024 },
    admit: async (request) => {
      const { principal, tokenId, device, cwd, queueSeconds, protocol } = await authenticateAcp(request, deps);
      const connectionId = randomUUID();
      const caller = { principal, address: deps.addressOf(request), requestId: connectionId };
      const guest = new AcpConnection({
        shareBudget: () => budgetOf(principal.userId),
        ...{ principal, tokenId, frameRate, expiryToleranceMs: config.expiryToleranceMs },
        relay: {
          ...{ backplane, userId: principal.userId, deviceId: device.deviceId, url: config.publicUrl },
          call: (name, input) => deps.callRoute(name, caller, input),
        },
        serving: {
          ...{ device, cwd, queueSeconds, isReadOnly: !principal.scopes.has('sessions:write') },
          folderHelp: 'Choose one in the client, or for all sessions with ?cwd= in the address.',
          log: (line) => logger.debug({ connectionId }, line),
        },
      });
      return { guest, protocol, headers: { 'Acp-Connection-Id': connectionId } };
    },
  });

  /** Marks the tokens of connected clients as used, and closes clients whose token is gone. */
  const look = async () => {
    const ids = [...room.guests].flatMap(({ tokenId }) => tokenId ?? []);
    if (ids.length === 0) return;
    const valid = await touchAcpTokens(deps.database, [...new Set(ids)]);
    const invalid = [...room.guests].filter(
      ({ tokenId }) => tokenId !== undefined && ids.includes(tokenId) && !valid.has(tokenId),
    );
    // The tokens of a device go with it, and its removal can be announced later.
    const closed = await closedAmong(deps.database, [...new Set(invalid.map(({ deviceId }) => deviceId))]);
    for (const guest of invalid)
      guest.close(closed.some(({ id, removed }) => removed && id === guest.deviceId) ? 'deviceDeleted' : 'credential');
  };
  const timer = setInterval(() => {
    look().catch((error: unknown) => logger.warn({ err: error }, 'tokens of ACP clients could not be looked at'));
  }, config.credentialRecheckMs);
  timer.unref();

  return {
    ...room,
    close: async () => {
      clearInterval(timer);
      await room.close();
    },
  };
}
