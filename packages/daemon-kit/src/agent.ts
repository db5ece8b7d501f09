import type {
  Question as WireQuestion,
  Capability,
  FieldValues,
  QuestionField,
  QuestionOption,
  Setting,
  SlashCommand,
  Subject,
  TextReason,
  Usage,
} from '@relay/protocol';
import type { Holders } from './holders.ts';
import type { Effect } from './transcript/mapper.ts';

/**
 * The seam between the daemon and the program that does the work. An agent knows no relay, no frame and no file of the daemon.
 *
 * The caller runs one turn at a time per session, and ignores reports after a turn has completed or was cancelled.
 */
/** A value that a person chose for a setting. */
export interface Choice {
  id: string;
  value: string;
  /** No person looks at the turn: an option that never asks is refused. */
  isSafe?: true;
}

/** The choices that hold in a session. Agents set them in each new process of the session. */
export interface SessionChoices {
  choices: readonly Choice[];
  /** The agent no longer offers the choice, and works with the other value. */
  gone(choice: Choice, using: string): void;
}

/** The reason why a message did not run: a setting that came with it could not be set. */
export class SettingNotApplied extends Error {
  readonly code = 'SETTING_NOT_APPLIED';
}

/** A file of a person, where the agent can read it. */
export interface GivenFile {
  path: string;
  name: string;
  mime: string;
  bytes: number;
}

export interface Turn {
  taskId: string;
  /** The native session id. Equal for all turns of one conversation. */
  sessionId: string;
  /** The user's message. */
  message: string;
  /** The uuid of its item, where the relay chose it. */
  messageUuid?: string;
  /** Working directory as the app or the session gave it; empty for the agent's default. Not checked. */
  projectPath: string;
  /** The open question that this answers, by the name its agent gave it. Must never be applied to another question. */
  answer?: { question: string; option?: string; fields?: FieldValues };
  /** Data URLs (base64) of images that came with the message. Only for agents that declare `images`. */
  images?: readonly string[];
  /** Files that came with the message. Only for agents that declare `files`. */
  files?: readonly GivenFile[];
  /** Holds in a process that is opened for the turn. */
  choices?: SessionChoices;
  /** Set before the agent receives the message; if that fails, the turn fails with `SETTING_NOT_APPLIED`. */
  settings?: readonly Choice[];
  /** No person looks at it: the agent refuses a command that can change when it asks. */
  isSafe?: true;
}

export interface Question {
  /** The name of the question: an answer with this name is for this question and no other. Default: a random one. */
  uuid?: string;
  /** Default: a choice where there are options, else a text. */
  kind?: WireQuestion['kind'];
  /** The same as `options` with the ids and kinds of the agent; default: numbered. */
  choices?: readonly QuestionOption[];
  /** The action that a permission is about. */
  subject?: Subject;
  /** Whether free text answers it; default: yes. */
  text?: boolean;
  /** The fields of a form; its answer can carry their values, which fit them. `options` and free text answer it as well. */
  fields?: readonly QuestionField[];
  /** No agent answers it. */
  person?: true;
  /** Why the daemon asks. */
  reason?: WireQuestion['reason'];
  /** The deadline for an answer (ISO 8601). */
  expires?: string;
  prompt: string;
  /** Full text shown to the user; default: empty. */
  result?: string;
  /** The agent's text before the question. Placed in front of `result` unless already sent as its own message. */
  textBefore?: string;
  /** Labels of the choices. */
  options?: readonly string[];
}

/** A question that a program asks its person at this machine. */
export interface AskedAtDesk {
  sessionId: string;
  question: Question;
  /** Gives the person's answer to the program: an option, or the text of a rejection. Returns false if the program has left. */
  answer(option: string | undefined, words: string): boolean;
  /** The relay asks no longer: the program continues to ask at the machine alone. */
  leave(): void;
}

/** The seam to the code that knows agents. */
export interface DeskAsker {
  /**
   * Called once, at the start. `ask` opens a question, and returns a function that closes it when the program has an answer or leaves. Returns
   * undefined where the question cannot be asked: the session is unknown to the relay, or the daemon works in it itself.
   */
  listen(ask: (asked: AskedAtDesk) => (() => void) | undefined): void;
}

