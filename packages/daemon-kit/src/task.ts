/** The shape of a task, the needs of tasks, and their interface for the daemon. */
import type { DaemonEvent, FieldValues, MessageSetting, ToDaemon } from '@relay/protocol';
import type { Agent, RunningTurn } from './agent.ts';
import type { Caps } from './caps.ts';
import type { Clock } from './clock.ts';
import type { Ended } from './holders.ts';
import type { Controls } from './controls.ts';
import type { FileExchange } from './exchange.ts';
import type { Incoming } from './incoming.ts';
import type { FinalEvent, Journal } from './journal.ts';
import type { Log } from './log.ts';
import type { Questions } from './questions.ts';
import type { Spending } from './spending.ts';
import type { Store } from './store.ts';
import type { FailedEnd } from './task-ends.ts';
import type { Transcripts } from './transcript/transcripts.ts';

/** The output of the tasks, in the order of the calls. */
export interface Voice {
  /** The set of running tasks changed. */
  status(): void;
  event(event: DaemonEvent<'SESSION_STARTED' | 'PROGRESS' | 'OUTPUT'>): void;
  /** Another question, while one is open. */
  promptOpened(event: DaemonEvent<'PROMPT_OPEN'>): void;
  /** The outcome of a message into a turn; calls back when the relay has received it. */
  steered(event: DaemonEvent<'STEERED'>, received: () => void): void;
  /** The result of a task. Already in the journal. */
  final(event: FinalEvent): void;
  /** A message was added to a session. */
  activity(sessionId: string, isCompletion: boolean): void;
  /** The agent starts or stops working in the session by itself; `hasItems`: it sent text. */
  own(sessionId: string, works: boolean, hasItems: boolean): void;
}

export interface TasksOptions {
  agent: Agent;
  controls: Controls;
  store: Store;
  transcripts: Transcripts;
  /** Adds messages that were written elsewhere to the session; a session started locally is known afterwards. */
  sync?: (sessionId: string) => void;
  /** Reports sessions that were started locally since the last report. */
  reportNew?: () => unknown;
  /** Fetches messages, which must finish before `sync`; resolves with the reason if it failed. Undefined without a fetch. */
  bring?: (sessionId: string) => Promise<string | undefined> | undefined;
  journal: Journal;
  questions: Questions;
  spending: Spending;
  caps: Caps;
  incoming: Incoming;
  exchange?: FileExchange | undefined;
  /** Whether a session of this further agent can be worked in; without it there is only one agent. */
  offers?: (agentType: string) => boolean;
  /** Whether the relay names the question that a message answers; if it does, an unnamed message answers no question. */
  namesQuestions: () => boolean;
  voice: Voice;
  log: Log;
  clock: Clock;
  timings: TaskTimings;
  /** Maximum number of tasks that run at the same time; the rest wait in order (rules, 16.4). Default 8. */
  maxAgents?: number | undefined;
}

export interface TaskTimings {
  /** How long an agent can run on after it has reported its result, before its turn is cancelled. */
  lingerMs: number;
  /** How long a stopping daemon waits for all agents to stop. */
  stopMs: number;
  /** How often a waiting task reports again: well within the silence before a relay asks for it. */
  stillWaitingMs: number;
}

export const taskTimings: TaskTimings = { lingerMs: 10_000, stopMs: 8000, stillWaitingMs: 240_000 };

export interface Tasks {
  start(frame: ToDaemon<'task_start'>): void;
  resume(frame: ToDaemon<'task_resume'>): void;
  steer(frame: ToDaemon<'task_steer'>): void;
  cancel(taskId: string): void;
  /** The relay has received the result of this task. */
  confirmed(taskId: string): void;
  /** Ids for the `status` frame, in order of arrival. */
  running(): string[];
  /** Ids of the messages into running turns, for the `status` frame. */
  steering(): string[];
  /** Before `status`: sends the outcomes of such messages that the relay has not received. */
  steeredAgain(): void;
  /** The newest open questions, oldest first in each session, each with the task whose turn asks it; '' if unknown. */
  asking(): DaemonEvent<'PROMPT_OPEN'>[];
  /** Whether a turn runs in the session. */
  isActive(sessionId: string): boolean;
  /** Whether the session has a running turn or a waiting task. */
  isBusy(sessionId: string): boolean;
  /** Closes the program beside the daemon that has the session open. */
  release(sessionId: string, stopTurn: boolean): Promise<Ended>;
  /** Why a terminal cannot continue the session now: a message waits for it, a turn runs, or a question is open. */
  deskReason(sessionId: string): 'waiting' | 'busy' | 'question' | undefined;
  /** A question of a session closed without an answer. */
  questionClosed(uuid: string): void;
  /** Programs might have left: tasks that wait for that begin. */
  lookAtDesk(): void;
  /** Reports for each task that waits for a place why nothing happens: now, and again as long as there are any. */
  reportWaiting(): void;
  /** Fails with ERROR all tasks that a crash interrupted, and kills every process that it left running. */
  recover(): void;
  /**
   * Fails every task with ERROR and stops every agent; later tasks fail with ERROR at once. Resolves when the agents are gone.
   */
  stop(end: FailedEnd): Promise<void>;
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

/** A task that has not settled, or whose turn still runs. */
export interface Task {
  id: string;
  sessionId: string;
  message: string;
  images: readonly string[];
  /** Ids of files that came with it. */
  files?: readonly string[] | undefined;
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
  /**
   * `resumed`: it settled with a question that was withdrawn, and its turn continues. It sends the relay no frame before its next
   * result.
   */
  phase: 'opening' | 'queued' | 'running' | 'over' | 'resumed';
  turn?: RunningTurn;
  /** It settled with a question. */
  hasQuestion?: boolean;
  /** While the agent opens the conversation. */
  opening?: AbortController;
}

/** Number of agents that run at the same time, unless configured. */
export const maxAgentsDefault = 8;
