/** A turn that an agent starts in the name of its person, how many can be open (rules, 19.6), and the answers that it cannot give (19.8, 19.9). */
import { type Db, type NamedPrompt, oneAtATime, openAgentTurns } from '@relay/database';
import { type AnswerPrompt, RelayError, agentLimits, choicesOf, isForPerson } from '@relay/protocol';

export interface AgentTurn {
  /** Its place in a chain of agents (rules, 19.6). */
  readonly depth: number;
  /** The sign-in of the agent. */
  readonly signIn: string;
  /** The token grants permanent answers. */
  readonly mayHoldForGood: boolean;
}

/**
 * Counts open turns in the transaction that writes one, so that concurrent turns count each other.
 * @throws RelayError TOO_MANY_AGENT_TURNS
 */
export async function requireFreeTurn(tx: Db, userId: string): Promise<void> {
  await oneAtATime(tx, 'agent_turns', userId);
  if ((await openAgentTurns(tx, userId)) < agentLimits.openTurns) return;
  throw new RelayError(
    'TOO_MANY_AGENT_TURNS',
    `${agentLimits.openTurns} turns that agents started are still open, which is the limit. Wait for one of them to end.`,
    { retryAfter: 30 },
  );
}

/** Labels of choices that hold beyond one question. Some agents name no kind, or a wrong one. */
const lasting =
  /\b(?:always|forever|permanent(?:ly)?|never ask|immer|dauerhaft)\b|\b(?:don['’]?t|do not|stop|without) ask|\b(?:auto|bypass|yolo)|\b(?:for|during|in) (?:this|the|my) (?:session|project|workspace|folder)|(?:diese|ganze)[rn]? sitzung|nicht (?:mehr|erneut|wieder) frag/i;

const isLasting = ({ kind, label }: { kind?: string | undefined; label: string }): boolean =>
  kind === 'allow_always' || (!kind?.startsWith('reject') && lasting.test(label.normalize('NFKC')));

/**
 * Refuses an answer that is for the person alone, and an answer that allows more than this one question unless the token grants that.
 * @throws RelayError PERSON_MUST_ANSWER
 */
export function refuseForAgent({ mayHoldForGood }: AgentTurn, prompt: NamedPrompt, given: AnswerPrompt): void {
  if (isForPerson(prompt, given)) throw new RelayError('PERSON_MUST_ANSWER');
  if (mayHoldForGood || !choicesOf(prompt, given).some(isLasting)) return;
  throw new RelayError(
    'PERSON_MUST_ANSWER',
    'This answer would hold for more than this question, so only the person can give it, in an app. Choose one that holds once.',
  );
}
