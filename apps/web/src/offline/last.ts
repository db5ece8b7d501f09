/** The pages that were read last in this browser: the list, and the newest messages of the conversations that were open. Never more than 5 MB. */
import type { Message, Session } from '@relay/protocol';
import { lastDatabase } from '../forget.ts';

interface KeptList {
  /** Of the person's access tokens. */
  person: string;
  /** ISO 8601. */
  at: string;
  sessions: readonly Session[];
}
export interface KeptConversation {
  at: string;
  session: Session;
  messages: readonly Message[];
  /** They are the daemon's own items, and say everything. */
  areItems: boolean;
}

const conversationsKept = 20;
const messagesKept = 50;
/** With 20 conversations and the list, 5 MB in all. */
const bytesOfOne = 240_000;
/** Frames change what is shown many times a second. */
const writeEveryMs = 1000;

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(lastDatabase, 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore('list');
      request.result.createObjectStore('conversations');
    };
    request.onsuccess = () => {
      // Forgetting waits for no page.
      request.result.onversionchange = () => request.result.close();
      resolve(request.result);
    };
    request.onerror = () => reject(request.error ?? new Error('no database'));
  });
}

const done = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('not stored'));
  });

async function within<T>(mode: IDBTransactionMode, work: (tx: IDBTransaction) => Promise<T>): Promise<T> {
  const db = await open();
  try {
    return await work(db.transaction(['list', 'conversations'], mode));
  } finally {
    db.close();
  }
}

const sizeOf = (value: unknown) => new Blob([JSON.stringify(value)]).size;

/** The newest that fit. */
function newest<T>(all: readonly T[], count: number): readonly T[] {
  let kept = all.slice(-count);
  while (kept.length > 0 && sizeOf(kept) > bytesOfOne) kept = kept.slice(Math.max(1, Math.floor(kept.length / 10)));
  return kept;
}

/** Another person's things go before anything is written. */
async function own(tx: IDBTransaction, person: string): Promise<void> {
  const list = (await done(tx.objectStore('list').get('list'))) as KeptList | undefined;
  if (list === undefined || list.person === person) return;
  await done(tx.objectStore('list').clear());
  await done(tx.objectStore('conversations').clear());
}

/** Names the person whose pages these are; undefined while none is signed in. */
type WhoIs = () => string | undefined;

/** Writes for the person who is signed in. While no one is signed in the database is not opened: that would recreate the one that the sign-out deleted. */
async function writeFor(who: WhoIs, write: (tx: IDBTransaction, person: string) => Promise<unknown>): Promise<void> {
  if (who() === undefined) return;
  await within('readwrite', async (tx) => {
    const person = who();
    if (person === undefined) return;
    await own(tx, person);
    await write(tx, person);
  });
}

const waiting = new Map<string, () => Promise<unknown>>();
let timer: ReturnType<typeof setTimeout> | undefined;
function flush(): void {
  clearTimeout(timer);
  timer = undefined;
  const all = [...waiting.values()];
  waiting.clear();
  // A browser that keeps nothing, or has no room: the pages work all the same.
  for (const write of all) void write().catch(() => undefined);
}
function soon(what: string, write: () => Promise<unknown>): void {
  waiting.set(what, write);
  timer ??= setTimeout(flush, writeEveryMs);
}
addEventListener('pagehide', flush);

export function keepList(who: WhoIs, sessions: readonly Session[]): void {
  const at = new Date().toISOString();
  soon('list', () =>
    writeFor(who, (tx, person) => {
      const kept: KeptList = { person, at, sessions: newest(sessions.toReversed(), 200).toReversed() };
      return done(tx.objectStore('list').put(kept, 'list'));
    }),
  );
}

export function keepConversation(who: WhoIs, { session, messages, areItems }: Omit<KeptConversation, 'at'>): void {
  const at = new Date().toISOString();
  soon(session.id, () =>
    writeFor(who, async (tx) => {
      const kept: KeptConversation = { at, session, messages: newest(messages, messagesKept), areItems };
      const store = tx.objectStore('conversations');
      await done(store.put(kept, session.id));
      const all = (await done(store.getAll())) as KeptConversation[];
      const old = all.sort((a, b) => b.at.localeCompare(a.at)).slice(conversationsKept);
      for (const one of old) await done(store.delete(one.session.id));
    }),
  );
}

/** Never rejects. */
export const lastList = (): Promise<KeptList | undefined> =>
  within('readonly', (tx) => done(tx.objectStore('list').get('list') as IDBRequest<KeptList | undefined>)).catch(
    () => undefined,
  );

/** Never rejects. */
export const lastConversation = (id: string): Promise<KeptConversation | undefined> =>
  within('readonly', (tx) =>
    done(tx.objectStore('conversations').get(id) as IDBRequest<KeptConversation | undefined>),
  ).catch(() => undefined);
