/**
 * The log of a session: opens at its end, follows there, and never moves what a person reads. Only what is in view, and a little more, is in
 * the page.
 */
import {
  type Ref,
  useCallback,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown } from 'lucide-react';
import { words } from '../catalogue.ts';
import { Announcer } from './announcer.tsx';
import { ContentsContext, useSessionContents } from './contents.ts';
import { GrowthContext, RowView } from './item-view.tsx';
import type { LogItem } from './items.ts';
import { type Place, keepPlace, keepRead, lastRead, placeOf } from './places.ts';
import { type Row, noMemory, rowsOf } from './rows.ts';
import type { Texts } from './texts.ts';

/** Nearer than this is at the end. */
const endPx = 80;
/** Older pages are loaded this many screens ahead. */
const screensAhead = 1.5;

export interface LogHandle {
  toEnd: () => void;
}

interface LogProps {
  sessionId: string;
  items: readonly LogItem[];
  texts: Texts;
  hasMore: boolean;
  /** Rejects, or resolves with false, when they did not come. */
  onOlder: () => Promise<unknown>;
  /** The newest item is in view, on a page that is in sight. Called again when it is another function. */
  onSeen: () => void;
  ref?: Ref<LogHandle>;
}

function estimate(row: Row | undefined): number {
  if (row?.kind === 'item') {
    const lines = row.item.content.split('\n', 400).reduce((sum, line) => sum + 1 + Math.floor(line.length / 90), 0);
    return row.item.part.kind === 'user' ? 60 + Math.min(lines, 13) * 22 : 8 + lines * 24;
  }
  if (row?.kind === 'tools') return row.items.length * 42;
  return row?.kind === 'folded' ? 32 : 20;
}

/** The item that follows the newest one that was read when the page was opened. */
function useNewFrom(sessionId: string, items: readonly LogItem[]): string | undefined {
  const [read] = useState(() => lastRead(sessionId));
  const found = useRef<string>(undefined);
  if (found.current === undefined && read !== undefined) {
    const at = items.findIndex(({ uuid }) => uuid === read);
    // Your own words are not new to you.
    if (at !== -1) found.current = items[at + 1]?.role === 'USER' ? '' : (items[at + 1]?.uuid ?? '');
  }
  return found.current === '' ? undefined : found.current;
}

const onVisibility = (listener: () => void) => {
  document.addEventListener('visibilitychange', listener);
  return () => document.removeEventListener('visibilitychange', listener);
};
const useVisible = (): boolean => useSyncExternalStore(onVisibility, () => document.visibilityState === 'visible');

