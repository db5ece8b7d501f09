/** The parts of a row in the table of operations, and the encoder of calls. */

/** A time by `performance.now()`, which a script gets as Redis time. */
interface Deadline {
  readonly at: number;
}

/** The types of arguments and their caller-side types. Milliseconds are sent as integers of at least 1. */
interface Types {
  text: string;
  integer: number;
  milliseconds: number;
  deadline: Deadline;
}
export const text = 'text';
export const integer = 'integer';
export const milliseconds = 'milliseconds';
export const deadline = 'deadline';

interface Options {
  /** When the operation fails, the history of the user (`id`, whose length `lengths` begins with) is marked as incomplete. */
  readonly breaksChain?: true;
}

/** A row: arguments in order, a parser for the Lua result, the Lua. */
export const operation = <const Arguments extends Readonly<Record<string, keyof Types>>, Answer>(
  args: Arguments,
  answer: (value: unknown) => Answer,
  lua: string,
  options: Options = {},
) => ({ args, answer, lua: lua.trim(), ...options });

type Row<Arguments = object> = Options & { readonly args: Arguments; readonly lua: string };

export type Argument = string | number | Deadline;

/** The arguments of a row as its callers give them. */
export type ArgumentsOf<R extends Row> = {
  readonly [Key in keyof R['args']]: R['args'][Key] extends keyof Types ? Types[R['args'][Key]] : never;
};

/** Makes the encoder of a table: the name, then the arguments in their order; the first argument is at 1. */
export function createEncoder(
  table: Readonly<Record<string, Row<Readonly<Record<string, keyof Types>>>>>,
): (name: string, args: Readonly<Record<string, Argument>>) => Argument[] {
  const orders = new Map(
    Object.entries(table).map(([name, row]) => {
      const keys = Object.keys(row.args);
      return [name, { keys, types: keys.map((key) => row.args[key]!) }];
    }),
  );
  return (name, args) => {
    const { keys, types } = orders.get(name)!;
    const encoded: Argument[] = [name];
    // No iterator: this runs for every operation.
    for (let n = 0; n < keys.length; n++) {
      const value = args[keys[n]!]!;
      encoded.push(types[n] === 'milliseconds' ? Math.max(1, Math.ceil(value as number)) : value);
    }
    return encoded;
  };
}
