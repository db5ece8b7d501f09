/** The start of a session for a client: its ids, its folder, and the folder names on both machines. */
import { type Session, placeholderNativeId } from '@relay/protocol';
import type { Paths } from './paths.ts';

export interface Begin {
  /** The id that the client uses. It stays when the relay learns the native id. */
  id: string;
  /** Folder on the device. Empty: the default folder of the device. */
  cwd: string;
  paths: Paths;
  /** The session of the relay; absent before the first prompt. */
  session?: Session;
}

const ulid = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** Returns the pending id inside the id of a session that began here. The relay knows the session by it from the first prompt on. */
export function pendingIdOf(acpId: string): string | undefined {
  const rest = acpId.slice(placeholderNativeId('').length);
  return acpId === placeholderNativeId(rest) && ulid.test(rest) ? rest : undefined;
}
