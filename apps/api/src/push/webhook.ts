/** Standard Webhooks: `v1` signatures over id, time and body. The body is a CloudEvent. */
import { createHmac } from 'node:crypto';
import type { ClaimedDelivery } from '@relay/database';
import type { PushMessage } from './message.ts';
import type { PostRequest } from './post.ts';
import type { WebhookTarget } from './targets.ts';

export function webhookRequest(
  { url, secret, before }: WebhookTarget,
  message: PushMessage,
  delivery: ClaimedDelivery,
  { publicUrl, now }: { publicUrl: string; now: number },
): PostRequest {
  const seconds = Math.floor(now / 1000);
  const body = JSON.stringify({
    specversion: '1.0',
    id: delivery.id,
    source: publicUrl,
    type: `relay.notification.${delivery.cause}`,
    time: delivery.createdAt.toISOString(),
    timestamp: delivery.createdAt.toISOString(),
    datacontenttype: 'application/json',
    ...(delivery.sessionId === '' ? {} : { subject: delivery.sessionId }),
    data: {
      cause: delivery.cause,
      title: message.title,
      body: message.body,
      link: message.link,
      ...(delivery.sessionId === '' ? {} : { sessionId: delivery.sessionId }),
      ...(delivery.deviceId === '' ? {} : { deviceId: delivery.deviceId }),
    },
  });
  const sign = (key: string) =>
    `v1,${createHmac('sha256', Buffer.from(key.slice('whsec_'.length), 'base64'))
      .update(`${delivery.id}.${seconds}.${body}`)
      .digest('base64')}`;
  const signatures = [sign(secret), ...(before !== undefined && before.until > now ? [sign(before.secret)] : [])];
  const headers = {
    'Content-Type': 'application/cloudevents+json',
    'webhook-id': delivery.id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signatures.join(' '),
  };
  return { url: new URL(url), headers, body };
}
