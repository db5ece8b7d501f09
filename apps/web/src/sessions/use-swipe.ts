/** A row that is pushed aside by a finger: to the right it is read or unread, to the left it is archived. Its menu does the same. */
import { type PointerEvent, useRef } from 'react';

/** The swipe counts from this distance. */
const enoughPx = 88;
/** Less is a tap, or a scroll. */
const beganPx = 14;
/** The edges belong to the browser: back and forward. */
const edgePx = 24;

type Side = 'right' | 'left';

/** Handlers of the `li`; `data-swipe` holds the visible side for the style, and `data-enough` that a release would act. */
export function useSwipe(onSwipe: (side: Side) => void) {
  const start = useRef<{ x: number; y: number; isSwipe: boolean }>(undefined);
  const sideOf = (by: number): Side => (by > 0 ? 'right' : 'left');
  const end = (place: HTMLElement) => {
    start.current = undefined;
    place.style.removeProperty('--by');
    delete place.dataset['swipe'];
    delete place.dataset['enough'];
  };
  return {
    onPointerDown: ({ pointerType, isPrimary, clientX: x, clientY: y }: PointerEvent<HTMLElement>) => {
      const isInside = x > edgePx && x < window.innerWidth - edgePx;
      start.current = pointerType === 'touch' && isPrimary && isInside ? { x, y, isSwipe: false } : undefined;
    },
    onPointerMove: ({ currentTarget: place, clientX, clientY, pointerId }: PointerEvent<HTMLElement>) => {
      const from = start.current;
      if (!from) return;
      const by = clientX - from.x;
      if (!from.isSwipe) {
        if (Math.abs(clientY - from.y) > beganPx) start.current = undefined;
        if (Math.abs(by) < beganPx || Math.abs(by) < Math.abs(clientY - from.y)) return;
        from.isSwipe = true;
        place.setPointerCapture(pointerId);
      }
      place.style.setProperty('--by', `${by}px`);
      place.dataset['swipe'] = sideOf(by);
      if (Math.abs(by) >= enoughPx) place.dataset['enough'] = '';
      else delete place.dataset['enough'];
    },
    onPointerUp: ({ currentTarget: place, clientX }: PointerEvent<HTMLElement>) => {
      const from = start.current;
      const by = from?.isSwipe ? clientX - from.x : 0;
      end(place);
      if (Math.abs(by) >= enoughPx) onSwipe(sideOf(by));
    },
    onPointerCancel: ({ currentTarget }: PointerEvent<HTMLElement>) => end(currentTarget),
  };
}
