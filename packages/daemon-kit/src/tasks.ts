/**
 * The tasks of this daemon (specification §3). MEANING of a task's life, without any socket: accepted once, one turn at a time per
 * session, and exactly one end: TASK_COMPLETE, WAIT_FOR_USER or ERROR, whatever the agent does. Only a cancelled task has none.
 */
import { randomUUID } from 'node:crypto';
import {
  type Question as AskedQuestion,
  type DaemonEvent,
  type FieldValues,
  type ToDaemon,
  formProblem,
  isNativeId,
  limits,
  transcriptLimits,
} from '@relay/protocol';
import type { Agent, RunningTurn } from './agent.ts';
import { fieldBytes, keepHead } from './bounds.ts';
import { type Clock, settledWithin } from './clock.ts';
import { reasonOf } from './failure.ts';
import type { FinalEvent, Journal } from './journal.ts';
import type { Log } from './log.ts';
import type { Questions } from './questions.ts';
import type { Store } from './store.ts';
import {
  type End,
  endingOf,
  frameOf,
  isUnwritable,
  maxTasks,
  missingAgent,
  noImages,
  noted,
  tooLate,
  tooMany,
  unfit,
  unknownSession,
  unseen,
  unwritable,
  wordsOf,
} from './task-ends.ts';
import { createLines } from './task-lines.ts';
import { createReports } from './task-report.ts';
import { type Transcripts, notKept } from './transcript/transcripts.ts';

/** The output of the tasks, in the order of the calls. */
export interface Voice {
  /** The set of running tasks changed. */
  status(): void;
  event(event: DaemonEvent<'SESSION_STARTED' | 'PROGRESS' | 'OUTPUT'>): void;
  /** Another question, while one is open. */
  asked(event: DaemonEvent<'PROMPT_OPEN'>): void;
  /** The end of a task. Already in the journal. */
  final(event: FinalEvent): void;
  /** A message was added to a session. */
  activity(sessionId: string, isCompletion: boolean): void;
}

export interface TasksOptions {
  agent: Agent;
  store: Store;
  transcripts: Transcripts;
  /** Adds messages that were written elsewhere to the session; a session started locally is known afterwards. */
  sync?: (sessionId: string) => void;
  /** The fetch that must finish before that; undefined when there is none. */
  bring?: (sessionId: string) => Promise<void> | undefined;
  journal: Journal;
  questions: Questions;
  /** Whether a session of this further agent can be worked in; without it there is only one agent. */
  offers?: (agentType: string) => boolean;
  /** Whether the relay names the question that a message answers: one that names none then answers none. */
  namesQuestions: () => boolean;
  voice: Voice;
  log: Log;
  clock: Clock;
  timings: TaskTimings;
  /** Maximum number of tasks that run at the same time; the rest wait in order (rules, 16.4). Default 8. */
  maxAgents?: number | undefined;
}

export interface TaskTimings {
  /** The time that an agent may run on after it has reported its end, before its turn is cancelled. */
  lingerMs: number;
  /** The time that a stopping daemon waits for the end of all agents. */
  stopMs: number;
  /** How often a task that waits for a place reports so again: well within the silence after which a relay asks for it. */
  stillWaitingMs: number;
}

export const taskTimings: TaskTimings = { lingerMs: 10_000, stopMs: 8000, stillWaitingMs: 240_000 };

export interface Tasks {
  start(frame: ToDaemon<'task_start'>): void;
  resume(frame: ToDaemon<'task_resume'>): void;
  cancel(taskId: string): void;
  /** The relay has received the end of this task. */
  heard(taskId: string): void;
  /** Ids for the `status` frame, in the order in which they came. */
  running(): string[];
  /** The newest open questions, oldest first in each session, each with the task whose turn asks it; '' where none is known. */
  asking(): DaemonEvent<'PROMPT_OPEN'>[];
  /** Whether a turn runs in the session. */
  isActive(sessionId: string): boolean;
  /** Whether the session has a task: a running turn, or one that waits for its place. */
  isBusy(sessionId: string): boolean;
  /** Reports for each task that waits for a place why nothing happens: now, and again as long as there are any. */
  tellWaiting(): void;
  /** Ends with ERROR all that a crash interrupted, and ends every process that it left running. */
  recover(): void;
  /** Ends every task with ERROR, and every agent; later tasks end with ERROR at once. Resolves when the agents are gone. */
  stop(reason: string): Promise<void>;
}

