/** The pages that were read last in this browser: the list, and the newest messages of the conversations that were open. Never more than 5 MB. */
import type { Message, Session } from '@relay/protocol';
import { answerOf, lastDatabase, openDatabase } from '../forget.ts';

interface KeptList {
  /** Identifies the person of the access tokens. */
  person: string;
  /** ISO 8601. */
  at: string;
  sessions: readonly Session[];
}
export interface KeptConversation {
  at: string;
  session: Session;
  messages: readonly Message[];
  /** They are the daemon's own items, and complete. */
  areItems: boolean;
}

const conversationsKept = 20;
const messagesKept = 50;
/** Twenty conversations and the list make at most 5 MB. */
const bytesOfOne = 240_000;
/** Frames change the shown data many times a second. */
const writeEveryMs = 1000;

const stores = ['list', 'conversations'];

async function within<T>(mode: IDBTransactionMode, work: (tx: IDBTransaction) => Promise<T>): Promise<T> {
  const db = await openDatabase(lastDatabase, stores);
  try {
    return await work(db.transaction(stores, mode));
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
  const list = (await answerOf(tx.objectStore('list').get('list'))) as KeptList | undefined;
  if (list === undefined || list.person === person) return;
  await answerOf(tx.objectStore('list').clear());
  await answerOf(tx.objectStore('conversations').clear());
}

/** Identifies the person of the stored pages; undefined if signed out. */
type WhoIs = () => string | undefined;

/**
 * Writes for the signed-in person. While signed out the database is not opened: that would recreate the database that the
 * sign-out deleted.
 */
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
  // The pages also work in a browser that stores nothing or is full.
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
      return answerOf(tx.objectStore('list').put(kept, 'list'));
    }),
  );
}

export function keepConversation(who: WhoIs, { session, messages, areItems }: Omit<KeptConversation, 'at'>): void {
  const at = new Date().toISOString();
  soon(session.id, () =>
    writeFor(who, async (tx) => {
      const kept: KeptConversation = { at, session, messages: newest(messages, messagesKept), areItems };
      const store = tx.objectStore('conversations');
      await answerOf(store.put(kept, session.id));
      const all = (await answerOf(store.getAll())) as KeptConversation[];
      const old = all.sort((a, b) => b.at.localeCompare(a.at)).slice(conversationsKept);
      for (const one of old) await answerOf(store.delete(one.session.id));
    }),
  );
}

/** Never rejects. */
export const lastList = (): Promise<KeptList | undefined> =>
  within('readonly', (tx) => answerOf(tx.objectStore('list').get('list') as IDBRequest<KeptList | undefined>)).catch(
    () => undefined,
  );

/** Never rejects. */
export const lastConversation = (id: string): Promise<KeptConversation | undefined> =>
  within('readonly', (tx) =>
    answerOf(tx.objectStore('conversations').get(id) as IDBRequest<KeptConversation | undefined>),
  ).catch(() => undefined);
