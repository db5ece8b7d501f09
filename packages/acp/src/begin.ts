/** How a client begins with a session: its ids, its folder, and the names of folders on both machines. */
import { type Session, placeholderNativeId } from '@relay/protocol';
import type { Paths } from './paths.ts';

export interface Begin {
  /** The id towards the client; stays when the relay learns another. */
  id: string;
  /** Folder on the device; empty: that of the device. */
  cwd: string;
  paths: Paths;
  /** The session of the relay; absent before the first prompt. */
  session?: Session;
}

const ulid = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** The part of the id of a session that began here, by which the relay knows it from its first prompt on. */
export function pendingIdOf(acpId: string): string | undefined {
  const rest = acpId.slice(placeholderNativeId('').length);
  return acpId === placeholderNativeId(rest) && ulid.test(rest) ? rest : undefined;
}
