/**
 * One message for many notifications (rules, 14.13 and 14.15). It names only causes and numbers, regardless of the address's
 * detail setting.
 */
import type { ClaimedDelivery } from '@relay/database';
import type { DeliveryCause } from '@relay/protocol';
import type { PushMessage } from './message.ts';
import { notificationWords } from './words.ts';

/** `message`: of the delivery itself, unchanged if it is the only one. */
export function digestOf(
  message: PushMessage,
  others: readonly DeliveryCause[],
  delivery: Pick<ClaimedDelivery, 'cause' | 'subscriptionId'>,
  publicUrl: string,
): PushMessage {
  if (others.length === 0) return message;
  const words = notificationWords[message.language];
  const counts = new Map<DeliveryCause, number>();
  for (const cause of [delivery.cause, ...others]) counts.set(cause, (counts.get(cause) ?? 0) + 1);
  return {
    ...message,
    title: words.many(others.length + 1),
    body: [...counts].map(([cause, count]) => `${count} ${words.counted[cause][count === 1 ? 0 : 1]}`).join(' · '),
    link: `${publicUrl}/sessions`,
    topic: `digest:${delivery.subscriptionId}`,
    urgent: message.urgent || counts.has('needs_you'),
  };
}
