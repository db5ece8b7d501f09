/** The place where files pass between people and the agents of this machine (rules, chapter 27). */
import type { GivenFile } from './agent.ts';
import type { ReadFile } from './file-blocks.ts';
import type { IncomingFile } from './incoming.ts';

interface Place {
  sessionId: string;
  /** As the app or the session gave it; empty for the agent's default. */
  projectPath: string;
}

export interface FileExchange {
  /** Copies files to a place where the agent of the session can read them. Returns their paths in this order. Throws when the disk refuses it. */
  place(session: Place, files: readonly { name: string; path: string }[]): string[];
  /** Erases such copies, which no agent got. */
  remove(paths: readonly string[]): void;
  readonly read: ReadFile;
  /** The files in the folder for outgoing files: a stamp that changes with the file, by path. */
  outgoing(projectPath: string): ReadonlyMap<string, string>;
  /** Whether files of agents leave the machine. */
  readonly sends: boolean;
}

/** Puts files where the agent of the session reads them. Throws when the disk refuses it. */
export function givenFiles(exchange: FileExchange, session: Place, files: readonly IncomingFile[]): GivenFile[] {
  const paths = exchange.place(session, files);
  return files.map(({ name, mime, bytes }, at) => ({ path: paths[at]!, name, mime, bytes }));
}
