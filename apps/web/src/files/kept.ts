/** Files of drafts, kept in this browser until they are sent: 25 MB in all, for a day. */
import { answerOf, filesDatabase, openDatabase } from '../forget.ts';

const store = 'files';
const dayMs = 86_400_000;
const mostBytes = 25 * 1024 * 1024;

export interface KeptFile {
  id: string;
  draft: string;
  name: string;
  mime: string;
  file: Blob;
  /** When it was added. */
  at: number;
}

async function inStore<T>(mode: IDBTransactionMode, work: (files: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const db = await openDatabase(filesDatabase, [store]);
  try {
    return await answerOf(work(db.transaction(store, mode).objectStore(store)));
  } finally {
    db.close();
  }
}

const all = async (): Promise<KeptFile[]> => inStore('readonly', (files) => files.getAll() as IDBRequest<KeptFile[]>);

/** Never rejects: a browser that stores nothing keeps the files in memory. */
export async function keepFile(file: KeptFile): Promise<void> {
  try {
    const others = (await all()).filter(({ id }) => id !== file.id);
    if (others.reduce((sum, one) => sum + one.file.size, file.file.size) > mostBytes) return;
    await inStore('readwrite', (files) => files.put(file, file.id));
  } catch {
    // As above.
  }
}

export const forgetFile = (id: string): Promise<unknown> =>
  inStore('readwrite', (files) => files.delete(id)).catch(() => undefined);

/** The files of a draft, oldest first. Erases files of another day. */
export async function keptFiles(draft: string): Promise<KeptFile[]> {
  try {
    const kept = await all();
    const isOld = ({ at }: KeptFile) => Date.now() - at > dayMs;
    await Promise.all(kept.filter(isOld).map(({ id }) => forgetFile(id)));
    return kept.filter((one) => one.draft === draft && !isOld(one)).sort((one, other) => one.at - other.at);
  } catch {
    return [];
  }
}
