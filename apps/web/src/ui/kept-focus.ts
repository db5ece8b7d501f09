/** Buttons and rows are taken away under the focus. It stays near: a person with a keyboard never starts again at the top of the page. */
import { type RefObject, useEffect, useRef } from 'react';

/** @param next gets the focus after it was lost; `index` is where in the root the last focused list item was */
export function useKeptFocus(
  root: RefObject<HTMLElement | null>,
  next: (root: HTMLElement, index: number) => HTMLElement | null | undefined,
): void {
  const newest = useRef(next);
  useEffect(() => {
    newest.current = next;
  });
  useEffect(() => {
    const box = root.current;
    if (!box) return undefined;
    let focused: Element | undefined;
    let at = 0;
    const onFocus = ({ target }: FocusEvent) => {
      focused = target as Element;
      const index = [...box.querySelectorAll('li')].indexOf(focused.closest('li')!);
      if (index !== -1) at = index;
    };
    // Focus that goes elsewhere is not lost; that of an element which is taken away does not go anywhere.
    const onBlur = ({ target }: FocusEvent) =>
      void setTimeout(() => {
        if (focused === target && focused?.isConnected) focused = undefined;
      });
    const observer = new MutationObserver(() => {
      if (!focused || focused.isConnected || document.activeElement !== document.body) return;
      focused = undefined;
      newest.current(box, at)?.focus({ preventScroll: true });
    });
    box.addEventListener('focusin', onFocus);
    box.addEventListener('focusout', onBlur);
    observer.observe(box, { childList: true, subtree: true });
    return () => {
      box.removeEventListener('focusin', onFocus);
      box.removeEventListener('focusout', onBlur);
      observer.disconnect();
    };
  }, [root]);
}
