/** A key per thing to send: the same text that failed may be sent again without arriving twice (rules, 6.6). */
import { useEffect, useRef } from 'react';
import type { Action } from './action.ts';

interface SendingKey {
  /** The key for this content, with what it answers; the same one until `done`. */
  of: (content: string) => string;
  done: () => void;
}

export function useSendingKey(): SendingKey {
  const current = useRef<{ content: string; key: string }>(undefined);
  return {
    of: (content) => {
      if (current.current?.content !== content) current.current = { content, key: crypto.randomUUID() };
      return current.current.key;
    },
    done: () => {
      current.current = undefined;
    },
  };
}

/** A network that went and came back unnoticed. */
const againMs = 15_000;

/**
 * Sends by itself, under its key, what could not be sent for want of a network, once the relay may be reached again. `isWanted`: whether it
 * should still be. Returns whether it waits.
 */
export function useSentLater<Args extends unknown[]>(
  { refusal, args, run }: Action<Args>,
  isWanted: (args: Args) => boolean,
): boolean {
  const isWaiting = refusal?.code === 'OFFLINE' && args !== undefined && isWanted(args);
  useEffect(() => {
    if (!isWaiting) return undefined;
    const again = () => void run(...args);
    const timer = setTimeout(again, againMs);
    window.addEventListener('online', again);
    return () => {
      clearTimeout(timer);
      window.removeEventListener('online', again);
    };
  }, [isWaiting, args, run]);
  return isWaiting;
}
