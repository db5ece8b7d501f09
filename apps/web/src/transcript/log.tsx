/**
 * The log of a session: opens at its last row, follows there, and never moves the text that a person reads. The page contains
 * only the visible rows, and a little more.
 */
import {
  type Ref,
  useCallback,
  useEffect,
  useImperativeHandle,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { ArrowDown } from './icons.tsx';
import { useLocationProperty } from 'wouter/use-browser-location';
import { words } from '../catalogue.ts';
import { isInSight, onSight } from '../ui/sight.ts';
import { Announcer } from './announcer.tsx';
import { ContentsContext, useSessionContents } from './contents.ts';
import { GrowthContext, RowView } from './item-view.tsx';
import type { LogItem } from './items.ts';
import { keepRead, lastRead } from './places.ts';
import { noMemory, rowsOf } from './rows.ts';
import type { Texts } from './texts.ts';
import { useReading } from './use-reading.ts';

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

/** The item after the last item read when the page was opened. */
function useNewFrom(sessionId: string, items: readonly LogItem[]): string | undefined {
  const [read] = useState(() => lastRead(sessionId));
  const found = useRef<string>(undefined);
  if (found.current === undefined && read !== undefined) {
    const at = items.findIndex(({ uuid }) => uuid === read);
    // Your own messages are not new to you.
    if (at !== -1) found.current = items[at + 1]?.role === 'USER' ? '' : (items[at + 1]?.uuid ?? '');
  }
  return found.current === '' ? undefined : found.current;
}

export function Log({ sessionId, items, texts, hasMore, onOlder, onSeen, ref }: LogProps) {
  const contents = useSessionContents(sessionId);
  const [memory] = useState(noMemory);
  const isVisible = useSyncExternalStore(onSight, isInSight);
  const newFrom = useNewFrom(sessionId, items);
  const [earlierFailed, setEarlierFailed] = useState(false);
  const isLoading = useRef(false);
  const loadOlder = useCallback(() => {
    if (isLoading.current) return;
    isLoading.current = true;
    const failed = (hasFailed: boolean) => {
      isLoading.current = false;
      setEarlierFailed(hasFailed);
    };
    onOlder().then(
      (value) => failed(value === false),
      () => failed(true),
    );
  }, [onOlder]);
  const rows = useMemo(
    () => rowsOf(items, { memory, hasMore, earlierFailed: earlierFailed && hasMore, newFrom }),
    [items, memory, hasMore, earlierFailed, newFrom],
  );
  const newest = items.at(-1)?.uuid;
  const older = hasMore && !earlierFailed ? loadOlder : undefined;
  const { frame, virtualizer, away, atEnd, onScroll, toEnd } = useReading(sessionId, rows, newest, older);

  // Remembers the newest item read.
  useEffect(() => {
    if (newest === undefined || away !== undefined || !atEnd.current || !isVisible) return;
    keepRead(sessionId, newest);
    onSeen();
  }, [sessionId, newest, away, atEnd, isVisible, onSeen]);

  // `measureElement` leaves it to an observer while the list scrolls, and following is scrolling.
  const grew = useCallback(
    (element: HTMLElement) => {
      const entry = element.closest<HTMLElement>('.entry');
      const index = Number(entry?.dataset['index']);
      if (entry && rows[index]?.key === entry.dataset['key']) virtualizer.resizeItem(index, entry.offsetHeight);
    },
    [rows, virtualizer],
  );
  // A hit of the search leads to its message.
  const hash = useLocationProperty(() => window.location.hash);
  useEffect(() => {
    if (hash !== '')
      void import('./to-message.ts').then(({ toMessage }) => toMessage(rows, virtualizer, atEnd, frame, older));
  }, [hash, rows, virtualizer, atEnd, frame, older]);
  useImperativeHandle(ref, () => ({ toEnd }));
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
        onScroll={onScroll}
      >
        <GrowthContext value={grew}>
          <ContentsContext value={contents}>
            <div className="lane" ref={virtualizer.containerRef}>
              {virtualizer.getVirtualItems().map(({ index, key }) => {
                const row = rows[index];
                return (
                  row && (
                    <div key={key} className="entry" data-index={index} data-key={key} ref={virtualizer.measureElement}>
                      <RowView row={row} texts={texts} onEarlier={loadOlder} />
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
