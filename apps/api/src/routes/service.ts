/** Routes of the service itself: probes and documents. */
import { healthCapabilities, type systemRoutes } from '@relay/protocol';
import { asyncApiDocument, openApiDocument } from '@relay/protocol/documents';
import type { Operations } from '../deps.ts';
import type { Handlers } from '../http/pipeline.ts';

export function serviceHandlers(deps: Operations): Handlers<keyof typeof systemRoutes> {
  const { publicUrl } = deps.config;
  // Made on the first request: that is rare, and a start should not wait for it.
  let openapi: object | undefined;
  let asyncapi: object | undefined;
  return {
    health: () => ({ status: 200, body: { status: 'ok', version: deps.version, capabilities: healthCapabilities } }),
    ready: async () => {
      const { ready, body } = await deps.readiness.check();
      return { status: ready ? 200 : 503, body };
    },
    openapi: () => {
      openapi ??= openApiDocument({ baseUrl: publicUrl, version: deps.version });
      return { status: 200, body: openapi };
    },
    asyncapi: () => {
      asyncapi ??= asyncApiDocument({ wsUrl: publicUrl.replace(/^http/, 'ws'), version: deps.version });
      return { status: 200, body: asyncapi };
    },
  };
}
