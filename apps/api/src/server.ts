/**
 * The users' door: REST, `/ws/attention` and `/acp`. `createApi` wires the rooms and keeps all state; two apis can live in one process.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { onPoke } from '@relay/backplane';
import { type NamedSession, type SessionPageQuery, findPlaces, gathered, listPages } from '@relay/database';
import { RelayError, decodeControl, upgradeRequired } from '@relay/protocol';
import express, { type NextFunction, type Request, type Response } from 'express';
import { createAcpDoor, isAcp } from './acp/door.ts';
import { createAttentionDoor } from './attention/door.ts';
import type { ApiDeps, Operations } from './deps.ts';
import { addressOf } from './http/address.ts';
import { createCallRoute } from './http/call-route.ts';
import { LateRefusals } from './http/late-refusals.ts';
import { allowOrigins } from './http/allow-origins.ts';
import { answerError, mountRoutes } from './http/pipeline.ts';
import { mountProtectedResource } from './http/protected-resource.ts';
import { createRateLimits, limitPublicDocuments } from './http/rate-limit.ts';
import { routeOf } from './http/route-of.ts';
import { traceRequests } from './http/trace.ts';
import { watchOutboxLag } from './notify/lag.ts';
import { healRevocations } from './identity/heal.ts';
import { logTransport, startOutbox } from './notify/outbox.ts';
import { openPush } from './push/push.ts';
import { publisherOf } from './publisher.ts';
import { acpTokenHandlers } from './routes/acp-tokens.ts';
import { deviceKeyHandlers } from './routes/device-keys.ts';
import { deviceHandlers } from './routes/devices.ts';
import { scheduleHandlers } from './routes/schedules.ts';
import { inboxHandlers } from './routes/inbox.ts';
import { peopleHandlers } from './routes/people.ts';
import { pushHandlers } from './routes/push.ts';
import { serviceHandlers } from './routes/service.ts';
import { contentHandlers, sessionHandlers } from './routes/sessions.ts';
import { mountMcp } from './mcp/door.ts';
import { createCommandSender } from './command-sender.ts';
import { mountDocs } from './docs.ts';
import { mountDownloads } from './downloads.ts';
import { mountWeb } from './web.ts';

export interface Api {
  /** Handles one HTTP request. */
  handler(request: IncomingMessage, response: ServerResponse): void;
  /** Takes over an upgrade to `/ws/attention` or `/acp/<deviceId>`: a socket, or an HTTP refusal. Never throws. */
  upgrade(request: IncomingMessage, duplex: Duplex, head: Buffer): void;
  /** Apps connected to this instance. */
  readonly size: number;
  /** Refuses new sockets and closes the live ones with 1001, spread over `overMs`. REST continues. */
  drain(overMs: number): Promise<void>;
  /** Closes the remaining connections and stops every timer. */
  close(): Promise<void>;
}

/** The delay before the next attempt, if reading the revocations failed. */
const healRetryMs = 5000;
const acceptableRequestId = /^[\w.:-]{1,64}$/;

