/** Something that is done in ten seconds unless the person takes it back. It is done before the page is left, and before a sign-out. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { useRooms } from '../rooms.ts';

const undoMs = 10_000;

export interface Later {
  /** Text of the planned change. */
  text: string | undefined;
  /** Runs the change that waits already, then holds this one back. `work` never rejects. */
  plan: (text: string, work: () => Promise<void>, undone: () => void) => void;
  undo: () => void;
}

export function useLater(): Later {
  const { access } = useRooms();
  const [text, setText] = useState<string>();
  const planned = useRef<{ timer: ReturnType<typeof setTimeout>; work: () => Promise<void>; undone: () => void }>(
    undefined,
  );
  const settle = useCallback((how: 'work' | 'undone') => {
    const now = planned.current;
    planned.current = undefined;
    clearTimeout(now?.timer);
    setText(undefined);
    return now?.[how]();
  }, []);
  useEffect(() => {
    const onHide = () => void settle('work');
    // A phone that freezes a hidden page can close it without another event.
    const onSight = () => document.visibilityState === 'hidden' && onHide();
    window.addEventListener('pagehide', onHide);
    document.addEventListener('visibilitychange', onSight);
    const stay = access.beforeLeaving(async () => settle('work'));
    return () => {
      window.removeEventListener('pagehide', onHide);
      document.removeEventListener('visibilitychange', onSight);
      stay();
    };
  }, [settle, access]);
  const plan = useCallback(
    (what: string, work: () => Promise<void>, undone: () => void) => {
      void settle('work');
      planned.current = { timer: setTimeout(() => void settle('work'), undoMs), work, undone };
      setText(what);
    },
    [settle],
  );
  return { text, plan, undo: useCallback(() => void settle('undone'), [settle]) };
}
