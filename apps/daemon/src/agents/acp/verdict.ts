/**
 * Derives the outcome of a turn from the stop reason of ACP and the updates: an answer, an error, or nothing because it
 * was cancelled. Pure.
 */
import { type Fields, type OwnText, ownText } from '@relay/daemon-kit';
import type { TurnSummary } from './narrator.ts';
import { sentenceIn } from './sentence.ts';
import type { Quirks } from './presets.ts';

/** `reason`: the text is a sentence of the daemon. */
type TurnVerdict = { kind: 'complete'; result: string; reason?: OwnText['reason'] } | { kind: 'error'; error: string };

const notes: Readonly<Record<string, string>> = {
  max_tokens: 'The agent stopped here: the answer reached the maximum length.',
  max_turn_requests: 'The agent stopped here: it reached the maximum number of steps of a turn.',
};

/** The agent wrote nothing, so the daemon does. */
function own(...about: Parameters<typeof ownText>): TurnVerdict {
  const { text, reason } = ownText(...about);
  return { kind: 'complete', result: text, reason };
}

interface Circumstances {
  quirks?: Quirks | undefined;
  /** The newest answer of the user in this turn was a no. */
  rejected: boolean;
  /** The message begins with a slash command that the agent did not announce. */
  unknownCommand?: string | undefined;
}

export function verdictOf(response: Fields, summary: TurnSummary, circumstances: Circumstances): TurnVerdict {
  const { quirks = {}, rejected } = circumstances;
  const reason = typeof response.stopReason === 'string' ? response.stopReason : '';
  const failed = summary.failed || quirks.errorText?.test(summary.answer);
  if (failed)
    return { kind: 'error', error: sentenceIn(summary.answer) || 'The agent failed without giving a reason.' };
  switch (reason) {
    case 'end_turn':
      return textVerdict(summary, circumstances);
    case 'max_tokens':
    case 'max_turn_requests':
      return { kind: 'complete', result: [summary.answer, notes[reason]].filter(Boolean).join('\n\n') };
    case 'refusal':
      return { kind: 'error', error: `The agent refused to continue.${summary.answer ? `\n${summary.answer}` : ''}` };
    case 'cancelled':
      // The person rejected the request: a refusal is not a failure.
      if (rejected) return summary.answer ? { kind: 'complete', result: summary.answer } : own('agent_not_allowed');
      return { kind: 'error', error: 'The turn was cancelled at the agent.' };
    default:
      // This daemon does not know the reason yet; the text still counts.
      return summary.answer
        ? textVerdict(summary, circumstances)
        : { kind: 'error', error: `The agent ended with "${reason || 'no reason'}".` };
  }
}

function textVerdict({ answer, acted }: TurnSummary, { quirks, rejected, unknownCommand }: Circumstances): TurnVerdict {
  if (answer !== '') return { kind: 'complete', result: answer };
  if (acted) return own('agent_done');
  if (rejected) return own('agent_not_allowed');
  if (unknownCommand !== undefined) return own('unknown_command', unknownCommand);
  if (quirks?.silentFailure) return { kind: 'error', error: ownText('agent_unanswered').text };
  return own('agent_silent');
}
