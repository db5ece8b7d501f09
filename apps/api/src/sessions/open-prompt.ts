/** The question that a request answers (rules, chapter 5). Read under the lock of the device, where its answer is decided. */
import { type Db, type PromptRecord, type SessionRecord, readPrompt } from '@relay/database';
import { RelayError } from '@relay/protocol';

/**
 * Finds an open question of the session. `digest`: of the version that the person saw, if the app sent it.
 * @throws RelayError PROMPT_NOT_FOUND, PROMPT_ALREADY_ANSWERED, PROMPT_SUPERSEDED
 */
export async function requireOpenPrompt(
  tx: Db,
  { key, session }: SessionRecord,
  uuid: string,
  digest: string | undefined,
): Promise<PromptRecord> {
  const found = uuid.includes('\0') ? undefined : await readPrompt(tx, key, uuid);
  if (!found) throw new RelayError('PROMPT_NOT_FOUND');
  if (found.answer) throw new RelayError('PROMPT_ALREADY_ANSWERED', { details: { answer: found.answer } });
  const isAnother = digest !== undefined && found.prompt.digest !== digest;
  if (found.state !== 'open' || isAnother)
    throw new RelayError('PROMPT_SUPERSEDED', { details: { prompts: session.prompts ?? [] } });
  return found;
}

/**
 * A message that names no question answers the oldest one, unless a permission is open and this relay wants it named.
 * @throws RelayError PROMPT_REFERENCE_REQUIRED
 */
export function refuseUnbound({ session }: SessionRecord, policy: 'off' | 'required'): void {
  const asksToAllow = session.prompts?.some(({ options }) => options.some(({ kind }) => kind?.startsWith('allow')));
  if (policy === 'required' && asksToAllow)
    throw new RelayError('PROMPT_REFERENCE_REQUIRED', { details: { prompts: session.prompts ?? [] } });
}
