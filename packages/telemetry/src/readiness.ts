/**
 * Whether this instance should get work (GET /ready). Checks its dependencies; never reports why a check fails, because
 * strangers read it.
 */
/** One dependency: the database, the backplane. A rejection counts as a failure too. */
export type ReadinessCheck = () => Promise<{ ok: boolean; probeMs: number }>;

export interface Readiness {
  readonly ready: boolean;
  readonly body: {
    readonly status: 'ok' | 'degraded' | 'unavailable' | 'draining';
    readonly checks: Readonly<Record<string, 'ok' | 'failed'>>;
    readonly schema?: 'newer';
  };
}

interface ReadinessOptions {
  readonly checks: Readonly<Record<string, ReadinessCheck>>;
  /**
   * Checks whose failure leaves the instance ready, as `degraded`: it does more without that dependency than an edge that has no
   * instance left.
   */
  readonly dispensable?: readonly string[];
  /** The database has migrations of a newer release. Included in every answer; does not affect readiness. */
  readonly schema?: 'newer' | undefined;
  /** A check that takes longer has failed. */
  readonly timeoutMs: number;
  /** Milliseconds. Default `performance.now`, which no one sets. */
  readonly clock?: () => number;
}

export interface ReadinessProbe {
  /**
   * All checks, at once. The answer is kept for a second and callers at the same time share one, so that a stranger who asks
   * a thousand times asks the database once. Never rejects.
   */
  check(): Promise<Readiness>;
  /** Not ready from now on, regardless of the checks. Irreversible. */
  drain(): void;
}

const keptMs = 1_000;

type Result = 'ok' | 'failed';

/** A caller that asks while `check` runs shares its answer, even when it hangs: otherwise hanging checks would pile up. */
function boundedCheck(check: ReadinessCheck, timeoutMs: number): () => Promise<Result> {
  let running: Promise<Result> | undefined;

  function start(): Promise<Result> {
    const result = (async () => check())().then(
      ({ ok }): Result => (ok ? 'ok' : 'failed'),
      (): Result => 'failed',
    );
    running = result.finally(() => (running = undefined));
    return running;
  }

  return async () => {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<Result>((resolve) => {
      timer = setTimeout(() => resolve('failed'), timeoutMs);
    });
    try {
      return await Promise.race([running ?? start(), timeout]);
    } finally {
      clearTimeout(timer);
    }
  };
}

export function createReadiness({
  checks,
  dispensable = [],
  schema,
  timeoutMs,
  clock = () => performance.now(),
}: ReadinessOptions): ReadinessProbe {
  const bounded = Object.entries(checks).map(([name, check]) => [name, boundedCheck(check, timeoutMs)] as const);
  let draining = false;
  let kept: { readonly results: Record<string, Result>; readonly until: number } | undefined;

  async function runAll(): Promise<Record<string, Result>> {
    const entries = await Promise.all(bounded.map(async ([name, check]) => [name, await check()] as const));
    const results = Object.fromEntries(entries);
    kept = { results, until: clock() + keptMs };
    return results;
  }

  return {
    async check() {
      const found = kept && clock() < kept.until ? kept.results : await runAll();
      const failed = Object.keys(found).filter((name) => found[name] === 'failed');
      const verdict =
        failed.length === 0 ? 'ok' : failed.every((name) => dispensable.includes(name)) ? 'degraded' : 'unavailable';
      // Read after the wait: an instance that starts to drain during it must not get more work.
      const status = draining ? 'draining' : verdict;
      return {
        ready: status === 'ok' || status === 'degraded',
        body: { status, checks: found, ...(schema && { schema }) },
      };
    },
    drain() {
      draining = true;
    },
  };
}
