/** A key per content to send: a text that failed can be sent again without arriving twice (rules, 6.6). */
import { useEffect, useRef } from 'react';
import type { Action } from './action.ts';

interface SendingKey {
  /** Returns the key for this content, including the question it answers; the same one until `done`. */
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
 * Sends content that failed offline again by itself, under its key, once the relay is reachable. `isWanted`: whether it should
 * still be sent. Returns whether it waits.
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
