/** The changes of a session from its machine, or the edits that its agent reported. */
import { useCallback, useEffect, useRef, useState } from 'react';
import type { Client } from '@relay/client';
import type { Change, ChangeList, ChangeScope, Diff, FileDiff, Item } from '@relay/protocol';
import { type Refusal, refusalOf } from '../api/refusal.ts';
import { keepsLast, loadLast } from '../offline/kept.ts';
import { useFrames, useRooms } from '../rooms.ts';
import { useResource } from '../ui/resource.ts';

export interface Compared {
  list: ChangeList;
  /** Why these are the edits that the agent reported. */
  refusal?: Refusal;
  edits?: readonly Edited[];
}

const instead = new Set(['NOT_SUPPORTED_BY_DEVICE', 'CHANGES_TOO_LARGE', 'DEVICE_OFFLINE', 'DEVICE_TIMEOUT']);
const restMs = 3000;
const slowMs = 3000;
const itemsMax = 200;

async function compare(client: Client, id: string, scope: ChangeScope, turn: string | undefined): Promise<Compared> {
  try {
    const query = { scope, ...(turn === undefined ? {} : { turn }) };
    let list = await client.call('readChanges', { params: { id }, query });
    // All pages: a comparison has 10,000 files at most.
    for (let last = list.files.at(-1); list.more && last && list.files.length < 2000; last = list.files.at(-1)) {
      const next = await client.call('readChanges', { params: { id }, query: { ...query, after: last.path } });
      list = { ...next, files: [...list.files, ...next.files] };
      if (next.files.length === 0) break;
    }
    return { list };
  } catch (error) {
    const refusal = refusalOf(error);
    if (!instead.has(refusal.code)) throw error;
    const edits = editsOf(
      await client
        .call('readMessages', { params: { id }, query: { parts: '1', limit: itemsMax } })
        .then(({ messages }) => messages, () => keptItems(id)), // prettier-ignore
    );
    return { list: { scope: 'edits', scopes: ['edits'], files: edits.map(({ change }) => change) }, refusal, edits };
  }
}

/** The newest items that this browser keeps, for a machine that is offline. */
async function keptItems(id: string): Promise<readonly Partial<Item>[]> {
  const last = keepsLast() ? await (await loadLast()).lastConversation(id) : undefined;
  return last?.areItems ? last.messages : [];
}

/** Reads again when the session changed, at most every 3 s and while the page is in sight. */
export function useChanges(id: string, scope: ChangeScope, turn: string | undefined) {
  const { client } = useRooms();
  const key = `${id} ${scope} ${turn ?? ''}`;
  const resource = useResource<Compared & { key: string }>(key, async () => ({
    key,
    ...(await compare(client, id, scope, turn)),
  }));
  const [version, setVersion] = useState(0);
  const { reload } = resource;
  const refresh = useCallback(() => {
    reload();
    setVersion((now) => now + 1);
  }, [reload]);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const isStale = useRef(false);
  const later = useCallback(() => {
    isStale.current = true;
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      if (document.visibilityState !== 'visible') return;
      isStale.current = false;
      refresh();
    }, restMs);
  }, [refresh]);
  useFrames((frame) => {
    const about = frame as { type: string; sessionId?: string; session?: { id: string } };
    if ((about.sessionId ?? about.session?.id) === id && about.type !== 'settings_changed') later();
  });
  useEffect(() => {
    const onSight = () => document.visibilityState === 'visible' && isStale.current && later();
    document.addEventListener('visibilitychange', onSight);
    return () => {
      document.removeEventListener('visibilitychange', onSight);
      clearTimeout(timer.current);
      timer.current = undefined;
    };
  }, [later]);
  return { resource, refresh, version, isSlow: useIsSlow(resource.kind === 'loading') };
}

/** Whether the list loads for long enough to need an explanation. */
function useIsSlow(isLoading: boolean): boolean {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    if (!isLoading) return undefined;
    const timer = setTimeout(() => setSlow(true), slowMs);
    return () => {
      clearTimeout(timer);
      setSlow(false);
    };
  }, [isLoading]);
  return isSlow;
}

/** All of the lines of one file. */
export async function readDiff(
  client: Client,
  id: string,
  target: { path: string; scope: ChangeScope; turn?: string | undefined },
): Promise<FileDiff> {
  const { path, scope, turn } = target;
  const query = { path, scope, ...(turn === undefined ? {} : { turn }) };
  let diff = await client.call('readDiff', { params: { id }, query });
  while (diff.next !== undefined) {
    const next = await client.call('readDiff', { params: { id }, query: { ...query, from: diff.next } });
    diff = { ...next, hunks: [...diff.hunks, ...next.hunks] };
    if (next.hunks.length === 0) break;
  }
  return diff;
}

interface Edited {
  change: Change;
  hunks: FileDiff['hunks'];
}

/** The edits that the agent reported, from the newest items: where no machine compares files. */
function editsOf(items: readonly Partial<Item>[]): Edited[] {
  const edits = new Map<string, Edited>();
  for (const { part } of items) {
    if (part?.kind !== 'tool' || part['status'] !== 'completed' || !Array.isArray(part['diffs'])) continue;
    for (const diff of part['diffs'] as Diff[]) {
      const previous = edits.get(diff.path);
      const { added = 0, removed = 0, change = diff.change } = previous?.change ?? {};
      edits.set(diff.path, {
        change: {
          path: diff.path,
          change: diff.change === 'edit' ? change : diff.change,
          added: added + diff.added,
          removed: removed + diff.removed,
          ...(diff.from === undefined ? {} : { from: diff.from }),
        },
        hunks: [...(previous?.hunks ?? []), ...(diff.hunks ?? [])],
      });
    }
  }
  return [...edits.values()];
}
