/**
 * One conversation at a live agent: its turn, its open questions, and the task to which both belong at the moment. Knows only the
 * process that it was given, and does not open or reopen anything.
 */
import { randomUUID } from 'node:crypto';
import type { CreateElicitationResponse, RequestPermissionResponse } from '@agentclientprotocol/sdk';
import { type Clock, type Turn, type TurnReport, firstLine, reasonOf, settledWithin } from '@relay/daemon-kit';
import { limits } from '@relay/protocol';
import type { Fields } from './content.ts';
import { type Narrator, createNarrator } from './narrator.ts';
import type { Quirks } from './presets.ts';
import type { AgentProcess } from './process.ts';
import { promptOf } from './prompt.ts';
import { type AskAtDesk, answerAtDesk } from './at-desk.ts';
import { askForm } from './form.ts';
import { askPermission } from './permission.ts';
import type { Asking } from './questions.ts';
import { verdictOf } from './verdict.ts';

export interface ConversationTimings {
  /** The time an agent has to end a cancelled turn before its process is ended. */
  cancelMs: number;
  /** How long a question waits for its answer. */
  questionMs: number;
}

interface ConversationOptions {
  sessionId: string;
  cwd: string;
  agent: AgentProcess;
  quirks: Quirks;
  clock: Clock;
  timings: ConversationTimings;
  /** Permissions are answered at this machine only (rules, 16.5). */
  askAtDesk?: AskAtDesk | undefined;
}

/** The input that begins a turn. */
type Said = Pick<Turn, 'taskId' | 'message' | 'images'>;

export interface Conversation {
  readonly sessionId: string;
  readonly agent: AgentProcess;
  readonly pid: number | undefined;
  update(sessionId: string, update: Fields): void;
  permission(request: Fields, signal: AbortSignal): Promise<RequestPermissionResponse>;
  form(request: Fields, signal: AbortSignal): Promise<CreateElicitationResponse>;
  /**
   * Words for a conversation that may have an open question. 'done': they answered it, and the task has had its end (or was
   * cancelled). 'free': they did not; nothing runs any longer, and they are the next message.
   */
  answer(
    said: Pick<Turn, 'taskId' | 'message' | 'answer'>,
    report: TurnReport,
    signal: AbortSignal,
  ): Promise<'done' | 'free'>;
  /** A turn, up to its end or its first question. */
  prompt(said: Said, report: TurnReport, signal: AbortSignal): Promise<void>;
  /** The question of this task will never be answered. */
  abandon(taskId: string): void;
  asking(): boolean;
  idle(): boolean;
  /** Its process lives and is not shutting down. */
  usable(): boolean;
  /** The listener is called whenever it becomes idle or busy. */
  onIdle(listener: (idle: boolean) => void): void;
  end(): Promise<void>;
  /** The process is gone. */
  lost(): void;
}

/** A turn at the agent. Its task changes: each answer brings a new one. */
interface ActiveTurn {
  taskId: string;
  report: TurnReport;
  narrator: Narrator;
  /** Its task runs, so questions can be asked. After a question this is false until the next words arrive. */
  attached: boolean;
  /** Ends of this turn are ignored: it was cancelled, or the user sent another message. */
  detached: boolean;
  /** Words wait for its end, which is still reported: it asks no further question. */
  overtaken: boolean;
  cancelling: boolean;
  /** The newest answer was a no. */
  rejected: boolean;
  /** Resolves the current task: it has had its end, or its question. */
  release: () => void;
  /** Settles when the turn has fully finished. */
  settled: Promise<void>;
}

interface OpenQuestion {
  asking: Asking<unknown>;
  resolve: (response: unknown) => void;
  /** The user has been asked, with the end of a task. */
  shown: boolean;
  /** Its name. A reworded question gets another one. */
  uuid: string;
  expires: string;
  forget: () => void;
}

/** The reply that an answer gives to a question: by the values of its fields, by the id of an option, else by its words. */
function replyOf(asking: Asking<unknown>, words: string, { option, fields }: Partial<NonNullable<Turn['answer']>>) {
  if (fields !== undefined) return asking.fill?.(fields);
  if (option === undefined) return asking.reply(words);
  if (asking.choose) return asking.choose(option);
  const label = (asking.question('').options ?? [])[Number(option) - 1];
  return label === undefined ? undefined : asking.reply(label);
}

const maxQuestions = 100;
/** Withdrawn, or left open by a turn or a process that has ended. */
const noLongerAsked = 'the agent no longer waits for an answer.';

