/** The wire of each kind of address (rules, 14.10): ntfy, signed webhooks, and Web Push, which is sealed for the browser. */
import { createECDH, createHash, createHmac, randomBytes } from 'node:crypto';
import type { ClaimedDelivery } from '@relay/database';
import { encrypt } from 'http_ece';
import { declarativeOf } from './declarative.ts';
import type { PushMessage } from './message.ts';
import type { PostRequest } from './post.ts';
import type { Vapid } from './vapid.ts';

export interface NtfyTarget {
  kind: 'ntfy';
  url: string;
  topic: string;
  token?: string | undefined;
}
export interface WebhookTarget {
  kind: 'webhook';
  url: string;
  secret: string;
  /** Signs too, for a day after the rotation. */
  before?: { secret: string; until: number } | undefined;
}
export interface WebPushTarget {
  kind: 'webpush';
  endpoint: string;
  p256dh: string;
  auth: string;
}
export type Target = NtfyTarget | WebhookTarget | WebPushTarget;

export interface CarrierContext {
  publicUrl: string;
  vapid?: Vapid | undefined;
  now: () => number;
}

/** The address of a target, as the guard checks it. */
export const addressOf = (target: Target): string => (target.kind === 'webpush' ? target.endpoint : target.url);

/** The request that carries the message. @throws TypeError when the keys of a browser are none */
export function requestOf(
  target: Target,
  message: PushMessage,
  delivery: ClaimedDelivery,
  context: CarrierContext,
): PostRequest {
  if (target.kind === 'ntfy') return ntfy(target, message);
  if (target.kind === 'webhook') return webhook(target, message, delivery, context);
  return webPush(target, message, delivery, context);
}

/** Short and equal for one topic; it tells the service nothing. */
const topicHash = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 32);

function ntfy({ url, topic, token }: NtfyTarget, message: PushMessage): PostRequest {
  const body = {
    topic,
    title: message.title,
    message: message.body,
    priority: message.urgent ? 4 : 3,
    click: message.link,
    sequence_id: topicHash(message.topic),
  };
  const headers = {
    'Content-Type': 'application/json',
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
  };
  return { url: new URL(url), headers, body: JSON.stringify(body) };
}

/** Standard Webhooks: `v1` signatures over id, time and body. The body is a CloudEvent. */
function webhook(
  { url, secret, before }: WebhookTarget,
  message: PushMessage,
  delivery: ClaimedDelivery,
  { publicUrl, now }: CarrierContext,
): PostRequest {
  const seconds = Math.floor(now() / 1000);
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
  const signatures = [sign(secret), ...(before !== undefined && before.until > now() ? [sign(before.secret)] : [])];
  const headers = {
    'Content-Type': 'application/cloudevents+json',
    'webhook-id': delivery.id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signatures.join(' '),
  };
  return { url: new URL(url), headers, body };
}

/** One record, header included, is 4,096 bytes at most: more is refused by push services. */
const plaintextBytes = 3993;
const recordBytes = 4096;

/** RFC 8030, 8291, 8292; the text is a declarative push message, so that a browser without our worker shows it too. */
function webPush(
  { endpoint, p256dh, auth }: WebPushTarget,
  message: PushMessage,
  delivery: ClaimedDelivery,
  { vapid, now }: CarrierContext,
): PostRequest {
  if (vapid === undefined) throw new TypeError('there is no key to name this relay to push services');
  const plain = declarativeOf(message, delivery, topicHash(message.topic), plaintextBytes);
  const key = createECDH('prime256v1');
  key.generateKeys();
  const body = encrypt(plain, {
    version: 'aes128gcm',
    dh: p256dh,
    authSecret: auth,
    privateKey: key,
    salt: randomBytes(16).toString('base64url'),
    rs: recordBytes,
  });
  const url = new URL(endpoint);
  const headers = {
    'Content-Type': 'application/octet-stream',
    'Content-Encoding': 'aes128gcm',
    TTL: String(Math.max(0, Math.ceil((delivery.expiresAt.getTime() - now()) / 1000))),
    Urgency: message.urgent ? 'high' : 'normal',
    Topic: topicHash(message.topic),
    Authorization: vapid.authorization(url.origin),
  };
  return { url, headers, body };
}
