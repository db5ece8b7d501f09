/** Measures the duration and outcome of calls to a network dependency. Independent of the dependency. */
import type { Metrics } from './metrics.ts';

interface MeasuredOptions<T> {
  readonly metrics: Metrics;
  /** The name of the histogram, in seconds, with the labels `operation` (the method) and `outcome`. */
  readonly name: string;
  readonly help: string;
  /**
   * Methods whose result is a value from a small fixed set: it becomes the outcome. Other methods have the outcome
   * `ok`.
   */
  readonly outcomes?: readonly (keyof T & string)[];
  /** Called after every call. */
  readonly onCall?: ((operation: string, seconds: number, outcome: string, ok: boolean) => void) | undefined;
}

const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 10];
/** The form of codes. Other texts are unbounded, and every label value costs memory forever. */
const codeShape = /^[A-Z][A-Z_]{1,39}$/;

const isPromise = (value: unknown): value is Promise<unknown> => value instanceof Promise;

function failureOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && codeShape.test(code) ? code : 'error';
}

/**
 * Returns the same object, and counts its calls that return a promise in a histogram. The outcome of a call that rejects is the `code` of its
 * error, or `error`. Other calls are not measured.
 */
export function measured<T extends object>(target: T, options: MeasuredOptions<T>): T {
  const histogram = options.metrics.histogram(options.name, options.help, ['operation', 'outcome'], buckets);
  const outcomes: readonly string[] = options.outcomes ?? [];
  const wrappers = new WeakMap<object, unknown>();

  const measure = (operation: string, call: (...args: unknown[]) => unknown) =>
    function (...args: unknown[]): unknown {
      const startedAt = performance.now();
      const result = call.apply(target, args);
      if (!isPromise(result)) return result;
      const note = (outcome: string, ok: boolean) => {
        const seconds = (performance.now() - startedAt) / 1000;
        histogram.observe({ operation, outcome }, seconds);
        options.onCall?.(operation, seconds, outcome, ok);
      };
      return result.then(
        (value) => {
          note(outcomes.includes(operation) && typeof value === 'string' ? value : 'ok', true);
          return value;
        },
        (error: unknown) => {
          note(failureOf(error), false);
          throw error;
        },
      );
    };

  return new Proxy(target, {
    get(_, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof property !== 'string' || typeof value !== 'function') return value;
      // One function per method: each read returns the same function, and a replaced method gets a new one.
      let wrapped = wrappers.get(value);
      if (!wrapped) wrappers.set(value, (wrapped = measure(property, value as (...args: unknown[]) => unknown)));
      return wrapped;
    },
  });
}