export function createApi(deps: ApiDeps): Api {
  const { config, logger, backplane, metrics } = deps;
  const requests = metrics.counter('relay_http_requests_total', 'HTTP requests, by route and status', [
    'route',
    'method',
    'status',
  ]);
  const durations = metrics.histogram('relay_http_request_seconds', 'Time to answer, by route', ['route']);
  const publisher = publisherOf(deps);
  const commands = createCommandSender(backplane, logger, config.commandTimeoutMs);
  const findPlace = gathered((named: readonly NamedSession[]) => findPlaces(deps.database, named));
  const findPage = gathered((queries: readonly SessionPageQuery[]) => listPages(deps.database, queries));
  const operations: Operations = { ...deps, publisher, findPlace, findPage, sendCommand: commands.sendCommand };
  const late = new LateRefusals();
  const door = createAttentionDoor(deps, late);
  const doors: Pick<typeof door, 'control' | 'recheck' | 'drain' | 'close'>[] = [door];
  const push = openPush(deps);
  const transports = [...(deps.transports ?? [logTransport(logger)]), ...push.transports];
  const outbox = startOutbox({ database: deps.database, backplane, logger, pollMs: config.outboxPollMs, transports });
  const stopPokes = onPoke(backplane, 'outbox', () => outbox.wake(), config.leaseRefreshMs);
  const lag = watchOutboxLag({ database: deps.database, metrics, logger, pollMs: config.outboxPollMs });
  backplane.onControl((body) => {
    const control = decodeControl(body);
    if (control?.kind === 'user_revoked') revokeUser(control);
    if (control?.kind === 'device_closed') deps.deviceVerifier.forget(control.deviceId);
    for (const one of doors) if (control) one.control(control);
  });

  const revokeUser = ({ login, subject, client }: { login?: string; subject?: string; client?: string }) => {
    if (login !== undefined) deps.jwtVerifier.revoke({ sid: login });
    if (subject !== undefined) deps.jwtVerifier.revoke({ user: subject, ...(client === undefined ? {} : { client }) });
  };

  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('trust proxy', config.trustProxy ?? false);

  if (deps.tracer) app.use(traceRequests(deps.tracer));

  app.use((request: Request, response: Response, next: NextFunction) => {
    const given = request.get('X-Request-Id');
    response.setHeader('X-Request-Id', given !== undefined && acceptableRequestId.test(given) ? given : randomUUID());
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader('Cache-Control', 'no-store');
    const startedAt = process.hrtime.bigint();
    response.once('finish', () => {
      const route = routeOf(request, response);
      requests.inc({ route, method: request.method, status: String(response.statusCode) });
      durations.observe({ route }, Number(process.hrtime.bigint() - startedAt) / 1e9);
    });
    next();
  });
  app.use(allowOrigins(config));

  const rateLimits = createRateLimits(config, backplane, late);
  limitPublicDocuments(app, rateLimits);

  const { identity } = deps;
  for (const revocation of identity?.revoked ?? []) deps.jwtVerifier.revoke(revocation);
  const stopHealing =
    identity &&
    healRevocations({
      backplane,
      logger,
      everyMs: config.credentialRecheckMs,
      retryMs: healRetryMs,
      look: async () => {
        for (const revocation of await identity.revokedLately()) deps.jwtVerifier.revoke(revocation);
        for (const one of doors) one.recheck();
      },
    });
  identity?.mount(app);
  mountProtectedResource(app, config, identity?.issuer.issuer);
  const handlers = {
    ...serviceHandlers(operations),
    ...sessionHandlers(operations),
    ...contentHandlers(operations),
    ...deviceHandlers(operations),
    ...deviceKeyHandlers(operations),
    ...scheduleHandlers(operations),
    ...acpTokenHandlers(operations),
    ...peopleHandlers(operations),
    ...pushHandlers(operations, push),
    ...inboxHandlers(operations),
  };
  mountRoutes(app, handlers, { ...deps, answers: push.room?.answers }, rateLimits);
  const agents = mountMcp(app, operations, rateLimits);
  const acp = createAcpDoor(
    {
      ...deps,
      callRoute: createCallRoute(handlers, deps, rateLimits),
      // Uses Express's request, which applies TRUST_PROXY.
      addressOf: (request) => addressOf(Object.setPrototypeOf(request, app.request) as Request),
    },
    late,
  );
  doors.push(acp);
  if (deps.downloads) mountDownloads(app, { ...deps.downloads, publicUrl: config.publicUrl, version: deps.version });
  if (deps.docs && !mountDocs(app, { ...deps.docs, publicUrl: config.publicUrl }))
    logger.warn('the documents are not built, so /docs is not served: run "npm run build"');
  if (deps.web) mountWeb(app, { ...deps.web, publicUrl: config.publicUrl });
  app.use(['/ws', '/acp'], () => {
    throw upgradeRequired();
  });
  app.use(() => {
    throw new RelayError('NOT_FOUND');
  });
  // Express knows an error handler by its four parameters.
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) =>
    answerError(error, request, response, deps),
  );

  return {
    handler: (request, response) => void app(request, response),
    upgrade: (request, duplex, head) => (isAcp(request.url) ? acp : door).upgrade(request, duplex, head),
    get size() {
      return door.size + acp.guests.size;
    },
    drain: async (overMs) => {
      agents.drain();
      await Promise.all(doors.map((one) => one.drain(overMs)));
    },
    close: async () => {
      stopHealing?.();
      commands.stop();
      await Promise.all(doors.map((one) => one.close()));
      stopPokes();
      await outbox.stop();
      await push.stop();
      await lag.stop();
    },
  };
}
