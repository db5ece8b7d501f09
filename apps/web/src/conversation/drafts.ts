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
    // The storage is full or forbidden: the last typed characters are lost.
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

/**
 * Moves drafts to the ids that their sessions got from their agent while no page of this browser was open, and returns the one of this name.
 * `idOf`: the id of today of an earlier one.
 */
async function draftBefore(session: string, idOf: (earlier: string) => Promise<string>): Promise<string> {
  const kept = (await inStore('readonly', (drafts) => drafts.getAllKeys())) as string[];
  const all = [...kept, ...Object.keys(sessionStorage).map((key) => key.replace(carried(''), ''))];
  /** The draft of a form has the question before the session. */
  const prefix = session.slice(0, session.lastIndexOf(' ', session.indexOf(':')) + 1);
  const begin = `${session.split(':', 2).join(':')}:PENDING-`;
  const earlier = all.filter((one) => one !== session && one.startsWith(begin));
  // A session that is gone, or can't be asked about now, keeps no other from its draft.
  const today = (one: string) =>
    idOf(one.slice(prefix.length)).then(
      (id) => `${prefix}${id}`,
      () => one,
    );
  const names = await Promise.all(earlier.map(today));
  for (const [at, name] of names.entries()) {
    const before = earlier[at]!;
    // Words typed there since are newer.
    if (name === before || (await draftOf(name)) !== '') continue;
    await keepDraft(name, await draftOf(before));
    await keepDraft(before, '');
  }
  return draftOf(session);
}

/** Empty if no draft exists or this browser stores nothing. */
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
  // A page restored from the back-forward cache keeps its own fields.
  takeCarried(session);
  const kept =
    text === ''
      ? inStore('readwrite', (drafts) => drafts.delete(session))
      : inStore('readwrite', (drafts) => drafts.put(text, session));
  return kept.catch(() => undefined);
}
