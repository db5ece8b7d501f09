/**
 * Measures how long statements take, at the point where they are sent to the database: waiting for a connection counts, building
 * the statement does not.
 */
import type { PrismaPg } from '@prisma/adapter-pg';

/** `begin` is the wait for a connection, and BEGIN. `execute` changes rows, `query` reads them (or changes and returns them). */
export type StatementKind = 'query' | 'execute' | 'begin' | 'commit' | 'rollback';
export type OnStatement = (kind: StatementKind, seconds: number, ok: boolean) => void;

const kinds: Readonly<Record<string, StatementKind>> = {
  queryRaw: 'query',
  executeRaw: 'execute',
  startTransaction: 'begin',
  commit: 'commit',
  rollback: 'rollback',
};

function observed<T extends object>(target: T, onStatement: OnStatement): T {
  const timed =
    (kind: StatementKind, call: (...args: unknown[]) => Promise<unknown>) =>
    async (...args: unknown[]) => {
      const startedAt = performance.now();
      let ok = false;
      try {
        const result = await call.apply(target, args);
        ok = true;
        return kind === 'begin' ? observed(result as object, onStatement) : result;
      } finally {
        onStatement(kind, (performance.now() - startedAt) / 1000, ok);
      }
    };
  return new Proxy(target, {
    get(_, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== 'function') return value;
      const kind = typeof property === 'string' && Object.hasOwn(kinds, property) ? kinds[property] : undefined;
      const call = value as (...args: unknown[]) => Promise<unknown>;
      return kind ? timed(kind, call) : call.bind(target);
    },
  });
}

/** The same adapter; `onStatement` is called for every statement of its connections and must not throw. */
export function observedAdapter(factory: PrismaPg, onStatement: OnStatement): PrismaPg {
  return new Proxy(factory, {
    get(_, property) {
      const value: unknown = Reflect.get(factory, property, factory);
      if (property === 'connect') return async () => observed(await factory.connect(), onStatement);
      return typeof value === 'function' ? (value as () => unknown).bind(factory) : value;
    },
  });
}
