/** A key per thing to send: the same text that failed may be sent again without arriving twice (rules, 6.6). */
import { useRef } from 'react';

export interface SendingKey {
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
