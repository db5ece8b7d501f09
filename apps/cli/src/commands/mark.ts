/** `relay read`, `unread`, `pin`, `unpin`: mark a session on all devices of its user. */
import type { Session } from '@relay/protocol';
import type { Terminal } from '@relay/machine';
import { findSessionId, nameOf } from '../naming.ts';
import type { Relay } from '../relay.ts';
import type { CommonOptions } from './shared-options.ts';
import { contextOf } from './context.ts';

type MarkSession = (relay: Relay, id: string) => Promise<Session>;
const pinned =
  (pinned: boolean): MarkSession =>
  (relay, id) =>
    relay.call('updateSession', { params: { id }, body: { pinned } });

export const markings: readonly { action: string; what: string; mark: MarkSession }[] = [
  { action: 'read', what: 'mark a session as read', mark: (relay, id) => relay.call('markRead', { params: { id } }) },
  {
    action: 'unread',
    what: 'mark a session as unread',
    mark: (relay, id) => relay.call('markUnread', { params: { id } }),
  },
  { action: 'pin', what: 'pin a session', mark: pinned(true) },
  { action: 'unpin', what: 'unpin a session', mark: pinned(false) },
];

export const markCommand =
  (mark: MarkSession) =>
  async (typed: string, options: CommonOptions, terminal: Terminal): Promise<void> => {
    const { relay, print } = contextOf(options, terminal);
    const session = await mark(relay, await findSessionId(relay, typed));
    const now = [session.unread ? 'unread' : 'read', ...(session.pinned ? ['pinned'] : [])].join(', ');
    print(session, () => `${nameOf(session.id)}: ${now}.\n`);
  };
