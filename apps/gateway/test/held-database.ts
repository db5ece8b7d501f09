/** A real database that can hold back one transaction before it begins, as a busy machine does. */
import type { Database } from '@relay/database';
import { openTestDatabase } from '@relay/testing';

export interface HeldDatabase extends Database {
  /** Holds the next transaction. `reached`: it waits; `release`: it begins. */
  holdNext(): { reached: Promise<void>; release: () => void };
}

export async function openHeldDatabase(): Promise<HeldDatabase> {
  const real = await openTestDatabase();
  let hold: { reached: () => void; until: Promise<void> } | undefined;
  const transaction: Database['sql']['transaction'] = async (...given) => {
    const held = hold;
    hold = undefined;
    held?.reached();
    await held?.until;
    return real.sql.transaction(...given);
  };
  const sql = new Proxy(real.sql, {
    get: (of, name) => {
      if (name === 'transaction') return transaction;
      const value = Reflect.get(of, name) as unknown;
      return typeof value === 'function' ? (value.bind(of) as unknown) : value;
    },
  });
  return {
    ...real,
    sql,
    holdNext: () => {
      let [reached, release] = [() => {}, () => {}];
      const reaching = new Promise<void>((resolve) => (reached = resolve));
      hold = { reached, until: new Promise<void>((resolve) => (release = resolve)) };
      return { reached: reaching, release };
    },
  };
}
