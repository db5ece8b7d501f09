/**
 * Apple Push Notification service: HTTP/2, with a token that the key of the team signs
 * (https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns).
 */
import { type KeyObject, createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ClaimedDelivery } from '@relay/database';
import jwt from 'jsonwebtoken';
import { appMessageOf } from './app-message.ts';
import { createHttp2Poster } from './http2-post.ts';
import { type PushMessage, topicOf } from './message.ts';
import type { PostAnswer } from './post.ts';
import { createServiceToken } from './service-token.ts';
import type { AppTarget } from './targets.ts';

interface ApnsIdentity {
  key: KeyObject;
  keyId: string;
  teamId: string;
  /** The bundle of the app. */
  topic: string;
}

/** Apple refuses tokens that are older than an hour, and new ones more often than every 20 minutes. */
const renewMs = 40 * 60_000;

/** The `.p8` file of Apple. @throws Error whose message completes the sentence "the file …" */
export function readApnsKey(file: string): KeyObject {
  const key = createPrivateKey(readFileSync(file, 'utf8'));
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') throw new Error('its key is not of the curve P-256');
  return key;
}

export interface Apns {
  /** Rejects if no answer arrives in time. */
  send(target: AppTarget, message: PushMessage, delivery: ClaimedDelivery): Promise<PostAnswer>;
  close(): void;
}

export function createApns({ key, keyId, teamId, topic }: ApnsIdentity, baseUrl: string, now: () => number): Apns {
  const poster = createHttp2Poster(baseUrl, now);
  const providerToken = createServiceToken(() => {
    const claims = { iss: teamId, iat: Math.floor(now() / 1000) };
    return { token: jwt.sign(claims, key, { algorithm: 'ES256', keyid: keyId }), useMs: renewMs };
  }, now);
  return {
    send: async (target, message, delivery) => {
      const { alert, data } = appMessageOf(target, message, delivery);
      const level = message.urgent ? 'time-sensitive' : 'active';
      const aps = { alert, sound: 'default', 'mutable-content': 1, 'interruption-level': level };
      const token = await providerToken.read();
      const answer = await poster.post(
        `/3/device/${encodeURIComponent(target.token)}`,
        {
          authorization: `bearer ${token}`,
          'apns-topic': topic,
          'apns-push-type': 'alert',
          'apns-priority': message.urgent ? '10' : '5',
          'apns-expiration': String(Math.ceil(delivery.expiresAt.getTime() / 1000)),
          'apns-collapse-id': topicOf(message),
        },
        JSON.stringify({ aps, ...data }),
      );
      const meaning = meaningOf(answer, target);
      if (answer.status === 403) providerToken.discard(token);
      return { ...answer, ...(meaning === undefined ? {} : { meaning }) };
    },
    close: () => poster.close(),
  };
}

/** 410 carries the time since when the token is invalid; an app that registered later is valid again. */
function meaningOf({ status, body }: PostAnswer, { registeredAt }: AppTarget): PostAnswer['meaning'] {
  if (status === 403) return 'ours';
  if (status !== 410) return undefined;
  let since: unknown;
  try {
    since = (JSON.parse(body ?? '') as { timestamp?: unknown }).timestamp;
  } catch {
    // The status decides if the time is missing.
  }
  return typeof since === 'number' && since <= registeredAt ? 'stale' : 'gone';
}
