/** Failures that a person can act on: a stable code, a sentence with the next step, and an exit code. */

export class Failure extends Error {
  readonly code: string;
  readonly exitCode: number;
  /** Further error fields in machine-readable output, such as the relay's `status`. */
  readonly more: Readonly<Record<string, unknown>>;

  constructor(
    code: string,
    message: string,
    exitCode = 1,
    options: ErrorOptions & { more?: Record<string, unknown> } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Failure';
    this.code = code;
    this.exitCode = exitCode;
    this.more = options.more ?? {};
  }
}

// Checks the shape instead of `instanceof`: runtime errors can come from another realm.
const textOf = (error: unknown, field: 'message' | 'code'): string | undefined => {
  const value: unknown =
    typeof error === 'object' && error !== null ? (error as Record<string, unknown>)[field] : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/** Describes any thrown value in one line. */
export const reasonOf = (error: unknown): string => textOf(error, 'message') ?? String(error);

/** Returns the `code` of a Node system error, such as ENOENT. */
export const systemCode = (error: unknown): string | undefined => textOf(error, 'code');