interface Task {
  id: string;
  sessionId: string;
  message: string;
  images: readonly string[];
  projectPath: string;
  /** The further agent that was chosen. */
  agentType?: string | undefined;
  /** The open question that it answers. A choice is never applied to another one. */
  answer?:
    | {
        question: string;
        option?: string;
        fields?: FieldValues;
        digest?: string | undefined;
        /** Where it was answered. */
        on?: string | undefined;
        isChoice: boolean;
      }
    | undefined;
  /** Uuid of its message's item, chosen by the relay. */
  messageUuid?: string | undefined;
  /** `resumed`: it ended with a question that was withdrawn, and its turn continues. The relay gets no frame of it before its next end. */
  phase: 'opening' | 'queued' | 'running' | 'over' | 'resumed';
  turn?: RunningTurn;
  /** It ended with a question. */
  asked?: boolean;
  /** While the agent opens the conversation. */
  opening?: AbortController;
}

const maxRememberedIds = 10_000;

/** Number of agents that run at the same time, unless configured. */
export const maxAgentsDefault = 8;

export function createTasks(options: TasksOptions): Tasks {
  const { agent, store, transcripts, sync, bring, journal, questions, namesQuestions, voice, log, clock, timings } =
    options;
  const tasks = new Map<string, Task>();
  const lines = createLines<Task>({
    maxAgents: options.maxAgents ?? maxAgentsDefault,
    stillWaitingMs: timings.stillWaitingMs,
    clock,
    log,
    run: (task) => run(task),
    tell: (task) => progress(task, waitingForPlace, ''),
  });
  const seen = new Set<string>();
  /** By session. */
  const resumed = new Map<string, Task>();
  let stopped: string | undefined;

  const remember = (taskId: string): boolean => {
    if (seen.has(taskId)) return false;
    seen.add(taskId);
    const [oldest] = seen;
    if (seen.size > maxRememberedIds && oldest !== undefined) seen.delete(oldest);
    return true;
  };

  const accept = (task: Task) => {
    tasks.set(task.id, task);
    journal.began(task.id, task.sessionId);
    voice.status();
    log.info('task accepted', { task: task.id, session: task.sessionId });
    log.speech('user said', { task: task.id, text: task.message });
  };

  const takes = ({ images }: Task) => images.length === 0 || agent.capabilities?.includes('images') === true;

  const enqueue = (task: Task) => {
    // Tasks that arrive during shutdown also end with ERROR, so that their outcome is never unknown.
    if (stopped !== undefined) return finish(task, { type: 'ERROR', error: stopped });
    if (tasks.size > maxTasks) return finish(task, tooMany);
    if (!takes(task)) return finish(task, noImages);
    lines.enqueue(task);
  };

  const progress = ({ id: taskId, sessionId }: Task, action: string, target: string) => {
    const about = { task_id: taskId, ...(sessionId === '' ? {} : { session_id: sessionId }) };
    const [what, to] = [keepHead(action, fieldBytes.progress), keepHead(target, fieldBytes.progress)];
    voice.event({ type: 'event', event_type: 'PROGRESS', ...about, action: what, target: to });
  };
  /** The agent names the conversation; until then the task has no session. */
  const open = async (task: Task, opening: AbortController) => {
    task.opening = opening;
    let sessionId: string;
    let path = task.projectPath;
    try {
      const opened = await agent.open?.({
        taskId: task.id,
        agentType: task.agentType,
        projectPath: task.projectPath,
        signal: opening.signal,
        process: (pid) => journal.process(task.id, pid),
      });
      if (!opened || !isNativeId(opened.sessionId)) throw new Error(unusableId(opened?.sessionId ?? ''));
      sessionId = opened.sessionId;
      path = opened.projectPath ?? path;
    } catch (error) {
      return finish(task, { type: 'ERROR', error: reasonOf(error) });
    } finally {
      delete task.opening;
      if (task.phase === 'over') lines.drop(task);
    }
    if (task.phase === 'over') return;
    task.sessionId = sessionId;
    task.projectPath = path;
    journal.began(task.id, sessionId);
    begin(task);
  };

  /** The session has its name: it is sent to the relay and saved, and the first turn runs. */
  const begin = (task: Task) => {
    task.phase = 'queued';
    try {
      if (!store.has(task.sessionId)) store.create(task.sessionId, task.projectPath, 0, task.agentType);
    } catch (error) {
      return finish(task, unwritable(reasonOf(error)));
    }
    voice.event({ type: 'event', event_type: 'SESSION_STARTED', task_id: task.id, session_id: task.sessionId });
    enqueue(task);
  };

  /** Messages written locally come before those of this task. */
  const takeUp = ({ sessionId }: Task) => {
    try {
      sync?.(sessionId);
    } catch (error) {
      log.warn('local session not read', { session: sessionId, why: reasonOf(error) });
    }
  };

  const isMissing = (agentType: string | undefined) => agentType !== undefined && options.offers?.(agentType) !== true;

  const continued = (task: Task) => {
    const session = store.session(task.sessionId);
    if (!session) return finish(task, unknownSession);
    if (isMissing(session.agentType)) return finish(task, missingAgent(session.agentType!));
    task.projectPath ||= session.projectPath;
    enqueue(task);
  };

  const run = (task: Task) => {
    task.phase = 'running';
    if (task.answer && !isOpen(task.sessionId, task.answer.question, task.answer.digest)) {
      // Words are a message, unless it would be taken for the answer to another question.
      if (task.answer.isChoice || questionsOf(task.sessionId).length > 0) {
        finish(task, tooLate);
        void watch(task);
        return;
      }
      delete task.answer;
    }
    const problem = problemOf(task);
    if (problem !== undefined) {
      finish(task, unfit(problem));
      repeat(task);
      void watch(task);
      return;
    }
    // The relay has no open question: it was dismissed while we were away, or its answer was lost.
    if (!task.answer && namesQuestions()) dismiss(task.sessionId);
    const isAnswer = agent.holdsQuestions === true && questions.isOpen(task.sessionId);
    questions.forget(task.sessionId);
    const { id: taskId, sessionId, message, images, projectPath, messageUuid: uuid } = task;
    try {
      const answers = answered(sessionId, message, task.answer);
      transcripts.begin({ taskId, sessionId, message, projectPath, uuid, answers, images }, isAnswer);
    } catch (error) {
      finish(task, unwritable(reasonOf(error)));
      void watch(task);
      return;
    }
    try {
      voice.activity(sessionId, false);
      const { question, option, fields } = task.answer ?? {};
      const given = { ...(option === undefined ? {} : { option }), ...(fields === undefined ? {} : { fields }) };
      const answer = question === undefined ? {} : { answer: { question, ...given } };
      const turn = { taskId, sessionId, message, projectPath, ...(images.length > 0 ? { images } : {}), ...answer };
      task.images = [];
      task.turn = agent.start(turn, reportOf(task));
    } catch (error) {
      finish(task, { type: 'ERROR', error: `The agent could not be started: ${reasonOf(error)}` });
    }
    void watch(task);
  };

  /** Follows a turn until it has fully finished, then lets the next one of the session run. */
  const watch = async (task: Task) => {
    const { turn } = task;
    try {
      await turn?.ended;
      if (task.phase !== 'resumed') finish(task, { type: 'ERROR', error: 'The agent ended without an answer.' });
    } catch (error) {
      finish(task, { type: 'ERROR', error: `The agent failed: ${reasonOf(error)}` });
    }
    const line = lines.get(task.sessionId);
    line?.shift();
    if (task.asked) {
      // Written before anyone saw the question: it must not be taken for the answer.
      // An answer names its question, so it belongs to the one that the person saw.
      const waiting = line?.splice(0) ?? [];
      for (const next of waiting) if (next.answer) line?.push(next);
      for (const blind of waiting) if (!blind.answer) finish(blind, unseen);
    }
    lines.leave(task);
    lines.advance(task.sessionId);
  };

  const linger = async (turn: RunningTurn) => {
    if (!(await settledWithin(clock, timings.lingerMs, turn.ended))) await turn.cancel();
  };

  /** Its turn goes on without the question that it ended with. */
  const withdrawn = (task: Task, why: string, uuid: string | undefined) => {
    if (task.phase !== 'over' || !task.asked || stopped !== undefined) return;
    task.phase = 'resumed';
    resumed.set(task.sessionId, task);
    questions.gone(task.sessionId, why);
    superseded(task.sessionId, uuid);
    log.info('question withdrawn', { task: task.id, session: task.sessionId });
  };

  const finish = (task: Task, end: End) => {
    if (task.phase === 'over') return;
    const ran = task.phase === 'running' || task.phase === 'resumed';
    task.phase = 'over';
    task.asked = end.type === 'WAIT_FOR_USER';
    if (resumed.get(task.sessionId) === task) resumed.delete(task.sessionId);
    // History and journal first: a reported end must survive this process.
    conclude(task, end);
    tasks.delete(task.id);
    voice.status();
    voice.activity(task.sessionId, end.type === 'TASK_COMPLETE');
    // `turn` is not set yet when the agent reports its end while it starts; such a turn ends by itself.
    if (task.turn) void linger(task.turn);
    if (!ran && !task.opening) lines.drop(task);
  };

  const conclude = ({ id, sessionId }: { id: string; sessionId: string }, end: End) => {
    const lost = transcripts.lost(sessionId);
    const told = lost === undefined ? end : noted(end, notKept(lost));
    let frame = frameOf(id, sessionId, told);
    try {
      if (store.has(sessionId)) frame.message_uuid = transcripts.end(id, sessionId, endingOf(frame, told));
    } catch (error) {
      log.warn('history not written', { session: sessionId, why: reasonOf(error) });
      const isSaid = lost !== undefined || isUnwritable(end);
      if (!isSaid) frame = frameOf(id, sessionId, noted(end, notKept(reasonOf(error))));
    }
    journal.ended(frame);
    if (frame.event_type === 'WAIT_FOR_USER') {
      const labels = (frame.options ?? []).map(({ label }) => label);
      questions.asked(sessionId, { taskId: id, prompt: frame.prompt, labels });
    } else questions.over(id);
    log.info('task ended', { task: id, session: sessionId, end: end.type });
    log.speech('agent said', { task: id, text: wordsOf(frame) });
    voice.final(frame);
  };

  /** Leaves a task whose turn continues without its question: it has no other end. */
  const leave = (task: Task) => {
    resumed.delete(task.sessionId);
    task.phase = 'over';
    task.asked = false;
  };

  /** The turns that hold them end with this process, so each task that asked ends with ERROR. */
  const dropQuestions = (why: string) => {
    if (!agent.holdsQuestions) return;
    for (const { sessionId, taskId } of questions.waiting()) {
      questions.gone(sessionId, why);
      superseded(sessionId);
      const error = `${why} The agent’s question can no longer be answered. Send a message to continue.`;
      conclude({ id: taskId, sessionId }, { type: 'ERROR', error });
    }
  };

  /** The transcript is secondary to the task: a failed write costs the transcript, not the turn. */
  const told = (tell: () => void, task?: Task) => {
    try {
      tell();
    } catch (error) {
      const why = reasonOf(error);
      log.warn('transcript not written', { why });
      if (task) progress(task, 'Not saved in the history', why);
    }
  };

  /** The open question that these words answer, answered from now on; undefined when there is none. */
  const answered = (sessionId: string, words: string, answer: Task['answer']): string | undefined => {
    const open = questionsOf(sessionId);
    const question = answer === undefined ? open[0] : open.find(({ uuid }) => uuid === answer.question);
    if (!question) return undefined;
    const option = answer?.option === undefined ? {} : { option: answer.option };
    const by = answer?.on === undefined ? {} : { by: answer.on };
    const at = new Date(clock.now()).toISOString();
    const text = keepHead(words, fieldBytes.lastMessage);
    transcripts.change(sessionId, [
      { op: 'set', uuid: question.uuid, part: { state: 'answered', answer: { ...option, text, at, ...by } } },
    ]);
    return question.uuid;
  };

  /** Ends the turn that holds the questions of this session: no answer to them will come. */
  const dismiss = (sessionId: string) => {
    if (questionsOf(sessionId).length === 0) return;
    const asker = questions.waiting().find((one) => one.sessionId === sessionId)?.taskId;
    questions.gone(sessionId, 'it was dismissed.');
    told(() => transcripts.cancel(sessionId));
    superseded(sessionId);
    if (asker === undefined) return;
    questions.over(asker);
    agent.abandon?.(asker);
  };

  const askerOf = (sessionId: string): string =>
    resumed.get(sessionId)?.id ??
    questions.waiting().find((one) => one.sessionId === sessionId)?.taskId ??
    lines.get(sessionId)?.[0]?.id ??
    '';
  const questionsOf = (sessionId: string) => store.open(sessionId).filter(({ part }) => part.kind === 'question');
  /** `digest`: of the question as the person saw it, where it was given. */
  const isOpen = (sessionId: string, uuid: string, digest?: string): boolean => {
    const part = questionsOf(sessionId).find((item) => item.uuid === uuid)?.part;
    return part !== undefined && (digest === undefined || (part.question as AskedQuestion).digest === digest);
  };

  const questionAt = ({ sessionId, answer }: Task): AskedQuestion | undefined =>
    questionsOf(sessionId).find(({ uuid }) => uuid === answer?.question)?.part.question as AskedQuestion | undefined;
  /** The reason why the values of a form do not fit its fields. */
  const problemOf = (task: Task): string | undefined => {
    const values = task.answer?.fields;
    return values && formProblem(questionAt(task)?.fields ?? [], values);
  };
  /** The answer was refused, and the relay counts the question as answered: it may be answered again. */
  const repeat = (task: Task) => {
    const question = questionAt(task);
    const about = { task_id: task.id, session_id: task.sessionId };
    if (question) voice.asked({ type: 'event', event_type: 'PROMPT_OPEN', ...about, question });
  };

  /** Questions that can no longer be answered: this one, or all. */
  const superseded = (sessionId: string, uuid?: string) =>
    told(() => {
      const open = questionsOf(sessionId).filter((item) => uuid === undefined || item.uuid === uuid);
      transcripts.change(
        sessionId,
        open.map(({ uuid }) => ({ op: 'set', uuid, part: { state: 'superseded' } })),
      );
    });

  const reportOf = createReports<Task>({
    agent,
    store,
    transcripts,
    journal,
    log,
    clock,
    event: (event) => voice.event(event),
    asked: (event) => voice.asked(event),
    progress,
    told,
    superseded,
    finish,
    withdrawn,
  });

  return {
    start({
      task_id: id,
      instruction: message,
      project_path: projectPath = '',
      images = [],
      message_uuid: messageUuid,
      agent_type: agentType,
    }) {
      if (!remember(id)) return;
      const named = agent.open === undefined;
      const sessionId = named ? randomUUID() : '';
      const phase = named ? 'queued' : 'opening';
      const task: Task = { id, sessionId, message, images, projectPath, messageUuid, agentType, phase };
      accept(task);
      if (isMissing(agentType)) return finish(task, missingAgent(agentType!));
      if (named) return begin(task);
      // A task that arrives during shutdown, or exceeds the limit, opens nothing.
      if (stopped !== undefined) return finish(task, { type: 'ERROR', error: stopped });
      if (tasks.size > maxTasks) return finish(task, tooMany);
      if (!takes(task)) return finish(task, noImages);
      lines.whenRoom(task, () => void open(task, new AbortController()));
    },
    resume(frame) {
      const { task_id: id, session_id: sessionId, message, project_path: projectPath = '', images = [] } = frame;
      if (!remember(id)) return;
      const { prompt_uuid: asked, option_id: option, fields } = frame;
      const isChoice = option !== undefined || fields !== undefined;
      const isGone = asked !== undefined && !isOpen(sessionId, asked, frame.digest);
      const answer =
        asked === undefined
          ? undefined
          : {
              question: asked,
              ...(option === undefined ? {} : { option }),
              ...(fields === undefined ? {} : { fields }),
              digest: frame.digest,
              on: frame.answered_on,
              isChoice,
            };
      // Words for a question that is closed are a message; without the name of a question they may be no choice either.
      const refusal = asked === undefined ? questions.refusal(sessionId, message) : undefined;
      if (refusal !== undefined || (isGone && isChoice)) {
        const late: Task = { id, sessionId, message: '', images: [], projectPath, phase: 'queued' };
        accept(late);
        return finish(late, refusal === undefined ? tooLate : { type: 'ERROR', error: refusal });
      }
      const wait = bring?.(sessionId);
      const phase = wait ? 'opening' : 'queued';
      const task: Task = {
        id,
        sessionId,
        message,
        images,
        projectPath,
        messageUuid: frame.message_uuid,
        answer,
        phase,
      };
      if (!wait) takeUp(task);
      accept(task);
      if (!wait) return continued(task);
      void wait.then(() => {
        if (task.phase === 'over') return;
        task.phase = 'queued';
        takeUp(task);
        continued(task);
      });
    },
    cancel(taskId) {
      const task = tasks.get(taskId);
      if (task) {
        const wasRunning = task.phase === 'running';
        task.phase = 'over';
        task.opening?.abort();
        tasks.delete(taskId);
        journal.settled([taskId]);
        log.info('task cancelled', { task: taskId, session: task.sessionId });
        if (wasRunning) {
          told(() => transcripts.cancel(task.sessionId));
          void task.turn?.cancel();
        } else if (!task.opening) lines.drop(task);
      } else {
        for (const goesOn of [...resumed.values()]) if (goesOn.id === taskId) leave(goesOn);
        for (const { sessionId, taskId: asker } of questions.waiting())
          if (asker === taskId) {
            questions.gone(sessionId, 'it was dismissed.');
            told(() => transcripts.cancel(sessionId));
            superseded(sessionId);
          }
        questions.over(taskId);
        journal.settled([taskId]);
        agent.abandon?.(taskId);
      }
      voice.status();
    },
    running: () => [...tasks.keys()],
    asking: () =>
      store
        .asking()
        .slice(-transcriptLimits.openPrompts)
        .map(({ sessionId, item }) => ({
          ...({
            type: 'event',
            event_type: 'PROMPT_OPEN',
            task_id: askerOf(sessionId),
            session_id: sessionId,
          } as const),
          question: item.part.question as AskedQuestion,
        })),
    heard: (taskId) => questions.heard(taskId),
    isActive: (sessionId) => resumed.has(sessionId) || lines.get(sessionId)?.[0]?.phase === 'running',
    isBusy: (sessionId) => resumed.has(sessionId) || lines.has(sessionId),
    tellWaiting: () => lines.tellWaiting(),
    recover() {
      transcripts.recover();
      for (const { taskId, sessionId, pid } of journal.interrupted) {
        remember(taskId);
        if (pid !== undefined) agent.reap?.({ taskId, pid });
        const error = 'The daemon crashed while this task was running. How much of it was done is unknown.';
        conclude({ id: taskId, sessionId }, { type: 'ERROR', error });
        superseded(sessionId);
      }
      dropQuestions('The daemon was restarted.');
    },
    async stop(reason) {
      stopped = reason;
      lines.stop();
      for (const task of [...resumed.values()]) leave(task);
      dropQuestions(reason);
      const turns = [...lines.values()].flatMap(([head]) => (head?.turn ? [head.turn] : []));
      for (const line of lines.values()) line.splice(1);
      for (const task of [...tasks.values()]) {
        task.opening?.abort();
        finish(task, { type: 'ERROR', error: reason });
      }
      const gone = Promise.all(turns.map((turn) => turn.cancel()));
      const closed = gone.then(() => agent.close?.());
      if (!(await settledWithin(clock, timings.stopMs, closed))) agent.abort?.();
    },
  };
}

/** The reason why a conversation with this id of the agent cannot be used at a relay (rules, 1.7). */
export const unusableId = (sessionId: string): string =>
  sessionId === ''
    ? 'The agent gave the conversation no id.'
    : `The agent gave the conversation an id that no relay accepts (“${keepHead(sessionId, 80)}”): it begins with PENDING-, or has more than ${limits.idCharacters} characters. Nothing was sent to the agent.`;

const waitingForPlace = 'Waiting for another agent to finish';
