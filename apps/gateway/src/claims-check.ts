/**
 * Whether this gateway can claim devices now. A Redis with full memory still answers reads but refuses writes: existing
 * connections stay, and no new peer can connect.
 */
import type { BackplaneInstance, Shared } from '@relay/backplane';

const keptMs = 10_000;

/** Readiness check: rejects if the backplane refuses writes. */
export const claimsCheck = (backplane: Pick<BackplaneInstance, 'instance'> & Pick<Shared, 'put'>) => async () => {
  const startedAt = performance.now();
  await backplane.put(`ready:${backplane.instance}`, '1', keptMs);
  return { ok: true, probeMs: performance.now() - startedAt };
};
