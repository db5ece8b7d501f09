/** Texts typed and not sent, per session, kept in this browser until they are sent. */
import { answerOf, draftsDatabase, openDatabase } from '../forget.ts';

const store = 'drafts';

async function inStore<T>(mode: IDBTransactionMode, work: (drafts: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const db = await openDatabase(draftsDatabase, [store]);
  try {
    return await answerOf(work(db.transaction(store, mode).objectStore(store)));
  } finally {
    db.close();
  }
}

const carried = (session: string) => `relay.draft ${session}`;

/** For a page that is left now: a database would answer too late. */
export function carryDraft(session: string, text: string): void {
  try {
    sessionStorage.setItem(carried(session), text);
  } catch {
    // Full, or forbidden: what was typed in the last moment is lost.
  }
}

/** The text that the page before this one in the tab had no time to keep. */
function takeCarried(session: string): string | undefined {
  try {
    const text = sessionStorage.getItem(carried(session));
    sessionStorage.removeItem(carried(session));
    return text ?? undefined;
  } catch {
    return undefined;
  }
}

/** Empty when there is none, or this browser keeps nothing. */
export const draftOf = async (session: string): Promise<string> => {
  const last = takeCarried(session);
  if (last !== undefined) {
    await keepDraft(session, last);
    return last;
  }
  const found = await inStore('readonly', (drafts) => drafts.get(session) as IDBRequest<unknown>).catch(
    () => undefined,
  );
  return typeof found === 'string' ? found : '';
};

/** An empty text removes it. Never rejects. */
export function keepDraft(session: string, text: string): Promise<unknown> {
  // A page that was left, and came back as it was, keeps what it carried itself.
  takeCarried(session);
  const kept =
    text === ''
      ? inStore('readwrite', (drafts) => drafts.delete(session))
      : inStore('readwrite', (drafts) => drafts.put(text, session));
  return kept.catch(() => undefined);
}
