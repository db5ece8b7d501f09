/** The failures of `relay`, and its exit codes. */
import { Failure, type Terminal, unreachable as noAnswer } from '@relay/machine';

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

export const usage = (message: string) => new Failure('BAD_USAGE', message, exitCodes.usage);

/** No answer at all: DNS, network, TLS or time-out. */
export const unreachable = (url: string, error: unknown): Failure =>
  noAnswer(url, (error as { cause?: unknown }).cause ?? error, 'the address', exitCodes.temporary);

export const notARelay = (url: string, why: string) =>
  new Failure('NOT_A_RELAY', `${url} does not answer like a relay: ${why}. Check the address.`);

/** Reads all of standard input. @throws Failure BAD_USAGE if it exceeds the limit */
export async function readInput(terminal: Terminal, limitBytes: number): Promise<string> {
  const text = await terminal.readInput(limitBytes);
  if (text === undefined) throw usage(`Standard input is longer than ${limitBytes} bytes.`);
  return text;
}
