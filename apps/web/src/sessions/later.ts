/** Something that is done in ten seconds unless the person takes it back. */
import { useCallback, useEffect, useRef, useState } from 'react';

const undoMs = 10_000;

export interface Later {
  /** Text of the planned change. */
  text: string | undefined;
  /** Runs the change that waits already, then holds this one back. */
  plan: (text: string, work: () => void, undone: () => void) => void;
  undo: () => void;
}

export function useLater(): Later {
  const [text, setText] = useState<string>();
  const planned = useRef<{ timer: ReturnType<typeof setTimeout>; work: () => void; undone: () => void }>(undefined);
  const settle = useCallback((how: 'work' | 'undone') => {
    const now = planned.current;
    planned.current = undefined;
    clearTimeout(now?.timer);
    setText(undefined);
    now?.[how]();
  }, []);
  useEffect(() => {
    const onHide = () => settle('work');
    window.addEventListener('pagehide', onHide);
    return () => window.removeEventListener('pagehide', onHide);
  }, [settle]);
  const plan = useCallback(
    (what: string, work: () => void, undone: () => void) => {
      settle('work');
      planned.current = { timer: setTimeout(() => settle('work'), undoMs), work, undone };
      setText(what);
    },
    [settle],
  );
  return { text, plan, undo: useCallback(() => settle('undone'), [settle]) };
}
