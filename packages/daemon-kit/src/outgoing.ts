/**
 * Files that agents put into the folder for outgoing files: new and changed ones become items when a turn completes. Sessions of one
 * folder share it, so a file belongs to the turn that ran when it appeared (ADR 102).
 */
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { FileExchange } from './exchange.ts';
import { offeredUpdate } from './file-blocks.ts';
import type { Store } from './store.ts';
import type { Transcripts } from './transcript/transcripts.ts';

export interface Outgoing {
  /** A turn begins; `goesOn`: it continues after a question. */
  begin(sessionId: string, goesOn: boolean): void;
  /** The turn pauses or completes: its new files become items. */
  end(sessionId: string, isOver: boolean): void;
  /** The turn is cancelled: its files stay in the folder. */
  leave(sessionId: string): void;
}

interface Turn {
  isPaused: boolean;
  /** Its new files by path, each with all sessions that ran when the file appeared. */
  found: Map<string, readonly string[]>;
}

/** Offers files of the folder for outgoing files that are new or changed. */
export function createOutgoing(
  exchange: FileExchange | undefined,
  store: Pick<Store, 'session' | 'everything'>,
  transcripts: Pick<Transcripts, 'update'>,
): Outgoing {
  const turns = new Map<string, Turn>();
  /** Stamps of the files in the folders of these turns. */
  let seen = new Map<string, string>();
  const filesOf = (sessionId: string) => exchange!.outgoing(store.session(sessionId)?.projectPath ?? '');

  const look = () => {
    const now = new Map<string, string>();
    const sharers = new Map<string, string[]>();
    for (const sessionId of turns.keys())
      for (const [path, stamp] of filesOf(sessionId)) {
        now.set(path, stamp);
        sharers.set(path, [...(sharers.get(path) ?? []), sessionId]);
      }
    for (const [path, all] of sharers) {
      if (seen.get(path) === now.get(path)) continue;
      const running = all.filter((sessionId) => turns.get(sessionId)?.isPaused === false);
      const makers = running.length > 0 ? running : all;
      for (const sessionId of makers) turns.get(sessionId)?.found.set(path, makers);
    }
    seen = now;
  };

  /** Whether a tool call of the newest turn names the file, other than in its output. */
  const names = (sessionId: string, path: string): boolean => {
    const items = store.everything(sessionId) ?? [];
    const calls = items.slice(items.findLastIndex(({ role }) => role === 'USER') + 1);
    return calls.some(
      ({ part }) => part.kind === 'tool' && JSON.stringify({ ...part, output: '' }).includes(basename(path)),
    );
  };

  /** Returns the sessions that might have written the file. */
  const makersOf = (path: string, makers: readonly string[]): readonly string[] => {
    if (makers.length === 1) return makers;
    const named = makers.filter((sessionId) => names(sessionId, path));
    return named.length === 1 ? named : makers;
  };

  return {
    begin(sessionId, goesOn) {
      if (!exchange?.sends) return;
      const paused = turns.get(sessionId);
      if (paused && goesOn) {
        look();
        paused.isPaused = false;
        return;
      }
      turns.delete(sessionId);
      look();
      turns.set(sessionId, { isPaused: false, found: new Map() });
      for (const [path, stamp] of filesOf(sessionId)) seen.set(path, stamp);
    },
    end(sessionId, isOver) {
      const turn = turns.get(sessionId);
      if (!turn) return;
      look();
      const found = [...turn.found];
      turn.found.clear();
      if (isOver) turns.delete(sessionId);
      else turn.isPaused = true;
      for (const [path, all] of found) {
        const makers = makersOf(path, all);
        if (!makers.includes(sessionId)) continue;
        const isShared = makers.length > 1;
        if (!isShared) for (const other of all) turns.get(other)?.found.delete(path);
        const content = { type: 'resource_link', uri: pathToFileURL(path).href };
        transcripts.update(sessionId, { sessionUpdate: offeredUpdate, content, ...(isShared ? { shared: true } : {}) });
      }
    },
    leave(sessionId) {
      if (!turns.has(sessionId)) return;
      look();
      turns.delete(sessionId);
    },
  };
}
