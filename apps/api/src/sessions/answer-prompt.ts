/**
 * POST /api/sessions/:id/prompts/:uuid/answer (rules, chapter 5): the first answer counts, and an answer never reaches another
 * question.
 */
import { type SessionRecord, findSession } from '@relay/database';
import type { AnswerPrompt, AnsweredPrompt } from '@relay/protocol';
import type { Operations } from '../deps.ts';
import { type Accepted, onceOnly } from './accept.ts';
import { type AgentTurn, refuseForGood } from './agent-turn.ts';
import { withSession } from './find.ts';
import { acceptFollowUp, isAboutSession, publishFollowUp } from './follow-up.ts';
import { judgeAnswer } from './judge-answer.ts';
import { requireOpenPrompt } from './open-prompt.ts';

/**
 * `on`: the program, or the address of the notification, that sent the answer. `agent`: an agent answers. Decided under the lock
 * of the device, by any api: "answered" and its task are one commit.
 * @throws RelayError SESSION_NOT_FOUND, PROMPT_NOT_FOUND, PROMPT_ALREADY_ANSWERED, PROMPT_SUPERSEDED, INVALID_ANSWER,
 * INVALID_REQUEST,
 *   PAYLOAD_TOO_LARGE, SESSION_NOT_RESOLVED, IDEMPOTENCY_CONFLICT, PERSON_MUST_ANSWER
 */
export async function answerPrompt(
  deps: Operations,
  userId: string,
  { sessionId, uuid }: { sessionId: string; uuid: string },
  body: AnswerPrompt,
  idempotencyKey: string | undefined,
  on?: string,
  agent?: AgentTurn,
): Promise<Accepted<AnsweredPrompt>> {
  let after: SessionRecord | undefined;
  const { accepted, deviceId } = await withSession(deps.database, userId, sessionId, async (tx, record) => {
    const idempotent = {
      userId,
      route: 'answerPrompt',
      key: idempotencyKey,
      request: [uuid, body.option, body.text, body.fields && JSON.stringify(body.fields), body.digest],
      status: 202,
      isAboutSame: isAboutSession((id) => findSession(tx, userId, id), record.key),
    } as const;
    const accept = async () => {
      const { prompt } = await requireOpenPrompt(tx, record, uuid, body.digest);
      const { content, answer } = judgeAnswer(prompt, body);
      if (agent && !agent.mayHoldForGood) refuseForGood(prompt, body);
      const followUp = { content, answers: { uuid, ...answer, on }, agent };
      const { sent, record: changed } = await acceptFollowUp(deps, tx, userId, record, followUp);
      after = changed;
      return { ...sent, promptId: uuid };
    };
    // A repeated request carries free text, but no labels and fields.
    const once = onceOnly(tx, idempotent, deps.config.idempotencyTtlSeconds, body.text, accept);
    return { accepted: await once, deviceId: record.session.deviceId };
  });
  await publishFollowUp(deps, userId, deviceId, accepted, after);
  const { key: _key, ...response } = accepted.response;
  return { response, replayed: accepted.replayed };
}
