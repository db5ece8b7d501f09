/** A permission that is answered at the machine (`--ask-at-desk`): apps see that there is a question, and cannot answer it. */
import type { Question } from '@relay/daemon-kit';
import type { Asking } from './questions.ts';

/** Asks at the keyboard. Resolves with the typed words; undefined without a keyboard, or when `signal` aborted. */
export type AskAtDesk = (question: Question, signal: AbortSignal) => Promise<string | undefined>;

/** A question of several fields is asked field by field; one without a valid answer counts as declined. */
const maxRounds = 50;

/** Never rejects. Without an answer the request is declined. */
export async function answerAtDesk<R>(
  asking: Asking<R>,
  askAtDesk: AskAtDesk,
  signal: AbortSignal,
): Promise<{ response: R; rejected: boolean }> {
  for (let round = 0; round < maxRounds; round += 1) {
    const words = await askAtDesk(asking.question(''), signal).catch(() => undefined);
    if (signal.aborted) break;
    const reply = asking.reply(words ?? '');
    if (reply.kind === 'answer') return { response: reply.response, rejected: reply.rejected ?? false };
    if (reply.kind === 'decline') return { response: reply.response, rejected: true };
    if (words === undefined) break;
  }
  return { response: asking.cancelled, rejected: true };
}
