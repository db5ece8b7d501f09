/** Buttons and rows are taken away under the focus. It stays near: a person with a keyboard never starts again at the top of the page. */
import { type RefObject, useEffect, useRef } from 'react';

/** Where an element was: its parent and its index there, then the same of its parent, and so on. */
type Path = readonly (readonly [parent: Element, index: number])[];
type Next = (root: HTMLElement, index: number, path: Path) => HTMLElement | null | undefined;

function pathOf(element: Element, root: Element): Path {
  const { parentElement: parent } = element;
  if (element === root || !parent) return [];
  return [[parent, [...parent.children].indexOf(element)], ...pathOf(parent, root)];
}

const ways = 'a[href], button, summary';

/** A link or button at the same place now, else the nearest one around it; else the heading of the page. */
export const nearest: Next = (root, _, path) => {
  for (const [parent, index] of path) {
    if (parent === root) break;
    const now = parent.children[Math.min(index, parent.children.length - 1)];
    const found = now?.querySelector<HTMLElement>(ways) ?? parent.querySelector<HTMLElement>(ways);
    if (found && parent.isConnected) return found;
  }
  return root.querySelector('h1');
};

/** @param next gets the focus after it was lost; `index` is where in the root the last focused list item was */
export function useKeptFocus(root: RefObject<HTMLElement | null>, next: Next): void {
  const newest = useRef(next);
  useEffect(() => {
    newest.current = next;
  });
  useEffect(() => {
    const box = root.current;
    if (!box) return undefined;
    let focused: Element | undefined;
    let at = 0;
    let path: Path = [];
    const onFocus = ({ target }: FocusEvent) => {
      focused = target as Element;
      path = pathOf(focused, box);
      const index = [...box.querySelectorAll('li')].indexOf(focused.closest('li')!);
      if (index !== -1) at = index;
    };
    // Focus that moves elsewhere is not lost; the focus of a removed element moves nowhere.
    const onBlur = ({ target }: FocusEvent) =>
      void setTimeout(() => {
        if (focused === target && focused?.isConnected) focused = undefined;
      });
    const observer = new MutationObserver(() => {
      if (!focused || focused.isConnected || document.activeElement !== document.body) return;
      focused = undefined;
      newest.current(box, at, path)?.focus({ preventScroll: true });
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
