/** Keys that a person presses while the palette loads over a slow connection. They belong to its field, not to the page below. */
import { type RefObject, useLayoutEffect, useRef } from 'react';
import { searchCharacters } from '../sessions/use-search.ts';
import { isComposing } from '../ui/composing.ts';

export interface TypedAhead {
  text: string;
  /** Enter came after the text: the first result is opened. */
  isEntered: boolean;
}

const nothing: TypedAhead = { text: '', isEntered: false };

/** Collects keys from when `isLoading` becomes true. Escape calls `onCancel`. Keys with Control, Alt or Meta stay the page's and the browser's. */
export function useTypedAhead(isLoading: boolean, onCancel: () => void): RefObject<TypedAhead> {
  const typed = useRef(nothing);
  const cancel = useRef(onCancel);
  useLayoutEffect(() => {
    cancel.current = onCancel;
  });
  useLayoutEffect(() => {
    if (!isLoading) return undefined;
    const now = { ...nothing };
    typed.current = now;
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isComposing(event)) return;
      if (event.key === 'Escape') cancel.current();
      else if (event.key === 'Enter') now.isEntered = true;
      else if (event.key === 'Backspace') now.text = now.isEntered ? now.text : now.text.slice(0, -1);
      else if (event.key.length !== 1) return;
      // The result that Enter opens was chosen by the letters before it.
      else if (!now.isEntered) now.text = (now.text + event.key).slice(0, searchCharacters);
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    // On the way down: before the field that has the focus, and before the single keys.
    window.addEventListener('keydown', onKey, true);
    return () => {
      window.removeEventListener('keydown', onKey, true);
      // The palette that was waited for has them; the next one begins empty.
      typed.current = nothing;
    };
  }, [isLoading]);
  return typed;
}
