/** A text with its search matches marked. */
import { type ReactNode, useMemo } from 'react';

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

export function Marked({ text, words }: { text: string; words: string }): ReactNode {
  const pattern = useMemo(() => {
    const wanted = words.split(/\s+/).filter(Boolean);
    return wanted.length === 0 ? undefined : new RegExp(`(${wanted.map(escaped).join('|')})`, 'gi');
  }, [words]);
  if (!pattern) return text;
  return text.split(pattern).map((piece, index) => (index % 2 === 1 ? <mark key={index}>{piece}</mark> : piece));
}