export function Log({ sessionId, items, texts, hasMore, onOlder, onSeen, ref }: LogProps) {
  const frame = useRef<HTMLDivElement>(null);
  const contents = useSessionContents(sessionId);
  const [memory] = useState(noMemory);
  const isVisible = useVisible();
  const newFrom = useNewFrom(sessionId, items);
  const [earlierFailed, setEarlierFailed] = useState(false);
  const rows = useMemo(
    () => rowsOf(items, { memory, hasMore, earlierFailed: earlierFailed && hasMore, newFrom }),
    [items, memory, hasMore, earlierFailed, newFrom],
  );
  const [left] = useState(() => placeOf(sessionId));
  const place = useRef<Place>(left);
  const virtualizer = useVirtualizer<HTMLDivElement, HTMLDivElement>({
    count: rows.length,
    getScrollElement: () => frame.current,
    getItemKey: useCallback((index: number) => rows[index]?.key ?? index, [rows]),
    estimateSize: useCallback((index: number) => estimate(rows[index]), [rows]),
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: endPx,
    overscan: 6,
    gap: 14,
    paddingStart: 16,
    paddingEnd: 20,
    ...(left ? { initialMeasurementsCache: left.sizes } : {}),
    directDomUpdates: true,
    directDomUpdatesMode: 'position',
  });

  // The first position, before anything is painted.
  const isPlaced = useRef(false);
  const atEnd = useRef(true);
  useLayoutEffect(() => {
    if (isPlaced.current || rows.length === 0) return;
    isPlaced.current = true;
    const kept = left ? rows.findIndex(({ key }) => key === left.key) : -1;
    const line = rows.findIndex(({ kind }) => kind === 'new');
    if (left && kept !== -1) {
      atEnd.current = false;
      virtualizer.scrollToOffset((virtualizer.getOffsetForIndex(kept, 'start')?.[0] ?? 0) + left.above);
    } else if (line !== -1 && linesAfter(rows, line) > (frame.current?.clientHeight ?? 0)) {
      atEnd.current = false;
      virtualizer.scrollToIndex(line, { align: 'start' });
    } else virtualizer.scrollToEnd();
  }, [rows, left, virtualizer]);

  const [away, setAway] = useState<{ isFar: boolean; since: string | undefined }>();
  const newest = items.at(-1)?.uuid;
  const look = useCallback(() => {
    const box = frame.current;
    if (!box) return;
    const distance = box.scrollHeight - box.clientHeight - box.scrollTop;
    atEnd.current = distance < endPx;
    const first = virtualizer.getVirtualItems().find(({ end }) => end > box.scrollTop);
    if (first)
      place.current = {
        key: String(first.key),
        above: box.scrollTop - first.start,
        sizes: virtualizer.takeSnapshot(),
      };
    const isFar = distance > box.clientHeight;
    setAway((now) => {
      if (atEnd.current) return undefined;
      return now?.isFar === isFar ? now : { isFar, since: now ? now.since : newest };
    });
  }, [newest, virtualizer]);

  // A question above the composer, or a keyboard, takes height from the log: the end stays in sight.
  useEffect(() => {
    const box = frame.current;
    if (!box) return undefined;
    const observer = new ResizeObserver(() => {
      if (atEnd.current) box.scrollTop = box.scrollHeight;
    });
    observer.observe(box);
    return () => observer.disconnect();
  }, []);

  const isLoading = useRef(false);
  const loadOlder = useCallback(async () => {
    if (isLoading.current) return;
    isLoading.current = true;
    const came = await onOlder().then(
      (value) => value !== false,
      () => false,
    );
    isLoading.current = false;
    setEarlierFailed(!came);
  }, [onOlder]);
  const loadAhead = useCallback(() => {
    const box = frame.current;
    if (!box || !hasMore || earlierFailed || !isPlaced.current) return;
    if (box.scrollTop < box.clientHeight * screensAhead) void loadOlder();
  }, [hasMore, earlierFailed, loadOlder]);
  useEffect(loadAhead, [loadAhead, rows]);
  const onEarlier = useCallback(() => void loadOlder(), [loadOlder]);

  // Remembers the newest item read and the scroll position for the next visit.
  useEffect(() => {
    if (newest === undefined || away !== undefined || !atEnd.current || !isVisible) return;
    keepRead(sessionId, newest);
    onSeen();
  }, [sessionId, newest, away, isVisible, onSeen]);
  useLayoutEffect(() => () => keepPlace(sessionId, atEnd.current ? undefined : place.current), [sessionId]);

  // `measureElement` leaves it to an observer while the list scrolls, and following is scrolling.
  const grew = useCallback(
    (element: HTMLElement) => {
      const entry = element.closest<HTMLElement>('.entry');
      const index = Number(entry?.dataset['index'] ?? Number.NaN);
      if (entry && rows[index]?.key === entry.dataset['key']) virtualizer.resizeItem(index, entry.offsetHeight);
    },
    [rows, virtualizer],
  );
  const toEnd = useCallback(() => {
    atEnd.current = true;
    virtualizer.scrollToEnd();
  }, [virtualizer]);
  useImperativeHandle(ref, () => ({ toEnd }), [toEnd]);
  const since = away?.since;
  const below = since === undefined ? 0 : items.length - 1 - items.findLastIndex(({ uuid }) => uuid === since);
  return (
    <div className="log-frame">
      <div
        ref={frame}
        className="log"
        role="log"
        aria-live="off"
        aria-label={words.log}
        tabIndex={0}
        onScroll={() => {
          look();
          loadAhead();
        }}
      >
        <GrowthContext value={grew}>
          <ContentsContext value={contents}>
            <div className="lane" ref={virtualizer.containerRef}>
              {virtualizer.getVirtualItems().map(({ index, key }) => {
                const row = rows[index];
                return (
                  row && (
                    <div key={key} className="entry" data-index={index} data-key={key} ref={virtualizer.measureElement}>
                      <RowView row={row} texts={texts} onEarlier={onEarlier} />
                    </div>
                  )
                );
              })}
            </div>
          </ContentsContext>
        </GrowthContext>
      </div>
      {away && (below > 0 || away.isFar) && (
        <button
          type="button"
          className="small jump"
          aria-label={below > 0 ? undefined : words.toTheEnd}
          onClick={toEnd}
        >
          <ArrowDown className="i" aria-hidden /> {below > 0 && words.newBelow(below)}
        </button>
      )}
      <Announcer items={items} />
    </div>
  );
}

/** About how high what follows a row is. */
const linesAfter = (rows: readonly Row[], from: number): number =>
  rows.slice(from).reduce((sum, row) => sum + estimate(row) + 14, 0);
