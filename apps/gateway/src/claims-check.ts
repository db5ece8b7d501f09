/**
 * Whether this gateway could claim a device now. A Redis whose memory is full answers everything but what is written: who is connected
 * stays, and no peer comes back.
 */
import type { BackplaneInstance, Shared } from '@relay/backplane';

const keptMs = 10_000;

/** For readiness: rejects when the backplane takes nothing. */
export const claimsCheck = (backplane: Pick<BackplaneInstance, 'instance'> & Pick<Shared, 'put'>) => async () => {
  const startedAt = performance.now();
  await backplane.put(`ready:${backplane.instance}`, '1', keptMs);
  return { ok: true, probeMs: performance.now() - startedAt };
};
