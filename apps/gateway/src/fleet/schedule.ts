/** Work that repeats: each piece again after a pause that differs a little every time, so that instances do not act at the same second. */
import type { Logger } from '@relay/telemetry';

export interface Job {
  readonly name: string;
  /** Average pause from one run to the next. */
  readonly ms: number;
  /** The jitter of a pause, as a fraction of `ms`. */
  readonly jitter: number;
  /** Delay of the first run; `ms` unless given. */
  readonly firstMs?: number;
  /** A rejection is logged; the next run comes as planned. */
  readonly work: () => Promise<void>;
}

export class Schedule {
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #running = new Map<Job, { again: boolean; done: Promise<void> }>();
  readonly #logger: Logger;
  #stopped = false;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  add(job: Job): void {
    this.#plan(job, job.firstMs ?? job.ms);
  }

  /**
   * Runs the job now, in addition to its planned runs. Calls during a run are merged into one later run, because calls
   * can come faster than the job completes. Never rejects.
   */
  run(job: Job): Promise<void> {
    const current = this.#running.get(job);
    if (current) {
      current.again = true;
      return current.done;
    }
    const run = { again: true, done: Promise.resolve() };
    this.#running.set(job, run);
    run.done = this.#runWhileRequested(job, run).finally(() => this.#running.delete(job));
    return run.done;
  }

  /**
   * Stops all jobs. Resolves when the running jobs complete, or after `withinMs`: then they continue without logging
   * errors.
   */
  async stop(withinMs?: number): Promise<void> {
    this.#stopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      if (withinMs !== undefined) timer = setTimeout(resolve, withinMs);
    });
    await Promise.race([late, Promise.all([...this.#running.values()].map(({ done }) => done))]);
    clearTimeout(timer);
  }

  async #runWhileRequested({ name, work }: Job, run: { again: boolean }): Promise<void> {
    while (run.again && !this.#stopped) {
      run.again = false;
      await work().catch((error: unknown) => {
        // The database and Redis might be closed already.
        if (!this.#stopped) this.#logger.warn({ err: error, sweep: name }, 'a sweep failed');
      });
    }
  }

  #plan(job: Job, delayMs: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      void this.run(job).then(() => {
        if (!this.#stopped) this.#plan(job, job.ms * (1 - job.jitter + Math.random() * 2 * job.jitter));
      });
    }, delayMs);
    timer.unref();
    this.#timers.add(timer);
  }
}
