/** Files that an agent puts into the folder for outgoing files: new and changed ones become items when the turn completes. */
import { pathToFileURL } from 'node:url';
import type { FileExchange } from './exchange.ts';
import { offeredUpdate } from './file-blocks.ts';
import type { Store } from './store.ts';
import type { Transcripts } from './transcript/transcripts.ts';

export interface Outgoing {
  /** A turn begins; `goesOn`: it continues after a question. */
  begin(sessionId: string, goesOn: boolean): void;
  /** The turn pauses or completes: new files in the folder for outgoing files become items. */
  end(sessionId: string, isOver: boolean): void;
}

/** Offers files of the folder for outgoing files that are new or changed. */
export function createOutgoing(
  exchange: FileExchange | undefined,
  store: Pick<Store, 'session'>,
  transcripts: Pick<Transcripts, 'update'>,
): Outgoing {
  const before = new Map<string, ReadonlyMap<string, string>>();
  const look = (sessionId: string) => exchange!.outgoing(store.session(sessionId)?.projectPath ?? '');
  return {
    begin(sessionId, goesOn) {
      if (exchange?.sends && !(goesOn && before.has(sessionId))) before.set(sessionId, look(sessionId));
    },
    end(sessionId, isOver) {
      const known = before.get(sessionId);
      if (!known) return;
      const now = look(sessionId);
      if (isOver) before.delete(sessionId);
      else before.set(sessionId, now);
      for (const [path, stamp] of now) {
        if (known.get(path) === stamp) continue;
        const content = { type: 'resource_link', uri: pathToFileURL(path).href };
        transcripts.update(sessionId, { sessionUpdate: offeredUpdate, content });
      }
    },
  };
}
