/** `relay read`, `unread`, `pin`, `unpin`: how a session is marked, on every device of its user. */
import type { Session } from '@relay/protocol';
import { exitCodes } from '../failure.ts';
import { findSessionId, nameOf } from '../naming.ts';
import type { Relay } from '../relay.ts';
import type { CommonOptions, Terminal } from '../terminal.ts';
import { contextOf } from './context.ts';

export const markings = [
  { action: 'read', what: 'mark a session as read' },
  { action: 'unread', what: 'mark a session as unread' },
  { action: 'pin', what: 'pin a session' },
  { action: 'unpin', what: 'unpin a session' },
] as const;
type Marking = (typeof markings)[number]['action'];

const calls: Record<Marking, (relay: Relay, id: string) => Promise<Session>> = {
  read: (relay, id) => relay.call('markRead', { params: { id } }),
  unread: (relay, id) => relay.call('markUnread', { params: { id } }),
  pin: (relay, id) => relay.call('updateSession', { params: { id }, body: { pinned: true } }),
  unpin: (relay, id) => relay.call('updateSession', { params: { id }, body: { pinned: false } }),
};

export async function markCommand(
  typed: string,
  action: Marking,
  options: CommonOptions,
  terminal: Terminal,
): Promise<number> {
  const { relay, say } = contextOf(options, terminal);
  const session = await calls[action](relay, await findSessionId(relay, typed));
  const now = [session.unread ? 'unread' : 'read', ...(session.pinned ? ['pinned'] : [])].join(', ');
  say(session, () => `${nameOf(session.id)}: ${now}.\n`);
  return exitCodes.ok;
}
