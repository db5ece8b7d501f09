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

/** Keeps the draft under the id that a session got from its agent while no page of this browser was open. `idOf`: the id of today of an earlier one. */
async function draftBefore(session: string, idOf: (earlier: string) => Promise<string>): Promise<string> {
  const kept = (await inStore('readonly', (drafts) => drafts.getAllKeys())) as string[];
  const all = [...kept, ...Object.keys(sessionStorage).map((key) => key.replace(carried(''), ''))];
  const begin = `${session.split(':', 2).join(':')}:PENDING-`;
  for (const earlier of all.filter((one) => one !== session && one.startsWith(begin))) {
    if ((await idOf(earlier)) !== session) continue;
    const text = await draftOf(earlier);
    await keepDraft(session, text);
    await keepDraft(earlier, '');
    return text;
  }
  return '';
}

/** Empty when there is none, or this browser keeps nothing. */
export const draftOf = async (session: string, idOf?: (earlier: string) => Promise<string>): Promise<string> => {
  const last = takeCarried(session);
  if (last !== undefined) {
    await keepDraft(session, last);
    return last;
  }
  const found = await inStore('readonly', (drafts) => drafts.get(session) as IDBRequest<unknown>).catch(
    () => undefined,
  );
  if (typeof found === 'string') return found;
  return idOf ? draftBefore(session, idOf).catch(() => '') : '';
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
