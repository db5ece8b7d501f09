/** The part of a message for apps of the stores: sealed if the app provided keys; else neutral text and a link. */
import type { ClaimedDelivery } from '@relay/database';
import { declarativeOf } from './declarative.ts';
import { type PushMessage, neutral, topicOf } from './message.ts';
import { sealBytes, sealText } from './seal-text.ts';
import type { AppTarget } from './targets.ts';

/** FCM and APNs take 4,096 bytes in all; base64url makes 4 characters of 3 bytes, and the rest needs room beside it. */
const sealedBytes = 2600;

interface AppMessage {
  /** The text for the screen; if the message is sealed beside it, the text does not mention the session. */
  alert: { title: string; body: string };
  /** Texts alone, as FCM wants them. */
  data: Record<string, string>;
}

/** @throws KeysInvalid */
export function appMessageOf({ keys }: AppTarget, message: PushMessage, delivery: ClaimedDelivery): AppMessage {
  const { title, body } = keys === undefined ? message : neutral(message);
  const data: Record<string, string> =
    keys === undefined
      ? { cause: message.cause, sessionId: delivery.sessionId, deliveryId: delivery.id, link: message.link }
      : {
          sealed: sealText(declarativeOf(message, delivery, topicOf(message), sealedBytes - sealBytes), keys).toString(
            'base64url',
          ),
        };
  return { alert: { title, body }, data };
}
