/** Web Push and UnifiedPush: RFC 8030, sealed by RFC 8291, with a token of RFC 8292. */
import type { ClaimedDelivery } from '@relay/database';
import { declarativeOf } from './declarative.ts';
import { type PushMessage, topicOf } from './message.ts';
import type { PostRequest } from './post.ts';
import { sealBytes, sealText } from './seal-text.ts';
import type { WebPushTarget } from './targets.ts';
import type { Vapid } from './vapid.ts';

/** Push services refuse more. */
const bodyBytes = 4096;

/** @throws KeysInvalid */
export function webPushRequest(
  target: WebPushTarget,
  message: PushMessage,
  delivery: ClaimedDelivery,
  { vapid, now }: { vapid: Vapid; now: number },
): PostRequest {
  const url = new URL(target.endpoint);
  const headers = {
    'Content-Type': 'application/octet-stream',
    'Content-Encoding': 'aes128gcm',
    TTL: String(Math.max(0, Math.ceil((delivery.expiresAt.getTime() - now) / 1000))),
    Urgency: message.urgent ? 'high' : 'normal',
    Topic: topicOf(message),
    Authorization: vapid.authorization(url.origin),
  };
  return {
    url,
    headers,
    body: sealText(declarativeOf(message, delivery, topicOf(message), bodyBytes - sealBytes), target),
  };
}
