/** Holds the visible line still when a newer comparison has other lines above it. */
import { type RefObject, useCallback, useLayoutEffect, useRef } from 'react';

interface Place {
  /** The first visible row among all rows, its text and that of the next one. */
  index: number;
  texts: readonly (string | undefined)[];
  topPx: number;
}

const boxOf = ({ current }: RefObject<HTMLElement | null>) => current?.closest('.main-pane');
const rowsIn = (box: Element) => [...box.querySelectorAll('.diff .ln')];
const topOf = (row: Element) => row.getBoundingClientRect().top;
/** Without the number, which differs after lines were added above. */
const textOf = (row: Element | undefined) => row?.lastElementChild?.textContent ?? undefined;
const textsAt = (rows: readonly Element[], index: number) => [textOf(rows[index]), textOf(rows[index + 1])];

/**
 * @param content an element inside the scrolling pane
 * @param shown the drawn difference; another value restores the place
 * @returns notes the place: call it right before `shown` changes
 */
export function useReadingPlace(content: RefObject<HTMLElement | null>, shown: unknown): () => void {
  const place = useRef<Place>(undefined);
  useLayoutEffect(() => {
    const { current: before } = place;
    place.current = undefined;
    const box = boxOf(content);
    if (!before || !box) return;
    const rows = rowsIn(box);
    const isSame = (_: Element, index: number) => textsAt(rows, index).every((text, n) => text === before.texts[n]);
    const nearest = rows
      .flatMap((row, index) => (isSame(row, index) ? [{ row, away: Math.abs(index - before.index) }] : []))
      .sort((one, other) => one.away - other.away)[0];
    if (nearest) box.scrollTop += topOf(nearest.row) - before.topPx;
  }, [content, shown]);
  return useCallback(() => {
    const box = boxOf(content);
    if (!box || box.scrollTop === 0) return;
    const rows = rowsIn(box);
    const edgePx = box.querySelector('.file-bar')?.getBoundingClientRect().bottom ?? topOf(box);
    const index = rows.findIndex((row) => topOf(row) >= edgePx);
    if (index !== -1) place.current = { index, texts: textsAt(rows, index), topPx: topOf(rows[index]!) };
  }, [content]);
}