/** A usage limit that the agent reached. */
export interface ReachedLimit {
  /** As the agent names it; can be empty. */
  name: string;
  /** When it resets (ISO 8601), if the agent reports it. */
  resets_at?: string;
  /** The source of the time. `clock`: of a message with neither a date nor a zone. */
  source: 'figures' | 'words' | 'clock';
}

/**
 * The reports of an agent during a turn. `complete`, `wait` and `error` complete the turn; only the first counts. After `wait`
 * the turn can continue at an agent with `holdsQuestions`: after `withdrawn` its next result counts again.
 */
export interface TurnReport {
  /**
   * An update of ACP, unchanged: the source of the transcript, also when it is late. Only from an agent with `tellsUpdates`.
   * Returns the resulting item; undefined if the transcript could not keep it.
   */
  update?(update: Readonly<Record<string, unknown>>): Effect | undefined;
  /** A tool call of ACP as a question shows it, with the uuid of the question if there is one. */
  call?(call: Readonly<Record<string, unknown>>, question?: string): Effect | undefined;
  /** The answer to a permission: of the question with this uuid, or at the machine for this call. */
  answered?(about: { question: string } | { call: Readonly<Record<string, unknown>> }, allowed: boolean): void;
  progress(action: string, target?: string): void;
  /** Text for apps that read no items. An agent with `tellsUpdates` passes it together with the `update` that it belongs to. */
  output(text: string): void;
  /** `reason`: the text is a sentence of the daemon. */
  complete(result: string, reason?: TextReason): void;
  wait(question: Question): void;
  /** Reports another question, with a `uuid`, while one is open. The answer can arrive before the turn waits for it. */
  further?(question: Question): void;
  /** A question reported by `further` can no longer be answered. */
  closed?(uuid: string): void;
  /** `code`: `PROMPT_SUPERSEDED` for an answer that came too late, `USAGE_LIMIT` with `limit`. */
  error(error: string, code?: string, limit?: ReachedLimit): void;
  /**
   * The question of `wait` is closed, and the turn continues: its next result counts again and replaces the question. `why`: a
   * sentence for the person who answers anyway. `uuid`: the question, if further questions stay open.
   */
  withdrawn?(why: string, uuid?: string): void;
  /** Another program opened the session before the agent got the message: the daemon asks the person, and the turn is over. */
  held?(): void;
  /** The turn completed before the agent read this accepted message. Reported before the result. */
  dropped?(steerId: string): void;
  /** The turn took so many tokens, as the agent counts them. */
  spent?(tokens: number): void;
  /** The settings of the turn are set. */
  chosen?(settings: readonly Choice[]): void;
  /** The conversation now has a name. */
  title?(title: string): void;
  /** The process (and its group) that runs the turn, recorded so that a restarted daemon can kill it after a crash. */
  process(pid: number): void;
}

/** A message into a running turn. */
export interface Steer {
  /** Names the message. */
  id: string;
  /** The task whose turn it is meant for. */
  taskId: string;
  sessionId: string;
  message: string;
  /** As in a turn. */
  images?: readonly string[];
  files?: readonly GivenFile[];
}

/**
 * `not_running`: its turn was over, and the agent did not take it. `refused`: the agent cannot take it now, and did not. `unknown`: it was
 * written to the agent, which did not answer.
 */
export interface Steered {
  outcome: 'injected' | 'not_running' | 'refused' | 'unknown';
  /** A sentence for people. */
  reason?: string;
}

export interface RunningTurn {
  /**
   * Settles when the turn has fully finished, with or without a reported result. Rejects if the agent failed; the caller turns
   * both a rejection and a missing result into an error.
   */
  ended: Promise<void>;
  /** Cancels the turn now. Never rejects; resolves when the turn has fully finished. */
  cancel(): Promise<void>;
}

/** A conversation that an agent is asked to open. */
export interface Opening {
  taskId: string;
  /** The chosen agent, of a daemon with further agents; absent: the agent of the registration. */
  agentType?: string | undefined;
  /** As the app gave it; empty for the agent's default. Not checked. */
  projectPath: string;
  /** Aborted when the conversation becomes unwanted. */
  signal: AbortSignal;
  /** Defaults of the agent; a default that cannot be set is left out. */
  choices?: SessionChoices;
  /** Rejects with a SettingNotApplied if one of them cannot be set. */
  settings?: readonly Choice[];
  /** The process (and its group) that opens it. */
  process(pid: number): void;
}

