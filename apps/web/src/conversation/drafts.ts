/** Texts typed and not sent, per session, kept in this browser until they are sent. */
import { draftsDatabase as database } from '../forget.ts';

const store = 'drafts';

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(database, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(store);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('no database'));
  });
}

async function inStore<T>(mode: IDBTransactionMode, work: (drafts: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const db = await open();
  try {
    return await new Promise((resolve, reject) => {
      const request = work(db.transaction(store, mode).objectStore(store));
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error ?? new Error('not stored'));
    });
  } finally {
    db.close();
  }
}

/** Empty when there is none, or this browser keeps nothing. */
export const draftOf = async (session: string): Promise<string> => {
  const found = await inStore('readonly', (drafts) => drafts.get(session) as IDBRequest<unknown>).catch(
    () => undefined,
  );
  return typeof found === 'string' ? found : '';
};

/** An empty text removes it. Never rejects. */
export const keepDraft = (session: string, text: string): Promise<unknown> =>
  (text === ''
    ? inStore('readwrite', (drafts) => drafts.delete(session))
    : inStore('readwrite', (drafts) => drafts.put(text, session))
  ).catch(() => undefined);
