import type {
  Question as AskedQuestion,
  Capability,
  QuestionOption,
  Setting,
  SettingChange,
  SlashCommand,
  Subject,
  Usage,
} from '@relay/protocol';

/**
 * The seam between the daemon and whatever does the work. An agent knows no relay, no frame and no file of the daemon.
 *
 * Promises of the caller: one turn at a time per session; what is reported after an end or a cancel is ignored.
 */
export interface Turn {
  taskId: string;
  /** The native session id. Equal for all turns of one conversation. */
  sessionId: string;
  /** What the user said. */
  message: string;
  /** Working directory as the app or the session gave it; empty for the agent's default. Not checked. */
  projectPath: string;
  /** The open question that this answers, as its agent named it. It must never be applied to another one. */
  answer?: { question: string; option?: string };
  /** Data URLs (base64) of images that came with the message. Only for agents that declare `images`. */
  images?: readonly string[];
}

export interface Question {
  /** Names it: an answer that gives the name is for this question and no other. Default: a random one. */
  uuid?: string;
  /** Default: a choice where there are options, else a text. */
  kind?: AskedQuestion['kind'];
  /** The same as `options` with the ids and kinds of the agent; default: numbered. */
  choices?: readonly QuestionOption[];
  /** What a permission is about. */
  subject?: Subject;
  /** When it can no longer be answered (ISO 8601). */
  expires?: string;
  prompt: string;
  /** Full text shown to the user; default: empty. */
  result?: string;
  /** What the agent said before it. It stands in front of `result` where it was not said as words of its own. */
  said?: string;
  /** Labels of the choices. */
  options?: readonly string[];
}

/**
 * How an agent speaks during a turn. `complete`, `wait` and `error` end it; only the first of them counts. After `wait` the turn may go on
 * at an agent with `holdsQuestions`: `withdrawn` lets its next end count.
 */
export interface TurnReport {
  /** An update of ACP, as the agent said it: what the transcript is made of. Of an agent with `tellsUpdates`. */
  update?(update: Readonly<Record<string, unknown>>): void;
  /** A tool call of ACP as a question shows it. */
  call?(call: Readonly<Record<string, unknown>>): void;
  progress(action: string, target?: string): void;
  /** What apps that read no items are shown. An agent with `tellsUpdates` gives it as it comes, with the `update` that it is of. */
  output(text: string): void;
  complete(result: string): void;
  wait(question: Question): void;
  /** Another question, with a `uuid`, while one is open. It may be answered before it is waited for. */
  further?(question: Question): void;
  /** A question that was told by `further` can no longer be answered. */
  closed?(uuid: string): void;
  /** `code`: `PROMPT_SUPERSEDED` for an answer that came too late. */
  error(error: string, code?: string): void;
  /**
   * What `wait` asked can no longer be answered, and the turn goes on: its next end counts again and takes the place of the question.
   * `why`: a sentence for whoever answers all the same. `uuid`: of the question, when others stay open.
   */
  withdrawn?(why: string, uuid?: string): void;
  /** The conversation has a name now. */
  title?(title: string): void;
  /** The process (and its group) that runs the turn; remembered so that it can be ended after a crash of the daemon. */
  process(pid: number): void;
}

export interface RunningTurn {
  /**
   * Settles when nothing of the turn is left, with or without an end reported. Rejects when the agent broke; the caller turns
   * both a rejection and a missing end into an error.
   */
  ended: Promise<void>;
  /** Ends the turn now. Never rejects; resolves when nothing of it is left. */
  cancel(): Promise<void>;
}

/** A conversation that an agent is asked to open. */
export interface Opening {
  taskId: string;
  /** As the app gave it; empty for the agent's default. Not checked. */
  projectPath: string;
  /** Aborted when nobody wants the conversation any more. */
  signal: AbortSignal;
  /** The process (and its group) that opens it. */
  process(pid: number): void;
}

export interface Opened {
  /** The agent's own id of the conversation, never empty. */
  sessionId: string;
  /** Where it works, when that differs from what was asked for. */
  projectPath?: string;
}

export interface Agent {
  /** It tells everything with `update`: its output is in there. */
  readonly tellsUpdates?: boolean;
  /** The name of a message in the form in which `Outside` has it. `part`: from 1. Default: the id, with `#2` and so on for the next parts. */
  messageName?(role: 'USER' | 'AGENT', messageId: string, part: number): string;
  /** A question lives in a turn that is held open: it can be taken back, and after a restart nobody can answer it. */
  readonly holdsQuestions?: boolean;
  /** What the daemon declares to the relay (`X-Daemon-Capabilities`); what is not declared is never asked for. */
  readonly capabilities?: readonly Capability[];
  /** For agents that name their conversations themselves. Without it the daemon makes a UUID. A rejection ends the task with ERROR. */
  open?(opening: Opening): Promise<Opened>;
  /** May throw, which counts as an error of the turn. The answer to a question is the next turn of the session. */
  start(turn: Turn, report: TurnReport): RunningTurn;
  /** With `usage`: how full the context of a session is. A rejection is told to whoever asked. */
  context?(sessionId: string): Promise<Usage>;
  /**
   * With `settings`: what can be chosen in a session, with `change` after it was chosen. Rejects with a SettingRefused for a setting or a
   * value that there is not; any other rejection is told to the person who asked.
   */
  settings?(session: { sessionId: string; projectPath: string }, change?: SettingChange): Promise<readonly Setting[]>;
  /** Called once, at the start: the listener is told of a session in which a setting changed, or what can be chosen. */
  onSettings?(listener: (sessionId: string) => void): void;
  /** Called once, at the start: the listener is told whenever the agent says what it understands after a slash. */
  onCommands?(listener: (sessionId: string, commands: readonly SlashCommand[]) => void): void;
  /** Nobody will answer what the turn of this task asked. Unknown ids are ignored. */
  abandon?(taskId: string): void;
  /** Something was said in this session elsewhere: what is kept of it in memory is out of date. No turn runs in it. */
  outdated?(sessionId: string): void;
  /** Ends what outlives turns. Called once, after the last turn. Never rejects. */
  close?(): Promise<void>;
  /** Ends what a crashed daemon left running. Never throws. */
  reap?(left: { taskId: string; pid: number }): void;
  /** Ends everything at once and without waiting, because this process is about to die. */
  abort?(): void;
}
