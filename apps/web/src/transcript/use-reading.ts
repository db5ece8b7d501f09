/** Where a person reads in the log: it opens where they left, follows its last row, and never moves the text they read. */
import { type UIEvent, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ScrollPlace, keepPlace, placeOf } from './places.ts';
import { type Box, distanceToEnd, endPx, follows } from './following.ts';
import { linesShown } from './parts/diff-view.tsx';
import type { TranscriptRow } from './rows.ts';

/** A person moves the log by these; a finger that has left it moves it on for a while. */
const touches = ['wheel', 'touchmove', 'keydown', 'pointermove'] as const;
const touchMs = 1500;
/** Older pages are loaded this many screens ahead. */
const screensAhead = 1.5;

function estimate(row: TranscriptRow | undefined): number {
  if (row?.kind === 'item') {
    const lines = row.item.content.split('\n', 400).reduce((sum, line) => sum + 1 + Math.floor(line.length / 90), 0);
    return row.item.part.kind === 'user' ? 60 + Math.min(lines, 13) * 22 : 8 + lines * 24;
  }
  if (row?.kind === 'tools')
    return row.calls.reduce(
      (sum, { tool }) => sum + 42 + tool.diffs.reduce((lines, diff) => lines + linesShown(diff), 0) * 20,
      0,
    );
  return row?.kind === 'folded' ? 32 : 20;
}

/** Estimates the height of the rows after a row. */
const linesAfter = (rows: readonly TranscriptRow[], from: number): number =>
  rows.slice(from).reduce((sum, row) => sum + estimate(row) + 14, 0);

/**
 * `newest`: the newest item. `onNearStart`: older items are soon in view. `away`: the person is not at the bottom, and left it
 * when `since` was the newest item.
 */
export function useReading(
  sessionId: string,
  rows: readonly TranscriptRow[],
  newest: string | undefined,
  onNearStart: (() => void) | undefined,
) {
  const frame = useRef<HTMLDivElement>(null);
  const [left] = useState(() => placeOf(sessionId));
  const place = useRef<ScrollPlace>(left);
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
    initialMeasurementsCache: left?.sizes ?? [],
    directDomUpdates: true,
    directDomUpdatesMode: 'position',
  });

  // The first position, before anything is painted.
  const isPlaced = useRef(false);
  const atEnd = useRef(true);
  useLayoutEffect(() => {
    if (isPlaced.current || rows.length === 0) return;
    isPlaced.current = true;
    const kept = rows.findIndex(({ key }) => key === left?.key);
    const line = rows.findIndex(({ kind }) => kind === 'new');
    if (left && kept !== -1) {
      atEnd.current = false;
      virtualizer.scrollToOffset((virtualizer.getOffsetForIndex(kept, 'start')?.[0] ?? 0) + left.above);
    } else if (line !== -1 && linesAfter(rows, line) > frame.current!.clientHeight) {
      atEnd.current = false;
      virtualizer.scrollToIndex(line, { align: 'start' });
    } else virtualizer.scrollToEnd();
  }, [rows, left, virtualizer]);
  useLayoutEffect(() => () => keepPlace(sessionId, atEnd.current ? undefined : place.current), [sessionId]);

  // A question above the composer, or a keyboard, takes height from the log, and rows grow after they were measured: the last row stays in sight.
  useEffect(() => {
    const box = frame.current!;
    const observer = new ResizeObserver(() => {
      if (atEnd.current) box.scrollTop = box.scrollHeight;
    });
    observer.observe(box);
    observer.observe(box.firstElementChild!);
    return () => observer.disconnect();
  }, []);

  const loadAhead = useCallback(() => {
    const box = frame.current!;
    if (isPlaced.current && box.scrollTop < box.clientHeight * screensAhead) onNearStart?.();
  }, [onNearStart]);
  useEffect(loadAhead, [loadAhead, rows]);

  const [away, setAway] = useState<{ isFar: boolean; since: string | undefined }>();
  const touchedAt = useRef(-Infinity);
  useEffect(() => {
    const box = frame.current!;
    const touch = () => void (touchedAt.current = performance.now());
    for (const name of touches) box.addEventListener(name, touch, { passive: true });
    return () => {
      for (const name of touches) box.removeEventListener(name, touch);
    };
  }, []);
  const last = useRef<Box>({ scrollTop: 0, scrollHeight: 0, clientHeight: 0 });
  const onScroll = ({ currentTarget: box }: UIEvent<HTMLElement>) => {
    const { scrollTop, scrollHeight, clientHeight } = box;
    const now = { scrollTop, scrollHeight, clientHeight };
    atEnd.current = follows(atEnd.current, last.current, now, performance.now() - touchedAt.current < touchMs);
    last.current = now;
    const distance = distanceToEnd(now);
    if (atEnd.current && distance >= endPx) box.scrollTop = scrollHeight;
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
    loadAhead();
  };
  const toEnd = () => {
    atEnd.current = true;
    virtualizer.scrollToEnd();
  };
  return { frame, virtualizer, away, atEnd, onScroll, toEnd };
}
