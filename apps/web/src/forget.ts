/** The data that this browser keeps of a person beside the sign-in, and its deletion: drafts, and the last message read in each session. */
export const draftsDatabase = 'relay';
/** Names in `localStorage` begin with it. */
export const storedPrefix = 'relay.';

export function forgetPerson(): void {
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith(storedPrefix)) localStorage.removeItem(key);
    indexedDB.deleteDatabase(draftsDatabase);
  } catch {
    // A browser that keeps nothing has nothing to forget.
  }
}
