/** The shape of a task, what tasks need from their daemon, and what they offer it. */
import type { DaemonEvent, FieldValues, MessageSetting, ToDaemon } from '@relay/protocol';
import type { Agent, RunningTurn } from './agent.ts';
import type { Caps } from './caps.ts';
import type { Clock } from './clock.ts';
import type { Ended } from './holders.ts';
import type { Controls } from './controls.ts';
import type { FinalEvent, Journal } from './journal.ts';
import type { Log } from './log.ts';
import type { Questions } from './questions.ts';
import type { Spending } from './spending.ts';
import type { Store } from './store.ts';
import type { Transcripts } from './transcript/transcripts.ts';

/** The output of the tasks, in the order of the calls. */
export interface Voice {
  /** The set of running tasks changed. */
  status(): void;
  event(event: DaemonEvent<'SESSION_STARTED' | 'PROGRESS' | 'OUTPUT'>): void;
  /** Another question, while one is open. */
  asked(event: DaemonEvent<'PROMPT_OPEN'>): void;
  /** The outcome of a message into a turn; calls back when the relay has received it. */
  steered(event: DaemonEvent<'STEERED'>, received: () => void): void;
  /** The end of a task. Already in the journal. */
  final(event: FinalEvent): void;
  /** A message was added to a session. */
  activity(sessionId: string, isCompletion: boolean): void;
  /** The agent works in the session by itself, or no longer does; `said`: it said something. */
  own(sessionId: string, works: boolean, said: boolean): void;
}

export interface TasksOptions {
  agent: Agent;
  controls: Controls;
  store: Store;
  transcripts: Transcripts;
  /** Adds messages that were written elsewhere to the session; a session started locally is known afterwards. */
  sync?: (sessionId: string) => void;
  /** The fetch that must finish before that, with the reason when it failed; undefined when there is none. */
  bring?: (sessionId: string) => Promise<string | undefined> | undefined;
  journal: Journal;
  questions: Questions;
  spending: Spending;
  caps: Caps;
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
  steer(frame: ToDaemon<'task_steer'>): void;
  cancel(taskId: string): void;
  /** The relay has received the end of this task. */
  heard(taskId: string): void;
  /** Ids for the `status` frame, in the order in which they came. */
  running(): string[];
  /** Ids of the messages into running turns, for the `status` frame. */
  steering(): string[];
  /** Before `status`: sends the outcomes of such messages that the relay has not received. */
  steeredAgain(): void;
  /** The newest open questions, oldest first in each session, each with the task whose turn asks it; '' where none is known. */
  asking(): DaemonEvent<'PROMPT_OPEN'>[];
  /** Whether a turn runs in the session. */
  isActive(sessionId: string): boolean;
  /** Whether the session has a task: a running turn, or one that waits for its place. */
  isBusy(sessionId: string): boolean;
  /** Closes the program beside the daemon that has the session open. */
  release(sessionId: string, stopTurn: boolean): Promise<Ended>;
  /** Why a terminal cannot go on with the session now: a message waits for it, a turn runs, or a question is open. */
  deskReason(sessionId: string): 'waiting' | 'busy' | 'question' | undefined;
  /** Programs may have left: tasks that wait for that begin. */
  lookAtDesk(): void;
  /** Reports for each task that waits for a place why nothing happens: now, and again as long as there are any. */
  tellWaiting(): void;
  /** Ends with ERROR all that a crash interrupted, and ends every process that it left running. */
  recover(): void;
  /** Ends every task with ERROR, and every agent; later tasks end with ERROR at once. Resolves when the agents are gone. */
  stop(reason: string): Promise<void>;
}

/** The answer that the message of a task is. */
export interface TaskAnswer {
  /** Uuid of the question. */
  question: string;
  option?: string;
  fields?: FieldValues;
  /** The digest of the question as the person saw it. */
  digest?: string | undefined;
  /** Where it was answered. */
  on?: string | undefined;
  /** An option or the values of a form, which are never a message. */
  isChoice: boolean;
}

/** A task that has not ended, or whose turn has not. */
export interface Task {
  id: string;
  sessionId: string;
  message: string;
  images: readonly string[];
  projectPath: string;
  /** The further agent that was chosen. */
  agentType?: string | undefined;
  /** Settings that came with it. */
  settings?: readonly MessageSetting[] | undefined;
  /** The kind of a program that sent it. */
  restricted?: string | undefined;
  /** The open question that it answers. A choice is never applied to another one. */
  answer?: TaskAnswer | undefined;
  /** The person's choice about a program that has the session open. */
  desk?: 'take' | 'wait' | undefined;
  /** Its message is in the transcript already. */
  written?: boolean;
  /** Uuid of its message's item, chosen by the relay. */
  messageUuid?: string | undefined;
  /** It was meant for the turn before, which was over when it arrived. */
  steer?: 'next' | undefined;
  /** The messages into its turn, which the agent has or is given: ids, with the uuids of their items. */
  steers?: Map<string, string>;
  /** `resumed`: it ended with a question that was withdrawn, and its turn continues. The relay gets no frame of it before its next end. */
  phase: 'opening' | 'queued' | 'running' | 'over' | 'resumed';
  turn?: RunningTurn;
  /** It ended with a question. */
  asked?: boolean;
  /** While the agent opens the conversation. */
  opening?: AbortController;
}

/** Number of agents that run at the same time, unless configured. */
export const maxAgentsDefault = 8;
