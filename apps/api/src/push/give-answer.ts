/** POST /api/answers (rules, 14.41): the answer that a notification offered, by the operation that the pages use. */
import { createHash } from 'node:crypto';
import { AuthError } from '@relay/auth';
import { findAnswerer, queuedUntil } from '@relay/database';
import { type GivenByToken, RelayError } from '@relay/protocol';
import type { Operations } from '../deps.ts';
import type { Accepted } from '../sessions/accept.ts';
import { answerPrompt } from '../sessions/answer-prompt.ts';
import type { AnswerClaims } from './answer-tokens.ts';

const revoked = () =>
  new AuthError('TOKEN_REVOKED', 'This browser is no longer signed in, or no longer notified. Open the session.');

/**
 * `claims`: of a valid token.
 * @throws AuthError TOKEN_REVOKED; RelayError INVALID_ANSWER, and the errors of `answerPrompt`
 */
export async function giveAnswer(
  deps: Operations,
  { sub: userId, sid: login, address, jti, session, prompt, digest, option }: AnswerClaims,
  text: string | undefined,
): Promise<Accepted<GivenByToken>> {
  const on = await findAnswerer(deps.database, { id: address, userId, login });
  if (on === undefined) throw revoked();
  if ((option === undefined) === (text === undefined))
    throw new RelayError(
      'INVALID_ANSWER',
      option === undefined ? 'In the body, "text" is required.' : 'This token has its answer; send no "text".',
    );
  // Another text is another answer: the question then reports the first one.
  const key = text === undefined ? jti : `${jti} ${createHash('sha256').update(text).digest('base64url')}`;
  const body = { ...(option === undefined ? { text } : { option }), digest };
  const accepted = await answerPrompt(deps, userId, { sessionId: session, uuid: prompt }, body, key, on);
  const { sessionId, promptId, taskId } = accepted.response;
  return { ...accepted, response: { sessionId, promptId, ...(await outcomeOf(deps, userId, sessionId, taskId)) } };
}

/** Whether the machine has the answer, or gets it now; else how long it waits. */
async function outcomeOf(
  { database, backplane }: Operations,
  userId: string,
  sessionId: string,
  taskId: string,
): Promise<Pick<GivenByToken, 'outcome' | 'queuedUntil'>> {
  const deviceId = sessionId.slice(0, sessionId.indexOf(':'));
  // The answer is committed: without the backplane it only waits for its machine.
  const isOwned = await backplane.owners([deviceId]).then(
    (owners) => owners.has(deviceId),
    () => false,
  );
  if (isOwned) return { outcome: 'sent' };
  const until = await queuedUntil(database, userId, taskId);
  return until === undefined ? { outcome: 'sent' } : { outcome: 'queued', queuedUntil: until };
}
