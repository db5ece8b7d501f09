/** Cursors of keyset paging: opaque to clients, `[time, id]` inside. */
import { RelayError } from '@relay/protocol';

export const encodeCursor = (at: string, id: string): string =>
  Buffer.from(JSON.stringify([at, id])).toString('base64url');

/** @throws RelayError INVALID_REQUEST for anything that `encodeCursor` did not make */
export function decodeCursor(cursor: string): { at: Date; id: string } {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (
      Array.isArray(value) &&
      value.length === 2 &&
      typeof value[0] === 'string' &&
      typeof value[1] === 'string' &&
      !value[1].includes('\0')
    ) {
      const at = new Date(value[0]);
      // A year that PostgreSQL writes in another way, or does not have, is not from one of our cursors.
      const isPlain = /^(?!0000)\d{4}-/.test(value[0]);
      if (isPlain && !Number.isNaN(at.getTime()) && at.toISOString() === value[0]) return { at, id: value[1] };
    }
  } catch {
    // Garbage is answered below like any other cursor that is not ours.
  }
  throw new RelayError('INVALID_REQUEST', '"cursor" is not one that this relay gave out. Start without it.');
}
