/** Questions about the files of a session: a few at a time, and each within its bounds. The `Workspace` reads them. */
import { type Capability, type FromDaemon, type Item, type ToDaemon, changeLimits, limits } from '@relay/protocol';
import { reasonOf } from '@relay/machine';
import { keepHead } from './bounds.ts';
import { type Clock, settledWithin } from './clock.ts';
import type { Agent } from './agent.ts';
import type { Store } from './store.ts';

export type FileQuestion = ToDaemon<'get_changes' | 'get_diff' | 'get_files' | 'get_file'>;
type FileAnswer = FromDaemon<'changes' | 'diff' | 'files' | 'file'>;
type Answered<T> = T extends { type: string; request_id: string } ? Omit<T, 'type' | 'request_id'> : never;

export interface SessionPlace {
  sessionId: string;
  projectPath: string;
  /** When the daemon first saw it (ISO 8601). */
  createdAt: string;
  /** The items of its transcript, as far as they are kept here. */
  items: () => readonly Item[];
}

/** Reads the files of sessions. */
export interface Workspace {
  readonly capabilities: readonly Capability[];
  /** Rejects with a FilesRefused when it cannot answer. */
  answer(session: SessionPlace, question: FileQuestion): Promise<Answered<FileAnswer>>;
  /** Keeps how the files are before a turn. Never rejects. */
  mark(session: SessionPlace, turn: string): Promise<void>;
}

/** The refusal of a question about files, with its code. */
export class FilesRefused extends Error {
  readonly code: string;
  readonly scopes: readonly string[] | undefined;
  constructor(code: string, message: string, scopes?: readonly string[]) {
    super(message);
    this.name = 'FilesRefused';
    this.code = code;
    this.scopes = scopes;
  }
}

const answers = { get_changes: 'changes', get_diff: 'diff', get_files: 'files', get_file: 'file' } as const;
const atOnce = 2;
const waitMs = 10_000;
const reusedMs = 1000;

type Sessions = Pick<Store, 'session' | 'everything' | 'created'>;

const placeOf = (store: Sessions, sessionId: string): SessionPlace | undefined => {
  const session = store.session(sessionId);
  return (
    session && {
      sessionId,
      projectPath: session.projectPath,
      createdAt: store.created(sessionId),
      items: () => store.everything(sessionId) ?? [],
    }
  );
};

/** Answers questions; never rejects. Two run at a time, and the same question has one answer for a second. */
export function createFileAnswers(
  workspace: Workspace | undefined,
  store: Sessions,
  clock: Clock,
): (frame: FileQuestion) => Promise<FileAnswer> {
  let running = 0;
  const waiting: (() => void)[] = [];
  const recent = new Map<string, Promise<object>>();

  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= atOnce) {
      let go: () => void = () => undefined;
      const turn = new Promise<void>((resolve) => waiting.push((go = resolve)));
      if (!(await settledWithin(clock, waitMs, turn))) {
        waiting.splice(waiting.indexOf(go), 1);
        throw new Error('this daemon is busy with other files');
      }
    } else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };

  const answer = async (frame: FileQuestion): Promise<object> => {
    try {
      const place = placeOf(store, frame.session_id);
      if (!workspace) throw new FilesRefused('NOT_SUPPORTED_BY_DEVICE', 'This machine shares no files.');
      if (!place) throw new FilesRefused('FILE_NOT_FOUND', 'This device has no such session.');
      const found = await inTurn(() => workspace.answer(place, frame));
      if (Buffer.byteLength(JSON.stringify(found)) <= changeLimits.frameBytes) return found;
      throw new FilesRefused('CHANGES_TOO_LARGE', 'The answer is too large.', ['edits']);
    } catch (error) {
      const refused = error instanceof FilesRefused ? error : undefined;
      return {
        ...(refused ? { code: refused.code } : {}),
        ...(refused?.scopes ? { scopes: refused.scopes } : {}),
        error: keepHead(reasonOf(error), limits.lastMessageBytes),
      };
    }
  };

  return async (frame) => {
    const { request_id: requestId, ...question } = frame;
    const key = JSON.stringify(question);
    const shared = recent.get(key) ?? answer(frame);
    if (!recent.has(key)) {
      recent.set(key, shared);
      void shared.then(() => clock.after(reusedMs, () => recent.delete(key)));
    }
    return { type: answers[frame.type], request_id: requestId, ...(await shared) };
  };
}

/** The agent with a mark of the files before each of its turns. An answer to its question continues a turn. */
export function marking(agent: Agent, workspace: Workspace | undefined, store: Sessions): Agent {
  if (!workspace) return agent;
  return {
    ...agent,
    start(turn, report) {
      const place = turn.answer ? undefined : placeOf(store, turn.sessionId);
      if (!place) return agent.start(turn, report);
      let isCancelled = false;
      let inner: ReturnType<Agent['start']> | undefined;
      const begin = async () => {
        await workspace.mark(place, turn.messageUuid ?? turn.taskId);
        if (isCancelled) return;
        inner = agent.start(turn, report);
        await inner.ended;
      };
      const ended = begin();
      return {
        ended,
        async cancel() {
          isCancelled = true;
          await inner?.cancel();
          await ended.catch(() => undefined);
        },
      };
    },
  };
}
