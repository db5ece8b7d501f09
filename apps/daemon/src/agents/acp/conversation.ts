/**
 * One conversation at a live agent: its turn, its open questions, and the task they currently belong to. Knows only the
 * process it was given, and never opens or reopens anything.
 */
import type { CreateElicitationResponse, RequestPermissionResponse } from '@agentclientprotocol/sdk';
import {
  type Clock,
  type Fields,
  type Log,
  type ReachedLimit,
  type Steer,
  type Steered,
  type Turn,
  type TurnReport,
  recordOf,
  settledWithin,
  wordsEnd,
} from '@relay/daemon-kit';
import { reasonOf } from '@relay/machine';
import type { Quirks } from './presets.ts';
import type { AgentProcess } from './process.ts';
import { promptOf } from './prompt.ts';
import { type AskAtDesk, createDesk } from './at-desk.ts';
import { askForm } from './form.ts';
import { askPermission, withoutDanger } from './permission.ts';
import { createOpenQuestions, questionGone } from './open-questions.ts';
import { replyOf } from './questions.ts';
import { type OwnTurn, createOwnTurn } from './own-turn.ts';
import { createSteering } from './steering.ts';
import { type ActiveTurn, beginTurn, conclude, reattach, released } from './turn.ts';

export interface ConversationTimings {
  /** The time an agent has to stop a cancelled turn before its process is killed. */
  cancelMs: number;
  /** How long a question waits for its answer. */
  questionMs: number;
  /** The silence that completes a turn which the agent began itself. */
  quietMs: number;
  /** The time an agent has to take a message into its turn. */
  steerMs: number;
  /** The silence that completes a turn with an injected message. */
  steeredQuietMs: number;
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
  noFullAccess?: boolean | undefined;
  /** The agent begins a turn itself. */
  ownTurn: (sessionId: string) => TurnReport;
  /** As in the notes. */
  unknownCommand: (sessionId: string, message: string) => string | undefined;
  /** The usage limit that a failure of the agent reports. */
  limitOf?: ((error: unknown) => ReachedLimit | undefined) | undefined;
  /** As in `createSteering`. */
  wasRead?: ((sessionId: string, message: string) => boolean | undefined) | undefined;
  log: Pick<Log, 'info'>;
}

/** The input that begins a turn. */
type PromptInput = Pick<Turn, 'taskId' | 'message' | 'images' | 'files'>;

