/** Decides whether to reconnect after a connection failed or closed (rules, 13.1). Pure: maps an error to a verdict. */
import { closeCodes } from '@relay/protocol/plain';
import { BadAnswerError, ClosedError, RelayError, SignedOutError } from './errors.ts';

/** `renew`: reconnect with a new token. `end`: reconnecting cannot help. */
export function verdictOf(error: Error): 'retry' | 'renew' | 'end' {
  if (error instanceof SignedOutError) return 'end';
  if (error instanceof ClosedError) {
    if (error.closeCode === closeCodes.credential.code) return 'renew';
    const known = Object.values(closeCodes).find(({ code }) => code === error.closeCode);
    return known && !known.comeBack ? 'end' : 'retry';
  }
  if (!(error instanceof RelayError || error instanceof BadAnswerError)) return 'retry';
  if (error.status === 401) return 'renew';
  return error.status === 408 || error.status === 429 || error.status >= 500 ? 'retry' : 'end';
}

/** The relay asked to back off: the waits continue to grow as if the connection had never been live. */
export const asksToBackOff = (error: Error): boolean =>
  error instanceof ClosedError &&
  (error.closeCode === closeCodes.overloaded.code || error.closeCode === closeCodes.tooMany.code);
