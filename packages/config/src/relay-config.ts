/** The type of the whole configuration, derived from the table: a new variable is a new field without another line. */
import type { Role, Variable } from './variable.ts';
import type { Timings } from './timings.ts';
import { variables } from './variables.ts';

type Capitals<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Capitalize<Lowercase<Head>>}${Capitals<Tail>}`
  : Capitalize<Lowercase<S>>;
type CamelCase<S extends string> = Uncapitalize<Capitals<S>>;
type ValueOf<V> = V extends Variable<infer T> ? T : never;

type Table = typeof variables;
export type VariableName = keyof Table;

/**
 * The whole configuration: the timings, and one field per variable of the table, `PING_INTERVAL_MS` as `pingIntervalMs`. The same fields for
 * every role, so that a piece can be handed the whole.
 */
export type RelayConfig = { readonly role: Role } & Timings & {
    readonly [Name in VariableName as CamelCase<Name>]: ValueOf<Table[Name]>;
  };

/** All names, in table order. */
export const variableNames = Object.keys(variables) as VariableName[];

/** The field of `RelayConfig` that holds the variable `name`. */
export function fieldOf(name: VariableName): string {
  return name.toLowerCase().replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
