/**
 * The answers that a notification offers (rules, 14.42): to reject, and, where its person chose so and the whole question is in view, to allow
 * once or to reply. Never anything that holds for longer than this question.
 */
import type { ClaimedDelivery } from '@relay/database';
import type { Prompt } from '@relay/protocol';
import type { AnswerClaims, AnswerTokens } from './answer-tokens.ts';
import { type OfferedAnswer, type PushMessage } from './message.ts';
import { notificationWords } from './words.ts';

const dayMs = 24 * 3600_000;
/** A token is not worth a button for less. */
const leastMs = 5000;

type Offer = Pick<OfferedAnswer, 'action'> & { option?: string };

function offersOf({ question, actions }: ClaimedDelivery, isWhole: boolean): Offer[] {
  if (question === undefined || actions === 'none') return [];
  const optionOf = (kind: string) => question.options.find((option) => option.kind === kind)?.id;
  const [allow, reject] = [optionOf('allow_once'), optionOf('reject_once') ?? refusalOf(question.options)];
  const mayAgree = actions === 'all' && isWhole;
  const takesWords = question.kind === 'text' || (question.text === true && question.kind !== 'permission');
  return [
    ...(mayAgree && allow !== undefined ? [{ action: 'allow', option: allow } as const] : []),
    ...(reject !== undefined ? [{ action: 'reject', option: reject } as const] : []),
    ...(mayAgree && takesWords && !question.fields ? [{ action: 'reply' } as const] : []),
  ].slice(0, 2);
}

/** Labels that refuse, as agents write them; lower case, without punctuation. */
const refusals =
  /^(?:no|reject|deny|refuse|decline|disallow|don't allow|do not allow|nein|ablehnen|verweigern|nicht erlauben)$/;

/** The option that refuses by its label, where a daemon sends no kinds and exactly one label refuses. */
function refusalOf(options: Prompt['options']): string | undefined {
  if (options.some(({ kind }) => kind !== undefined)) return undefined;
  const plain = (label: string) =>
    label
      .replaceAll('\u2019', "'")
      .replace(/[^\p{L}']+/gu, ' ')
      .trim()
      .toLowerCase();
  const found = options.filter(({ label }) => refusals.test(plain(label)));
  return found.length === 1 ? found[0]!.id : undefined;
}

/** The message with a token for each offered answer; unchanged if it offers no answers. Rejects if a key is unreadable. */
export async function withAnswers(
  message: PushMessage,
  delivery: ClaimedDelivery,
  tokens: AnswerTokens,
  now: number = Date.now(),
): Promise<PushMessage> {
  const { question, id, subscriptionId, userId, login, sessionId } = delivery;
  const offers = offersOf(delivery, message.isWhole === true);
  const ends = question?.expires === undefined ? Number.NaN : Date.parse(question.expires);
  const expiresAt = Math.min(now + dayMs, Number.isNaN(ends) ? Number.POSITIVE_INFINITY : ends);
  if (question === undefined || offers.length === 0 || expiresAt < now + leastMs) return message;
  const claims = offers.map(
    // A delivery that comes twice has the same answers: given twice, they are one.
    ({ action, option }): AnswerClaims => ({
      ...{ sub: userId, address: subscriptionId, jti: `${id}.${action}`, session: sessionId, prompt: question.id },
      ...(login === undefined ? {} : { sid: login }),
      ...(question.digest === undefined ? {} : { digest: question.digest }),
      ...(option === undefined ? {} : { option }),
    }),
  );
  const signed = await tokens.sign(claims, expiresAt);
  if (signed === undefined) return message;
  const titles = notificationWords[message.language].answers;
  const answers = offers.map(({ action }, index) => ({ action, title: titles[action], token: signed[index]! }));
  return { ...message, promptId: question.id, answers };
}
