/**
 * Turns the answers of daemons in the field to `get_messages` into the page that the specification promises (§6.2; rules, 6.17).
 * Pure: one answer at a time.
 */
import type { FromDaemon, Message } from '@relay/protocol';
import type { EarlierPage } from '../connection/requests.ts';

type Stored = NonNullable<FromDaemon<'messages'>['messages']>;

/** The messages in chronological order: some daemons have the newest first, which shows only where every time can be read. */
export function chronological(messages: Stored): Stored {
  const times = messages.map(({ timestamp }) => (timestamp ? Date.parse(timestamp) : NaN));
  const falls = times.every((at, index) => !Number.isNaN(at) && (index === 0 || at <= times[index - 1]!));
  return falls && times.at(-1)! < times[0]! ? messages.toReversed() : messages;
}

export interface Cursors {
  before?: string | undefined;
  after?: string | undefined;
}

/**
 * A page that contains its own cursor is the last one: its daemon ignores cursors, and would give the same answer forever. Messages on
 * the other side of the cursor are left out, since the caller has them. Undefined: the page is as it should be.
 */
export function cutAtCursor<M extends Pick<Message, 'uuid'>>(
  messages: readonly M[],
  { before, after }: Cursors,
): M[] | undefined {
  const at = (uuid: string | undefined) =>
    uuid === undefined ? -1 : messages.findIndex((message) => message.uuid === uuid);
  const [end, start] = [at(before), at(after)];
  if (end < 0 && start < 0) return undefined;
  return messages.slice(start + 1, end < 0 ? undefined : Math.max(end, start + 1));
}

/** Whether a page of older messages repeats the one before. Other cursors never have the same page. */
export const repeats = (earlier: EarlierPage | undefined, page: EarlierPage): boolean =>
  earlier !== undefined &&
  page.before !== undefined &&
  page.before !== earlier.before &&
  page.newest !== null &&
  page.newest === earlier.newest &&
  page.oldest === earlier.oldest;
