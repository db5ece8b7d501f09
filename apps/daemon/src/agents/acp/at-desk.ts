/** Permissions and forms that are answered at the machine (`--ask-at-desk`): apps see that there is a question, and cannot answer it. */
import { type Clock, type Fields, type Question, firstLine } from '@relay/daemon-kit';
import { limits } from '@relay/protocol';
import type { AgentQuestion } from './questions.ts';
import { type ActiveTurn, reportCall } from './turn.ts';

/** Asks at the keyboard. Resolves with the typed text; undefined without a keyboard, or when `signal` aborted. */
export type AskAtDesk = (question: Question, signal: AbortSignal) => Promise<string | undefined>;

/** A question of several fields is asked field by field; one without a valid answer counts as declined. */
const maxRounds = 50;

/** Never rejects. Without an answer the request is declined. */
async function answerAtDesk<R>(
  asking: AgentQuestion<R>,
  askAtDesk: AskAtDesk,
  signal: AbortSignal,
): Promise<{ response: R; rejected: boolean }> {
  let why = '';
  for (let round = 0; round < maxRounds; round += 1) {
    const words = await askAtDesk(asking.question(why), signal).catch(() => undefined);
    // An absent answer does not fill an optional field.
    if (signal.aborted || (words === undefined && asking.fill)) break;
    const reply = asking.reply(words ?? '');
    if (reply.kind === 'answer') return { response: reply.response, rejected: reply.rejected ?? false };
    if (reply.kind === 'decline') return { response: reply.response, rejected: true };
    if (words === undefined) break;
    why = reply.why ?? '';
  }
  return { response: asking.cancelled, rejected: true };
}

interface Surroundings {
  /** The turn that runs now. */
  turn: () => ActiveTurn | undefined;
  askAtDesk: AskAtDesk;
  clock: Clock;
  questionMs: number;
}

/** The questions of one conversation that are open at the machine. */
export function createDesk({ turn, askAtDesk, clock, questionMs }: Surroundings) {
  const open = new Set<AbortController>();
  return {
    /** The question stays on this machine; the task continues, and apps see why nothing happens. */
    async ask<R>(asking: AgentQuestion<R>, signal: AbortSignal, call?: Fields): Promise<R> {
      const active = turn();
      if (!active || active.detached) return asking.cancelled;
      if (call) reportCall(active, call);
      const about = firstLine(asking.question('').prompt, limits.titleCharacters);
      active.report.progress('Waiting for an answer at the machine', about);
      const stop = new AbortController();
      const cancelWait = clock.after(questionMs, () => stop.abort());
      open.add(stop);
      const { response, rejected } = await answerAtDesk(asking, askAtDesk, AbortSignal.any([signal, stop.signal]));
      open.delete(stop);
      cancelWait();
      active.rejected = rejected;
      if (call) active.report.answered?.({ call }, !rejected);
      return response;
    },
    asking: () => open.size > 0,
    drop() {
      for (const stop of open) stop.abort();
    },
  };
}
