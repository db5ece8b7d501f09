/** How a turn ended, from the stop reason of ACP and what was told: an answer, an error, or nothing because it was cancelled. Pure. */
import { type Fields, type Told } from './narrator.ts';
import type { Quirks } from './presets.ts';

export type Verdict = { kind: 'complete'; result: string } | { kind: 'error'; error: string };

const notes: Readonly<Record<string, string>> = {
  max_tokens: 'The agent stopped here: the answer reached the limit of its length.',
  max_turn_requests: 'The agent stopped here: it reached the number of steps that a turn may take.',
};

/** `rejected`: the user said no to a permission in this turn. */
export function verdictOf(
  response: Fields,
  told: Told,
  { quirks = {}, rejected }: { quirks?: Quirks | undefined; rejected: boolean },
): Verdict {
  const reason = typeof response.stopReason === 'string' ? response.stopReason : '';
  const failed = told.failed || quirks.errorText?.test(told.answer);
  if (failed) return { kind: 'error', error: told.answer || 'The agent failed without saying why.' };
  switch (reason) {
    case 'end_turn':
      return spoken(told);
    case 'max_tokens':
    case 'max_turn_requests':
      return { kind: 'complete', result: [told.answer, notes[reason]].filter(Boolean).join('\n\n') };
    case 'refusal':
      return { kind: 'error', error: `The agent refused to go on.${told.answer ? `\n${told.answer}` : ''}` };
    case 'cancelled':
      if (rejected && quirks.rejectCancels) {
        return { kind: 'complete', result: told.answer || 'The agent stopped, because it was not allowed to go on.' };
      }
      return { kind: 'error', error: 'The turn was cancelled at the agent.' };
    default:
      // A reason that this daemon does not know yet: what was said still counts.
      return told.answer ? spoken(told) : { kind: 'error', error: `The agent ended with "${reason || 'no reason'}".` };
  }
}

function spoken({ answer, acted }: Told): Verdict {
  if (answer !== '') return { kind: 'complete', result: answer };
  if (acted) return { kind: 'complete', result: 'Done. The agent said nothing more.' };
  return { kind: 'error', error: 'The agent ended without an answer.' };
}