export interface Conversation {
  readonly sessionId: string;
  readonly agent: AgentProcess;
  readonly pid: number | undefined;
  update(sessionId: string, update: Fields): void;
  permission(request: Fields, signal: AbortSignal): Promise<RequestPermissionResponse>;
  form(request: Fields, signal: AbortSignal): Promise<CreateElicitationResponse>;
  /**
   * A message for a conversation that can have an open question. 'done': it answered the question, and the task has
   * settled (or was cancelled). 'free': it did not answer; nothing runs any longer, and it is the next message.
   */
  answer(
    input: Pick<Turn, 'taskId' | 'message' | 'answer'>,
    report: TurnReport,
    signal: AbortSignal,
  ): Promise<'done' | 'free'>;
  /** Runs a turn until it completes or asks its first question. */
  prompt(input: PromptInput, report: TurnReport, signal: AbortSignal): Promise<void>;
  /** A message into the turn of its task. */
  steer(message: Steer, injected: () => void): Promise<Steered>;
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

export function createConversation(options: ConversationOptions): Conversation {
  const { sessionId, cwd, agent, quirks, clock, timings, limitOf } = options;
  let turn: ActiveTurn | undefined;
  /** The newest task, kept after it settles. */
  let lastTask = '';
  /** The report of the newest turn. Later updates belong to it unless they begin a turn of the agent's own. */
  let lastReport: TurnReport | undefined;
  /** The turn before was cancelled. */
  let wasCancelled = false;
  let idleListener: (idle: boolean) => void = () => undefined;

  const requestEnd = () => agent.notify('session/cancel', { sessionId });
  const surroundings = { turn: () => turn, clock, questionMs: timings.questionMs };
  const questions = createOpenQuestions({ ...surroundings, requestEnd });
  const desk = options.askAtDesk && createDesk({ ...surroundings, askAtDesk: options.askAtDesk });
  const dropQuestions = () => {
    questions.drop();
    desk?.drop();
  };
  const isAsking = () => questions.any() || desk?.asking() === true;

  const own = createOwnTurn({
    clock,
    quietMs: timings.quietMs,
    begin() {
      idleListener(false);
      lastReport = options.ownTurn(sessionId);
      turn = beginTurn(lastTask, lastReport, cwd);
      return turn;
    },
    isAsking,
    end(active, lost) {
      turn = undefined;
      dropQuestions();
      reattach(active, questionGone);
      if (lost === undefined) conclude(active, { stopReason: 'end_turn' }, quirks);
      else if (!active.detached) active.report.error(lost);
      active.release();
      idleListener(true);
    },
  });

  const steering = createSteering({ ...options, isAsking });

  const ignore = ignoring(options);
  const { cancelTurn, cancellable, follow } = createCancelling({
    agent,
    clock,
    cancelMs: timings.cancelMs,
    own,
    dropQuestions,
    requestEnd,
  });

  return {
    sessionId,
    agent,
    pid: agent.pid,
    update(id, update) {
      if (id !== sessionId) return ignore(update, 'another session');
      const active = turn ?? own.beginWith(update);
      if (!active) return void (lastReport ? lastReport.update?.(update) : ignore(update, 'before the first turn'));
      active.narrator.update(update, active.report.update?.(update));
      own.observe(active, update);
      steering.observe(update);
    },
    permission: (request, signal) => {
      if (!turn) own.begin();
      return (desk ?? questions).ask(permissionOf(request, options), signal, recordOf(request.toolCall));
    },
    form: (request, signal) => {
      if (!turn) own.begin();
      return (desk ?? questions).ask(askForm(request), signal);
    },

    async answer({ taskId, message: words, answer }, report, signal) {
      const active = turn;
      if (!active) return 'free';
      const question = questions.named(answer?.question);
      const reply = question && replyOf(question.asking, words, answer ?? {});
      // A choice either answers its question or is void.
      const isChoice = answer?.option !== undefined || answer?.fields !== undefined;
      if (isChoice && (!reply || active.detached)) return 'free';
      if (question && reply && (question.shown || answer) && !active.detached) {
        const end = released(active);
        Object.assign(active, { taskId, report, attached: true });
        lastTask = taskId;
        lastReport = report;
        questions.apply(question, reply, active);
        if (reply.kind !== 'decline') {
          own.answered(active, question.call);
          await follow(active, signal, end);
          return 'done';
        }
      }
      // A turn that continues without its question completes as usual, and the message follows. A refused turn does not
      // complete here.
      if (active.attached && !active.detached) active.overtaken = true;
      else active.detached = true;
      dropQuestions();
      if (own.isActive(active)) own.end();
      else await cancellable(active, signal, active.settled);
      return 'free';
    },

    async prompt(input, report, signal) {
      const { taskId, message } = input;
      if (turn && own.isActive(turn)) own.end();
      idleListener(false);
      const active = beginTurn(taskId, report, cwd);
      const end = released(active);
      active.unknownCommand = options.unknownCommand(sessionId, message);
      turn = active;
      lastTask = taskId;
      lastReport = report;
      // A message after a declined question of the previous turn stays separate, also where messages have no ids.
      report.update?.({ sessionUpdate: wordsEnd });
      const ask = async () =>
        agent.request('session/prompt', { sessionId, prompt: promptOf(input, await agent.ready) });
      const finish = async () => {
        await carryOut(active, ask, { wasCancelled, quirks, over: () => steering.over(active), limitOf });
        turn = undefined;
        wasCancelled = active.cancelling;
        dropQuestions();
        active.release();
        idleListener(true);
      };
      active.settled = finish();
      await follow(active, signal, end);
    },

    steer: (message, injected) => steering.steer(turn, message, injected),
    abandon(taskId) {
      if (turn?.taskId === taskId) cancelTurn(turn);
    },
    asking: questions.anyShown,
    idle: () => turn === undefined,
    usable: () => agent.usable(),
    onIdle(listener) {
      idleListener = listener;
      listener(turn === undefined);
    },
    end: () => agent.end(),
    lost() {
      if (turn && own.isActive(turn)) own.end('The agent ended without an answer.');
      dropQuestions();
    },
  };
}

/** The question of a permission. Only the person at the machine can choose every option. */
function permissionOf(request: Fields, { cwd, quirks, askAtDesk, noFullAccess }: ConversationOptions) {
  const isShort = askAtDesk === undefined && noFullAccess === true;
  return askPermission(isShort ? withoutDanger(request, quirks) : request, cwd);
}

/** Counts the updates that belong to no turn of this conversation. */
function ignoring({ sessionId, log }: Pick<ConversationOptions, 'sessionId' | 'log'>) {
  let count = 0;
  return ({ sessionUpdate }: Fields, why: string) => {
    count += 1;
    log.info('update not kept', { session: sessionId, kind: String(sessionUpdate), why, count });
  };
}

interface Cancelling {
  agent: AgentProcess;
  clock: Clock;
  cancelMs: number;
  own: OwnTurn;
  dropQuestions: () => void;
  requestEnd: () => void;
}

/** The ways to cancel a turn. */
function createCancelling({ agent, clock, cancelMs, own, dropQuestions, requestEnd }: Cancelling) {
  /** Cancels the turn at the agent; if the agent does not obey, kills it. */
  const cancelTurn = (active: ActiveTurn) => {
    if (active.cancelling) return;
    active.cancelling = true;
    active.detached = true;
    dropQuestions();
    requestEnd();
    // The agent sends no response for a turn that it began itself.
    if (own.isActive(active)) return own.end();
    void settledWithin(clock, cancelMs, active.settled).then((obeyed) => {
      if (!obeyed) void agent.kill();
    });
  };

  /** The signal cancels the turn up to that point. */
  const cancellable = async (active: ActiveTurn, signal: AbortSignal, until: Promise<void>) => {
    const stop = () => cancelTurn(active);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    await until;
    signal.removeEventListener('abort', stop);
  };

  /** Resolves when the task of `active` settles or asks its question; if the signal aborts, when the turn is gone. */
  const follow = async (active: ActiveTurn, signal: AbortSignal, end: Promise<void>) => {
    await cancellable(active, signal, end);
    if (active.cancelling) await active.settled;
  };

  return { cancelTurn, cancellable, follow };
}

/** Runs a turn at the agent until it completes. Never rejects. */
async function carryOut(
  active: ActiveTurn,
  ask: () => Promise<Fields>,
  {
    wasCancelled,
    quirks,
    over,
    limitOf,
  }: { wasCancelled: boolean; quirks: Quirks; over: () => Promise<void>; limitOf: ConversationOptions['limitOf'] },
): Promise<void> {
  try {
    const response = await answered(active, ask, wasCancelled);
    await over();
    reattach(active, questionGone);
    const tokens = tokensOf(response);
    if (tokens > 0) active.report.spent?.(tokens);
    conclude(active, response, quirks);
  } catch (error) {
    reattach(active, questionGone);
    if (active.detached) return;
    const limit = limitOf?.(error);
    if (limit) active.report.error(reasonOf(error), 'USAGE_LIMIT', limit);
    else active.report.error(reasonOf(error));
  }
}

/**
 * Returns the agent's response to a message. Cancelling the turn before might have cancelled this one too: a message on
 * which the agent did not work is sent again.
 */
async function answered(active: ActiveTurn, ask: () => Promise<Fields>, wasCancelled: boolean): Promise<Fields> {
  const response = await ask();
  const isLeftOver = wasCancelled && response.stopReason === 'cancelled' && !active.cancelling;
  if (!isLeftOver || active.narrator.summary().worked) return response;
  active.report.update?.({ sessionUpdate: 'notice', title: sentAgain });
  active.report.progress('Sending the message again', '');
  return ask();
}

const sentAgain =
  'The agent ended this message together with the turn that was cancelled before, without working on it. It was sent again.';

/** The tokens of a turn in its response: the field of ACP, or Gemini's. */
function tokensOf({ usage, _meta }: Fields): number {
  const { input_tokens: input, output_tokens: output } = recordOf(recordOf(recordOf(_meta).quota).token_count);
  const sum = [input, output].reduce<number>((total, count) => total + (isCount(count) ? count : 0), 0);
  const { totalTokens } = recordOf(usage);
  return isCount(totalTokens) ? totalTokens : sum;
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
