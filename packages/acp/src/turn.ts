/** One call of `session/prompt`: the tasks of its turn, and its one response. */
import type { PromptResponse } from '@agentclientprotocol/sdk';
import { type Session, type Task, limits } from '@relay/protocol';
import { acpError } from './errors.ts';

/** Removes white space: live texts and results differ in it. */
export const squashed = (text: string) => text.replace(/\s+/g, '');

export class Turn {
  /** The running task, of the prompt or of a later answer. Undefined until the relay accepts the prompt. */
  taskId: string | undefined;
  isCancelled = false;
  /** The last compared state of the session, so that the relay is asked once per state. */
  seen = '';
  /** The turn is over, but its last texts are still being read. */
  isEnding = false;
  /** The newest agent texts sent to the client, without white space: at least as long as a result. */
  shown = '';
  /** Settled once. */
  readonly ended: Promise<PromptResponse>;
  readonly resolve: (response: PromptResponse) => void;
  readonly reject: (error: Error) => void;

  record(text: string): void {
    this.shown += squashed(text);
    if (this.shown.length > 2 * limits.messageBytes) this.shown = this.shown.slice(-limits.messageBytes);
  }

  constructor() {
    let settle: [(response: PromptResponse) => void, (error: Error) => void];
    this.ended = new Promise<PromptResponse>((...both) => (settle = both));
    [this.resolve, this.reject] = settle!;
    // The caller can be gone before the turn settles.
    this.ended.catch(() => undefined);
  }
}

type State = Task['state'];
const open: readonly State[] = ['queued', 'sent', 'running'];
const taken: readonly State[] = ['cancelled', 'expired'];

/**
 * Decides whether a turn continues, follows another task, or is over. Pure. A question settles its task as `waiting`; the turn continues with
 * the task of the answer, the newest task of the session.
 */
export function stepOf(
  { id, state }: { id: string; state: State },
  { status, lastTask }: Pick<Session, 'status' | 'lastTask'>,
): { kind: 'goes on' } | { kind: 'follow'; taskId: string } | { kind: 'ended'; state: State } {
  if (open.includes(state)) return { kind: 'goes on' };
  if (state !== 'waiting') return { kind: 'ended', state };
  const newer = lastTask?.id === id ? undefined : lastTask;
  const isOver = status === 'idle' || status === 'failed';
  // Neither a queued message of another app nor a withdrawn message is the answer.
  const isAnswer = newer !== undefined && newer.state !== 'queued' && (isOver || !taken.includes(newer.state));
  if (isAnswer) return { kind: 'follow', taskId: newer.id };
  return isOver ? { kind: 'ended', state: status === 'idle' ? 'completed' : 'failed' } : { kind: 'goes on' };
}

/** Returns the response of a settled turn, or its error. `resetsAt`: when the usage limit of its session resets. */
export function endOf(
  state: State,
  task: Pick<Task, 'error'> | undefined,
  wasCancelled: boolean,
  resetsAt?: string,
): PromptResponse | Error {
  if (state === 'completed') return { stopReason: 'end_turn' };
  if (state === 'cancelled' && !task?.error) return { stopReason: 'cancelled' };
  if (wasCancelled) return { stopReason: 'cancelled' };
  const { code, error } = task?.error ?? { code: state === 'unknown' ? 'DELIVERY_UNKNOWN' : 'AGENT_ERROR', error: '' };
  const limit = code === 'USAGE_LIMIT' && resetsAt !== undefined ? { resetsAt } : {};
  return acpError(error === '' ? `The turn ended as ${state}.` : error, { code, ...limit });
}
