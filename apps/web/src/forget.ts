/**
 * The data that this browser stores for a person beside the sign-in, and its deletion: drafts, read marks, and the last pages
 * read.
 */
export const draftsDatabase = 'relay';
export const lastDatabase = 'relay-last';
/** Holds the version of the number on the icon, for the worker. */
export const badgeDatabase = 'relay-badge';
/** Names in `localStorage` and `sessionStorage` begin with it. */
const storedPrefix = 'relay.';
/** Whether this browser stores the last pages read. A setting of the device: it survives the sign-out. */
export const keepsName = 'last';

/** Opens a database, which has these stores from the first time on. */
export const openDatabase = (name: string, stores: readonly string[]): Promise<IDBDatabase> => {
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => stores.forEach((store) => request.result.createObjectStore(store));
  // Forgetting waits for no page.
  request.onsuccess = () => (request.result.onversionchange = () => request.result.close());
  return answerOf(request);
};

/** @throws the error of the database */
export const answerOf = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error ?? new Error('no answer of the database')));
  });

/** Returns the text under this name, or null. */
export function readStored(name: string): string | null {
  try {
    return localStorage.getItem(`${storedPrefix}${name}`);
  } catch {
    return null;
  }
}

/** Keeps a text under this name; null removes it. */
export function keepStored(name: string, text: string | null): void {
  try {
    if (text === null) localStorage.removeItem(`${storedPrefix}${name}`);
    else localStorage.setItem(`${storedPrefix}${name}`, text);
  } catch {
    // A browser that keeps nothing begins again with every page.
  }
}

/** Not every browser has a number on its icon. */
export const clearBadge = (): void =>
  void (navigator as { clearAppBadge?: () => Promise<void> }).clearAppBadge?.().catch(() => undefined);

/** Every kind of sign-out deletes the stored pages and the number on the icon. */
export function forgetLast(): void {
  clearBadge();
  try {
    indexedDB.deleteDatabase(lastDatabase);
  } catch {
    // A browser that keeps nothing has nothing to forget.
  }
}

export function forgetPerson(): void {
  forgetLast();
  try {
    for (const key of Object.keys(localStorage))
      if (key.startsWith(storedPrefix) && key !== `${storedPrefix}${keepsName}`) localStorage.removeItem(key);
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(storedPrefix)) sessionStorage.removeItem(key);
    indexedDB.deleteDatabase(draftsDatabase);
    indexedDB.deleteDatabase(badgeDatabase);
  } catch {
    // As above.
  }
}
