/** The type of a variable of the environment, of any kind. Contains no names of variables. */
/** The program that reads the configuration: one process with everything (`standalone`), `api`, or `gateway`. */
export type Role = 'standalone' | 'api' | 'gateway';

export const allRoles: readonly Role[] = ['standalone', 'api', 'gateway'];

export type Kind = 'int' | 'share' | 'port' | 'url' | 'enum' | 'bool' | 'list' | 'json' | 'string' | 'path' | 'secret';

/** The result of parsing one text: a value, or the completion of the sentence "it must be …". */
export type Parsed<T> = { readonly value: T } | { readonly expected: string };

/** The values that a default can depend on: the role, the host name, and the variables earlier in the table. */
interface DefaultContext {
  readonly role: Role;
  readonly hostName: string;
  /** Value of an earlier variable. Throws a TypeError for a later one: the table has to be reordered then. */
  readonly earlier: <T>(variable: string) => T;
}

/** A default that depends on the context; the documentation prints `text`. */
export interface DerivedDefault<T> {
  readonly text: string;
  readonly from: (context: DefaultContext) => T;
}

export interface Variable<T> {
  readonly kind: Kind;
  /** Describes a valid value; completes the sentence "it must be …". */
  readonly accepts: string;
  readonly unit: string | undefined;
  /** True: the value never appears in an error, a log or the documentation. */
  readonly secret: boolean;
  readonly group: string;
  readonly meaning: string;
  readonly readBy: readonly Role[];
  readonly default: DerivedDefault<T>;
  /** `text` is trimmed and not empty. Never throws. */
  readonly parse: (text: string) => Parsed<T>;
}

/** A row of the table, for a variable of any kind. Has at most one of the three kinds of default. */
export interface Facts<T> {
  readonly meaning: string;
  readonly default?: T;
  readonly perRole?: Readonly<Record<Role, T>>;
  readonly derived?: DerivedDefault<T>;
  /** Absent: every role reads it. */
  readonly readBy?: readonly Role[];
}
