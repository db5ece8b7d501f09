/** Recent frames of apps stay in the backplane for minutes; deleted texts do not. */
import type { Operations } from '../deps.ts';

/** Apps that come back from before get `resync`. Never rejects: a backplane that is away forgets by itself. */
export async function forgetHistory(deps: Pick<Operations, 'backplane' | 'logger'>, userId: string): Promise<void> {
  await deps.backplane
    .forget(userId)
    .catch((error: unknown) =>
      deps.logger.warn({ err: error }, 'kept frames could not be deleted; they end by themselves'),
    );
}
