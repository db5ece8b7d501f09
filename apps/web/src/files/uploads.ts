/** The files of one draft on their way to a machine: one at a time, each continued where it stopped. */
import { type Client, newFileId, sendFile } from '@relay/client';
import { type Refusal, refusalOf } from '../api/refusal.ts';
import { type KeptFile, forgetFile, keepFile, keptFiles } from './kept.ts';

export interface Upload extends KeptFile {
  received: number;
  isDone: boolean;
  refusal?: Refusal;
}

export const fileLimits = { files: 10, bytes: 25 * 1024 * 1024, allBytes: 100 * 1024 * 1024 };

interface Uploads {
  list: () => readonly Upload[];
  subscribe: (changed: () => void) => () => void;
  add: (file: File) => void;
  remove: (id: string) => void;
  ready: () => Promise<string[]>;
  sent: (ids: readonly string[]) => void;
  /** The agent has named the session. */
  rename: (draft: string) => void;
  close: () => void;
}

export function createUploads(client: Client, deviceId: string, firstDraft: string): Uploads {
  let draft = firstDraft;
  let list: readonly Upload[] = [];
  let running: AbortController | undefined;
  let isClosed = false;
  const listeners = new Set<() => void>();
  const put = (next: readonly Upload[]) => {
    list = next;
    for (const changed of [...listeners]) changed();
  };
  const change = (id: string, fields: Partial<Upload>) =>
    put(list.map((one) => (one.id === id ? { ...one, ...fields } : one)));

  const run = async (): Promise<void> => {
    const next = list.find(({ isDone, refusal }) => !isDone && !refusal);
    if (running || isClosed || !next) return;
    const { id, name, mime, file } = next;
    const controller = (running = new AbortController());
    const read = async (offset: number, length: number) =>
      new Uint8Array(await file.slice(offset, offset + length).arrayBuffer());
    const about = { id, name, size: file.size, ...(mime === '' ? {} : { mime }), read };
    try {
      await sendFile(client, deviceId, about, {
        signal: controller.signal,
        // A machine that is offline can come back; the person can remove the file.
        patienceMs: Infinity,
        onProgress: (received) => change(id, { received }),
      });
      change(id, { isDone: true, received: file.size });
    } catch (error) {
      if (!controller.signal.aborted) change(id, { refusal: refusalOf(error) });
    }
    running = undefined;
    void run();
  };

  void keptFiles(draft).then((kept) => {
    if (isClosed || kept.length === 0) return;
    const ids = new Set(list.map(({ id }) => id));
    put([...kept.filter(({ id }) => !ids.has(id)).map((one) => ({ ...one, received: 0, isDone: false })), ...list]);
    void run();
  });

  const leave = (ids: ReadonlySet<string>) => {
    for (const id of ids) void forgetFile(id);
    put(list.filter(({ id }) => !ids.has(id)));
  };

  return {
    list: () => list,
    subscribe(changed) {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
    add(file) {
      const one = { id: newFileId(), draft, name: file.name, mime: file.type, file, at: Date.now() };
      put([...list, { ...one, received: 0, isDone: false }]);
      void keepFile(one);
      void run();
    },
    remove(id) {
      const isNext = list.find(({ isDone, refusal }) => !isDone && !refusal)?.id === id;
      leave(new Set([id]));
      client.call('dropFile', { params: { id: deviceId, fileId: id } }).catch(() => undefined);
      if (isNext) running?.abort();
    },
    ready: () =>
      new Promise((resolve, reject) => {
        const look = () => {
          const refused = list.find(({ refusal }) => refusal);
          if (!refused && !list.every(({ isDone }) => isDone)) return;
          listeners.delete(look);
          if (refused) reject(refused.refusal!);
          else resolve(list.map(({ id }) => id));
        };
        listeners.add(look);
        look();
      }),
    sent: (ids) => leave(new Set(ids)),
    rename(next) {
      if (next === draft) return;
      draft = next;
      for (const one of list) void keepFile({ ...one, draft });
    },
    close() {
      isClosed = true;
      running?.abort();
    },
  };
}