export function createConversation(options: ConversationOptions): Conversation {
  const { sessionId, cwd, agent, quirks, clock, timings } = options;
  const questions: OpenQuestion[] = [];
  /** Permissions that are open at this machine. */
  const asked = new Set<AbortController>();
  let turn: ActiveTurn | undefined;
  let idleListener: (idle: boolean) => void = () => undefined;

  /** A call that a permission shows: some agents report it nowhere else. */
  const tell = (active: ActiveTurn, call: Fields) => {
    active.report.call?.(call);
    active.narrator.call(call);
  };
  const put = (question: OpenQuestion, response: unknown) => {
    const index = questions.indexOf(question);
    if (index < 0) return;
    questions.splice(index, 1);
    question.forget();
    question.resolve(response);
  };
  /** The task that ended with a question continues: all that follows is reported as its own. */
  const reattach = (active: ActiveTurn, why: string, uuid?: string) => {
    if (active.attached || active.detached) return;
    active.attached = true;
    active.report.withdrawn?.(why, uuid);
  };
  /** The agent continues without this answer. The next question, if there is one, replaces this one. */
  const takeBack = (question: OpenQuestion, why: string) => {
    const wasShown = question.shown;
    put(question, question.asking.cancelled);
    if (!turn) return;
    if (!wasShown || turn.attached) return turn.report.closed?.(question.uuid);
    reattach(turn, why, question.uuid);
    show(turn);
  };
  const dropQuestions = () => {
    for (const question of [...questions]) {
      put(question, question.asking.cancelled);
      turn?.report.closed?.(question.uuid);
    }
    for (const stop of asked) stop.abort();
  };

  const shownAs = ({ asking, uuid, expires }: OpenQuestion, why = '') => ({ ...asking.question(why), uuid, expires });

  /** Shows the oldest open question to the user, which ends the current task. Without a task it could not be shown. */
  const show = (active: ActiveTurn, again?: { why: string }) => {
    const [question] = questions;
    if (!question || !active.attached || active.detached) return;
    // A question never changes: a reworded one is another one.
    if (again) question.uuid = randomUUID();
    question.shown = true;
    active.attached = false;
    const said = active.narrator.said();
    active.report.wait({ ...shownAs(question, again?.why), said });
    active.release();
  };

  const ask = <R>(asking: Asking<R>, signal: AbortSignal, call?: Fields): Promise<R> => {
    const active = turn;
    if (!active || active.cancelling || questions.length >= maxQuestions) return Promise.resolve(asking.cancelled);
    if (active.detached || active.overtaken) {
      // The user has moved on; this turn only has to end.
      agent.notify('session/cancel', { sessionId });
      return Promise.resolve(asking.cancelled);
    }
    if (call) tell(active, call);
    return new Promise((resolve) => {
      const cancelWait = clock.after(timings.questionMs, () => takeBack(question, 'it was not answered in time.'));
      const withdrawn = () => takeBack(question, noLongerAsked);
      signal.addEventListener('abort', withdrawn, { once: true });
      const question: OpenQuestion = {
        asking: asking,
        resolve: (response) => resolve(response as R),
        shown: false,
        uuid: randomUUID(),
        expires: new Date(clock.now() + timings.questionMs).toISOString(),
        forget() {
          cancelWait();
          signal.removeEventListener('abort', withdrawn);
        },
      };
      questions.push(question);
      if (questions.length === 1) show(active);
      else active.report.further?.(shownAs(question));
    });
  };

  /** The question stays on this machine; the task continues, and apps see why nothing happens. */
  const askHere = async <R>(asking: Asking<R>, at: AskAtDesk, signal: AbortSignal, call: Fields): Promise<R> => {
    const active = turn;
    if (!active || active.detached) return asking.cancelled;
    tell(active, call);
    const about = firstLine(asking.question('').prompt, limits.titleCharacters);
    active.report.progress('Waiting for an answer at the machine', about);
    const stop = new AbortController();
    const cancelWait = clock.after(timings.questionMs, () => stop.abort());
    asked.add(stop);
    const { response, rejected } = await answerAtDesk(asking, at, AbortSignal.any([signal, stop.signal]));
    asked.delete(stop);
    cancelWait();
    active.rejected = rejected;
    return response;
  };

  /** Ends the turn at the agent; if it does not obey, ends the agent. */
  const cancelTurn = (active: ActiveTurn) => {
    if (active.cancelling) return;
    active.cancelling = true;
    active.detached = true;
    dropQuestions();
    agent.notify('session/cancel', { sessionId });
    void settledWithin(clock, timings.cancelMs, active.settled).then((obeyed) => {
      if (!obeyed) void agent.kill();
    });
  };

  /** Until the task of `active` has its end or its question; when the signal says so, until the turn is gone. */
  const follow = async (active: ActiveTurn, signal: AbortSignal, released: Promise<void>) => {
    const stop = () => cancelTurn(active);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    await released;
    signal.removeEventListener('abort', stop);
    if (active.cancelling) await active.settled;
  };

  const conclude = (active: ActiveTurn, response: Fields) => {
    if (active.detached) return;
    const verdict = verdictOf(response, active.narrator.told(), { quirks, rejected: active.rejected });
    if (verdict.kind === 'complete') active.report.complete(verdict.result);
    else active.report.error(verdict.error);
  };

  return {
    sessionId,
    agent,
    pid: agent.pid,
    update(id, update) {
      // Replays of an earlier conversation come while no turn runs.
      if (id !== sessionId || !turn) return;
      turn.report.update?.(update);
      turn.narrator.update(update);
    },
    permission: (request, signal) => {
      const { toolCall } = request;
      const call = typeof toolCall === 'object' && toolCall !== null ? (toolCall as Fields) : {};
      const asking = askPermission(request, cwd);
      return options.askAtDesk ? askHere(asking, options.askAtDesk, signal, call) : ask(asking, signal, call);
    },
    form: (request, signal) => ask(askForm(request), signal),

    async answer({ taskId, message: words, answer }, report, signal) {
      const active = turn;
      if (!active) return 'free';
      const question = answer ? questions.find(({ uuid }) => uuid === answer.question) : questions[0];
      const reply = question && replyOf(question.asking, words, answer ?? {});
      // A choice is for its question or for none.
      const isChoice = answer?.option !== undefined || answer?.fields !== undefined;
      if (isChoice && (!reply || active.detached)) return 'free';
      if (question && reply && (question.shown || answer) && !active.detached) {
        const released = new Promise<void>((resolve) => (active.release = resolve));
        Object.assign(active, { taskId, report, attached: true });
        if (reply.kind !== 'decline') {
          if (reply.kind === 'ask') {
            // A follow-up question takes the place of the answered one.
            questions.unshift(...questions.splice(questions.indexOf(question), 1));
            show(active, { why: reply.why ?? '' });
          } else {
            active.rejected = reply.rejected ?? false;
            put(question, reply.response);
            show(active);
          }
          await follow(active, signal, released);
          return 'done';
        }
        // Further work of the agent is shown, but the end belongs to the turn of these words.
        active.detached = true;
        put(question, reply.response);
      }
      // A turn that continues without its question ends as usual, and the words are next. A refused one does not end here.
      if (active.attached && !active.detached) active.overtaken = true;
      else active.detached = true;
      dropQuestions();
      const stop = () => cancelTurn(active);
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { once: true });
      await active.settled;
      signal.removeEventListener('abort', stop);
      return 'free';
    },

    async prompt({ taskId, message, images = [] }, report, signal) {
      idleListener(false);
      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => (release = resolve));
      const active: ActiveTurn = {
        taskId,
        report,
        narrator: createNarrator(
          {
            progress: (action, target) => active.report.progress(action, target),
            title: (title) => active.report.title?.(title),
            output: (text) => active.report.output(text),
          },
          cwd,
        ),
        attached: true,
        detached: false,
        overtaken: false,
        cancelling: false,
        rejected: false,
        release,
        settled: Promise.resolve(),
      };
      turn = active;
      const finish = async () => {
        try {
          const response = await agent.request('session/prompt', {
            sessionId,
            prompt: promptOf(message, images, await agent.ready),
          });
          reattach(active, noLongerAsked);
          conclude(active, response);
        } catch (error) {
          reattach(active, noLongerAsked);
          if (!active.detached) active.report.error(reasonOf(error));
        } finally {
          turn = undefined;
          dropQuestions();
          active.release();
          idleListener(true);
        }
      };
      active.settled = finish();
      await follow(active, signal, released);
    },

    abandon(taskId) {
      if (turn?.taskId === taskId) cancelTurn(turn);
    },
    asking: () => questions.some(({ shown }) => shown),
    idle: () => turn === undefined,
    usable: () => agent.usable(),
    onIdle(listener) {
      idleListener = listener;
      listener(turn === undefined);
    },
    end: () => agent.end(),
    lost: dropQuestions,
  };
}
