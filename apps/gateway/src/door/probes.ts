/** The probes of a gateway over plain HTTP, and its own readiness check: whether it lives and whether it should get work. Everything else is a WebSocket. */
import type { RequestListener, ServerResponse } from 'node:http';
import type { BackplaneInstance, Shared } from '@relay/backplane';
import { RelayError, healthCapabilities, upgradeRequired } from '@relay/protocol';
import type { ReadinessProbe } from '@relay/telemetry';

const answer = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  response.end(JSON.stringify(body));
};

/**
 * GET /health → 200 `{status, version, capabilities}`, independent of other failures. GET /ready → 200 or 503 `{status,
 * checks}`. Others: 404.
 */
export function createProbes(readiness: Pick<ReadinessProbe, 'check'>, version: string): RequestListener {
  return (request, response) => {
    const path = request.url?.split('?', 1)[0];
    if (path === '/health') answer(response, 200, { status: 'ok', version, capabilities: healthCapabilities });
    else if (path === '/ready')
      // It never rejects.
      void readiness.check().then(({ ready, body }) => answer(response, ready ? 200 : 503, body));
    else if (path?.startsWith('/ws/')) {
      const { status, body, headers } = upgradeRequired();
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      answer(response, status, body);
    } else {
      const { status, body } = new RelayError(
        'NOT_FOUND',
        'This gateway serves daemons at /ws/daemon only. REST is at the address of the api.',
      );
      answer(response, status, body);
    }
  };
}

const keptMs = 10_000;

/**
 * Readiness check: whether this gateway can claim devices now; rejects if the backplane refuses writes. A Redis with full memory still
 * answers reads but refuses writes: existing connections stay, and no new peer can connect.
 */
export const claimsCheck = (backplane: Pick<BackplaneInstance, 'instance'> & Pick<Shared, 'put'>) => async () => {
  const startedAt = performance.now();
  await backplane.put(`ready:${backplane.instance}`, '1', keptMs);
  return { ok: true, probeMs: performance.now() - startedAt };
};
