/** One call of `session/prompt`: the tasks of its turn, and its one answer. */
import type { PromptResponse } from '@agentclientprotocol/sdk';
import { type Session, type Task, limits } from '@relay/protocol';
import { acpError } from './errors.ts';

/** White space does not count: live texts and results differ in it. */
export const squashed = (text: string) => text.replace(/\s+/g, '');

export class Turn {
  /** The running task, of the prompt or of a later answer. Undefined until the relay accepted the prompt. */
  taskId: string | undefined;
  isCancelled = false;
  /** The last compared state of the session: the relay is asked once about each state. */
  seen = '';
  /** The turn is over; its last texts are being read. */
  isEnding = false;
  /** The newest texts of the agent that the client was sent, without white space: at least as long as a result. */
  said = '';
  /** Settled once. */
  readonly ended: Promise<PromptResponse>;
  readonly resolve: (response: PromptResponse) => void;
  readonly reject: (error: Error) => void;

  hear(text: string): void {
    this.said += squashed(text);
    if (this.said.length > 2 * limits.messageBytes) this.said = this.said.slice(-limits.messageBytes);
  }

  constructor() {
    let settle: [(response: PromptResponse) => void, (error: Error) => void];
    this.ended = new Promise<PromptResponse>((...both) => (settle = both));
    [this.resolve, this.reject] = settle!;
    // The call may be gone before its end is known.
    this.ended.catch(() => undefined);
  }
}

type State = Task['state'];
const open: readonly State[] = ['queued', 'sent', 'running'];
const taken: readonly State[] = ['cancelled', 'expired'];

/**
 * The task that a turn depends on, and whether it is the end: pure. A question settles its task as `waiting`; the turn goes on with the task of
 * the answer, which is the newest of the session.
 */
export function stepOf(
  { id, state }: { id: string; state: State },
  { status, lastTask }: Pick<Session, 'status' | 'lastTask'>,
): { kind: 'goes on' } | { kind: 'follow'; taskId: string } | { kind: 'ended'; state: State } {
  if (open.includes(state)) return { kind: 'goes on' };
  if (state !== 'waiting') return { kind: 'ended', state };
  const newer = lastTask?.id === id ? undefined : lastTask;
  const isOver = status === 'idle' || status === 'failed';
  // A message of another app that waits behind the question is not its answer, and neither is one that was taken back.
  const isAnswer = newer !== undefined && newer.state !== 'queued' && (isOver || !taken.includes(newer.state));
  if (isAnswer) return { kind: 'follow', taskId: newer.id };
  return isOver ? { kind: 'ended', state: status === 'idle' ? 'completed' : 'failed' } : { kind: 'goes on' };
}

/** The response of a turn that ended, or its error. */
export function endOf(
  state: State,
  task: Pick<Task, 'error'> | undefined,
  wasCancelled: boolean,
): PromptResponse | Error {
  if (state === 'completed') return { stopReason: 'end_turn' };
  if (state === 'cancelled' && !task?.error) return { stopReason: 'cancelled' };
  if (wasCancelled) return { stopReason: 'cancelled' };
  const { code, error } = task?.error ?? { code: state === 'unknown' ? 'DELIVERY_UNKNOWN' : 'AGENT_ERROR', error: '' };
  return acpError(error === '' ? `The turn ended as ${state}.` : error, { code });
}
