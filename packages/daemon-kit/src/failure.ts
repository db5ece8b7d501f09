/** Failures that a person can act on: a stable code, a sentence with advice, an exit code. */

/** Exit codes of `relay-daemon`, after sysexits.h where it has one. 78 means: starting again will not help. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  notRunning: 3,
  usage: 64,
  badScript: 65,
  unavailable: 69,
  alreadyRegistered: 73,
  alreadyRunning: 75,
  denied: 77,
  config: 78,
} as const;

export class Failure extends Error {
  readonly code: string;
  readonly exitCode: number;

  constructor(code: string, message: string, exitCode: number = exitCodes.failed, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Failure';
    this.code = code;
    this.exitCode = exitCode;
  }
}

// Read by shape, not by `instanceof`: errors of the runtime can come from another realm.
const textOf = (error: unknown, field: 'message' | 'code'): string | undefined => {
  const value: unknown =
    typeof error === 'object' && error !== null ? (error as Record<string, unknown>)[field] : undefined;
  return typeof value === 'string' ? value : undefined;
};

/** Any thrown value as one line. */
export const reasonOf = (error: unknown): string => textOf(error, 'message') ?? String(error);

/** The `code` that Node puts on system errors, such as ENOENT. */
export const systemCode = (error: unknown): string | undefined => textOf(error, 'code');
