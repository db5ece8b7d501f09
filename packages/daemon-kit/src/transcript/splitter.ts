/** Where a text of an agent stops. Items, results, live text and the readers of files all follow this one rule (rules, 20.2). */
import { type Fields, recordOf } from './content.ts';

export type WordsKind = 'text' | 'thought' | 'user';

export interface OpenWords {
  kind: WordsKind;
  messageId: string | undefined;
}

const kinds: Readonly<Record<string, WordsKind>> = {
  agent_message_chunk: 'text',
  agent_thought_chunk: 'thought',
  user_message_chunk: 'user',
};
/** Not part of ACP: the text so far is complete. */
export const wordsEnd = 'words_end';
/** Updates that put an item between texts. */
/** Updates of the daemon itself: a setting changed; a message did not reach the agent. */
export const settingUpdate = 'relay_setting';
export const notSentUpdate = 'relay_not_sent';

const marks: ReadonlySet<unknown> = new Set([
  settingUpdate,
  notSentUpdate,
  'current_mode_update',
  'compaction_update',
  'notice',
  'turn_cancelled',
  wordsEnd,
]);

const wordsKindOf = (update: Fields): WordsKind | undefined => kinds[String(update.sessionUpdate)];
export const messageIdOf = (update: Fields): string | undefined =>
  typeof update.messageId === 'string' && update.messageId !== '' ? update.messageId : undefined;

/**
 * True if this update closes the open text. A call closes it if it begins an item (`calls.ts`). An echo of the person's text, a
 * plan, usage and updates of a known call do not.
 */
export function endsWords(open: OpenWords, update: Fields, replay: boolean): boolean {
  const kind = wordsKindOf(update);
  if (kind === undefined) return marks.has(update.sessionUpdate);
  if (kind === 'user' && !replay) return false;
  if (kind !== open.kind) return true;
  const messageId = messageIdOf(update);
  // A live agent can omit the id now and then; in a replay either all messages have ids or no message has.
  const areNamed = replay || (messageId !== undefined && open.messageId !== undefined);
  if (areNamed && messageId !== open.messageId) return true;
  return kind === 'text' && recordOf(update.content).type === 'image';
}
