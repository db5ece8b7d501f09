/** Failures that a user can act on: a stable code, a sentence with the next step, and an exit code. */

/** Exit codes of `relay`. They are stable: scripts branch on them. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  notSignedIn: 3,
  notFound: 4,
  deviceOffline: 5,
  /** EX_TEMPFAIL of sysexits.h: the same command can succeed later. */
  temporary: 75,
  /** 128 + SIGINT: interrupted while waiting. */
  interrupted: 130,
} as const;

export class Failure extends Error {
  readonly code: string;
  readonly exitCode: number;
  /** Further error fields in machine-readable output, such as the relay's `status`. */
  readonly more: Readonly<Record<string, unknown>>;

  constructor(
    code: string,
    message: string,
    exitCode: number = exitCodes.failed,
    options: ErrorOptions & { more?: Record<string, unknown> } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Failure';
    this.code = code;
    this.exitCode = exitCode;
    this.more = options.more ?? {};
  }
}

export const usage = (message: string) => new Failure('BAD_USAGE', message, exitCodes.usage);

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

/** No answer at all: DNS, network, TLS or time-out. */
export function unreachable(url: string, error: unknown): Failure {
  const cause: unknown = (error as { cause?: unknown }).cause ?? error;
  const why = systemCode(cause) ?? reasonOf(cause);
  return new Failure(
    'UNREACHABLE',
    `Cannot reach ${url} (${why}). ${
      /SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)/.test(why)
        ? 'This machine does not trust its certificate. If its authority is your own, set NODE_EXTRA_CA_CERTS to a file with its certificate.'
        : 'Is the relay running, and is the address right?'
    }`,
    exitCodes.temporary,
    { cause: error },
  );
}

export const notARelay = (url: string, why: string) =>
  new Failure('NOT_A_RELAY', `${url} does not answer like a relay: ${why}. Check the address.`);
