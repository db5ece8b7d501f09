/** Agents that split text at any unit of UTF-16 send the two halves of a character in two chunks. */
import { type Fields, recordOf } from './content.ts';

const endsInHalf = /[\ud800-\udbff]$/;

/** Returns a function that holds a trailing half character back for the next chunk of the same kind and session. */
export function joinHalves(): (sessionId: string, update: Fields) => Fields {
  const kept = new Map<string, string>();
  return (sessionId, update) => {
    const { sessionUpdate: kind } = update;
    const content = recordOf(update.content);
    if (typeof content.text !== 'string' || typeof kind !== 'string' || !kind.endsWith('_chunk')) return update;
    const key = `${kind} ${sessionId}`;
    const text = (kept.get(key) ?? '') + content.text;
    const half = endsInHalf.exec(text)?.[0] ?? '';
    if (half === '') kept.delete(key);
    else kept.set(key, half);
    return { ...update, content: { ...content, text: text.slice(0, text.length - half.length) } };
  };
}
