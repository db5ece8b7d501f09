/**
 * Daemons without a transcript give a message another uuid in their history than it had live. A text that came from the other source is the
 * same message (rules, 12.2).
 */
import { createHash } from 'node:crypto';
import type { Message } from '@relay/protocol';

type Source = 'live' | 'history';

const most = 300;
/** White space does not count: daemons and histories differ in it. */
export const squashed = (text: string) => text.replace(/\s+/g, '');

/** Whether a message came before from the other source. Each stands for one message only. */
export function createTwins(): (message: Pick<Message, 'role' | 'content'>, source: Source) => boolean {
  const recent: { key: string; source: Source }[] = [];
  return ({ role, content }, source) => {
    const key = createHash('sha256')
      .update(`${role} ${squashed(content)}`)
      .digest('base64url');
    const twin = recent.findIndex((one) => one.source !== source && one.key === key);
    if (twin >= 0) recent.splice(twin, 1);
    else if (recent.push({ key, source }) > most) recent.shift();
    return twin >= 0;
  };
}