export interface Opened {
  /** The agent's own id of the conversation, never empty. */
  sessionId: string;
  /** Its working directory, if it differs from the requested one. */
  projectPath?: string;
}

export interface Agent {
  /** Everything is reported with `update`: the output is included. */
  readonly tellsUpdates?: boolean;
  /** The name of a message as `Outside` has it. `part`: from 1. Default: the id, with `#2` and so on for the next parts. */
  messageName?(role: 'USER' | 'AGENT', messageId: string, part: number): string;
  /** The same for agents of several kinds: the names in this session. Counts instead of `messageName`. */
  nameOf?(sessionId: string): Agent['messageName'];
  /** A question lives in a turn that is held open: it can be withdrawn, and it cannot be answered after a restart. */
  readonly holdsQuestions?: boolean;
  /** The capabilities that the daemon declares to the relay (`X-Daemon-Capabilities`); the relay never asks for an undeclared one. */
  readonly capabilities?: readonly Capability[];
  /**
   * For agents that name their conversations themselves; otherwise the daemon makes a UUID. A rejection fails the task with
   * ERROR.
   */
  open?(opening: Opening): Promise<Opened>;
  /** Can throw, which fails the turn. The answer to a question is the next turn of the session. */
  start(turn: Turn, report: TurnReport): RunningTurn;
  /**
   * Gives the agent a message while it works, at most once; only with `steer`. `injected` is called at the moment at which the agent reports that it
   * has it, before later updates. A rejection counts as `unknown`.
   */
  steer?(message: Steer, injected: () => void): Promise<Steered>;
  /** Returns the fill level of a session's context; requires `usage`. The text of a rejection is sent to the person who asked. */
  context?(sessionId: string): Promise<Usage>;
  /**
   * Returns the choices of a session, with `change` after applying it; requires `settings`. Rejects with a SettingRefused for an
   * unknown setting or value; the text of any other rejection is sent to the person who asked.
   */
  settings?(
    session: { sessionId: string; projectPath: string; choices?: SessionChoices },
    change?: Choice,
  ): Promise<readonly Setting[]>;
  /** The last settings of a session that this process of the daemon knows, without asking the agent. */
  cachedSettings?(sessionId: string): { settings: readonly Setting[]; isLive: boolean } | undefined;
  /** The names of its abilities for apps; undefined before it was asked. */
  abilities?(): readonly string[] | undefined;
  /**
   * Called once, at the start: the listener is called for each change of settings. `offered`: the agent opened the session with them;
   * `own`: the agent changed one by itself.
   */
  onSettings?(listener: (sessionId: string, how: 'offered' | 'changed' | 'own') => void): void;
  /** Called once, at the start: the listener is called whenever the agent announces its slash commands. */
  onCommands?(listener: (sessionId: string, commands: readonly SlashCommand[]) => void): void;
  /** Called once, at the start: the listener is called when the agent begins a turn itself, between the turns of tasks. */
  onOwnTurn?(listener: (sessionId: string) => TurnReport): void;
  /** The question of this task will never be answered. Unknown ids are ignored. */
  abandon?(taskId: string): void;
  /** The programs beside the daemon that have sessions of this agent open. */
  readonly holders?: Holders;
  /** The questions of these programs. */
  readonly deskAsker?: DeskAsker;
  /** Closes the idle process of this session, which can hold a lock. Resolves when the process is gone. */
  letGo?(sessionId: string): Promise<void>;
  /** The session got messages elsewhere: its state in memory is out of date. No turn runs in it. */
  outdated?(sessionId: string): void;
  /** Stops all processes and timers that outlive turns. Called once, after the last turn. Never rejects. */
  close?(): Promise<void>;
  /** Kills the process that a crashed daemon left running. Never throws. */
  reap?(left: { taskId: string; pid: number }): void;
  /** Kills everything at once, without waiting, because this process is about to exit. */
  abort?(): void;
}
