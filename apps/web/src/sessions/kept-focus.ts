/** Rows come and go under the focus. It stays in the list: on the row that is now where the lost one was. */
import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';

const places = 'li';
const focusable = 'a[href], input, button';

export function useKeptFocus(root: RefObject<HTMLElement | null>): void {
  const focused = useRef<Element>(undefined);
  const at = useRef(0);
  useEffect(() => {
    const box = root.current;
    if (!box) return undefined;
    const onFocus = ({ target }: FocusEvent) => {
      focused.current = target as Element;
      const index = [...box.querySelectorAll(places)].indexOf((target as Element).closest('li')!);
      if (index !== -1) at.current = index;
    };
    // Focus that goes elsewhere is not lost; that of an element which is taken away does not go anywhere.
    const onBlur = ({ target }: FocusEvent) =>
      void setTimeout(() => {
        if (focused.current === target && focused.current.isConnected) focused.current = undefined;
      });
    box.addEventListener('focusin', onFocus);
    box.addEventListener('focusout', onBlur);
    return () => {
      box.removeEventListener('focusin', onFocus);
      box.removeEventListener('focusout', onBlur);
    };
  }, [root]);
  // After every change of the list.
  useLayoutEffect(() => {
    if (!focused.current || focused.current.isConnected || document.activeElement !== document.body) return;
    focused.current = undefined;
    const all = root.current?.querySelectorAll(places) ?? [];
    const next = all[Math.min(at.current, all.length - 1)]?.querySelector<HTMLElement>(focusable);
    (next ?? root.current?.querySelector<HTMLElement>('input[type="search"]'))?.focus({ preventScroll: true });
  });
}
