/** A long press or a right click on a button. A browser without a menu for a press of the finger (Safari on iOS) gets a timer. */
import type { MouseEvent, PointerEvent } from 'react';

const holdMs = 500;
let timer: ReturnType<typeof setTimeout> | undefined;
let wasHeld = false;

const stop = () => clearTimeout(timer);

/** The handlers. The click that ends a long press does nothing. */
export const holding = (onHold: () => unknown) => ({
  onContextMenu: (event: MouseEvent) => {
    event.preventDefault();
    stop();
    if (!wasHeld) onHold();
    wasHeld = event.button !== 2;
  },
  onPointerDown: (event: PointerEvent) => {
    wasHeld = false;
    stop();
    if (event.pointerType !== 'mouse')
      timer = setTimeout(() => {
        wasHeld = true;
        onHold();
      }, holdMs);
  },
  onPointerUp: stop,
  onPointerCancel: stop,
  onClickCapture: (event: MouseEvent) => {
    if (wasHeld) event.preventDefault();
    wasHeld = false;
  },
});
