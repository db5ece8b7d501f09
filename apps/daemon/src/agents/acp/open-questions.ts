/**
 * The open questions of one conversation, oldest first. The user sees the oldest as the result of a task;
 * `further` reports the rest.
 */
import { randomUUID } from 'node:crypto';
import type { Clock, Fields } from '@relay/daemon-kit';
import type { AgentQuestion, QuestionReply } from './questions.ts';
import { type ActiveTurn, reattach, reportCall } from './turn.ts';

interface OpenQuestion {
  asking: AgentQuestion<unknown>;
  resolve: (response: unknown) => void;
  /** The user sees the question as the result of a task. */
  shown: boolean;
  /** Its name. A reworded question gets another one. */
  uuid: string;
  /** The call that it is about. */
  call: Fields | undefined;
  expires: string;
  forget: () => void;
}

interface Surroundings {
  /** The turn that runs now. */
  turn: () => ActiveTurn | undefined;
  /** Asks the agent to stop its turn. */
  requestEnd: () => void;
  clock: Clock;
  questionMs: number;
}

const maxQuestions = 100;
/** The question was withdrawn, or its turn or process is gone. */
export const questionGone = 'the agent no longer waits for an answer.';

export function createOpenQuestions({ turn, requestEnd, clock, questionMs }: Surroundings) {
  const questions: OpenQuestion[] = [];

  /** The agent gets its response. */
  const settle = (question: OpenQuestion, response: unknown) => {
    const index = questions.indexOf(question);
    if (index < 0) return;
    questions.splice(index, 1);
    question.forget();
    question.resolve(response);
  };

  /** The agent continues without this answer. The next question, if there is one, replaces this one. */
  const takeBack = (question: OpenQuestion, why: string) => {
    const wasShown = question.shown;
    settle(question, question.asking.cancelled);
    const active = turn();
    if (!active) return;
    if (!wasShown || active.attached) return active.report.closed?.(question.uuid);
    reattach(active, why, question.uuid);
    show(active);
  };

  const shownAs = ({ asking, uuid, expires }: OpenQuestion, why = '') => ({ ...asking.question(why), uuid, expires });

  /**
   * Shows the oldest open question to the user, which settles the current task. A question needs a task to be shown.
   */
  const show = (active: ActiveTurn, again?: { why: string }) => {
    const [question] = questions;
    if (!question || !active.attached || active.detached) return;
    // A question never changes: a reworded one is another one.
    if (again) {
      question.uuid = randomUUID();
      if (question.call) reportCall(active, question.call, question.uuid);
    }
    question.shown = true;
    active.attached = false;
    const textBefore = active.narrator.takeText();
    active.report.wait({ ...shownAs(question, again?.why), textBefore });
    active.release();
  };

  return {
    ask<R>(asking: AgentQuestion<R>, signal: AbortSignal, call?: Fields): Promise<R> {
      const active = turn();
      // The SDK can deliver a form after its cancellation, if the agent sent both at once.
      const isOver = !active || active.cancelling || signal.aborted;
      if (isOver || questions.length >= maxQuestions) return Promise.resolve(asking.cancelled);
      if (active.detached || active.overtaken) {
        // The user has moved on; this turn only has to stop.
        requestEnd();
        return Promise.resolve(asking.cancelled);
      }
      const uuid = randomUUID();
      if (call) reportCall(active, call, uuid);
      return new Promise((resolve) => {
        const cancelWait = clock.after(questionMs, () => takeBack(question, 'it was not answered in time.'));
        const withdrawn = () => takeBack(question, questionGone);
        signal.addEventListener('abort', withdrawn, { once: true });
        const question: OpenQuestion = {
          asking,
          resolve: (response) => resolve(response as R),
          shown: false,
          uuid,
          call,
          expires: new Date(clock.now() + questionMs).toISOString(),
          forget() {
            cancelWait();
            signal.removeEventListener('abort', withdrawn);
          },
        };
        questions.push(question);
        if (questions.length === 1) show(active);
        else active.report.further?.(shownAs(question));
      });
    },
    /** The one with this name; without a name the oldest. */
    named: (uuid: string | undefined) =>
      uuid === undefined ? questions[0] : questions.find((question) => question.uuid === uuid),
    /** Applies the user's message to the question, in the turn of its task. */
    apply(question: OpenQuestion, reply: QuestionReply<unknown>, active: ActiveTurn) {
      if (reply.kind === 'ask') {
        // A follow-up question takes the place of the answered one.
        questions.unshift(...questions.splice(questions.indexOf(question), 1));
        return show(active, { why: reply.why ?? '' });
      }
      if (question.call)
        active.report.answered?.({ question: question.uuid }, reply.kind === 'answer' && reply.rejected !== true);
      if (reply.kind === 'answer') active.rejected = reply.rejected ?? false;
      // The agent's further work is shown, but the result belongs to the turn of this message.
      else active.detached = true;
      settle(question, reply.response);
      show(active);
    },
    any: () => questions.length > 0,
    anyShown: () => questions.some(({ shown }) => shown),
    drop() {
      for (const question of [...questions]) {
        settle(question, question.asking.cancelled);
        turn()?.report.closed?.(question.uuid);
      }
    },
  };
}
