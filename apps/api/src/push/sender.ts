/** One attempt of a delivery (rules, 14.8 and 14.10): the address is opened, checked, and its service gets the message. */
import type { ClaimedDelivery, DeliveryOutcome } from '@relay/database';
import type { DeliveryCause } from '@relay/protocol';
import type { AnswerTokens } from './answer-tokens.ts';
import type { Apns } from './apns.ts';
import type { Fcm } from './fcm.ts';
import type { Guard } from './guard.ts';
import { type PushMessage, digestOf, messageOf, neutral } from './message.ts';
import { ntfyRequest } from './ntfy.ts';
import { withAnswers } from './offered.ts';
import { outcomeOf, outcomeOfError, skippedOf } from './outcome.ts';
import type { PostAnswer, Poster } from './post.ts';
import { KeysInvalid } from './seal-text.ts';
import type { Seal } from './sealed.ts';
import { type Target, addressOf, isSealed } from './targets.ts';
import type { VapidKeys } from './vapid.ts';
import { webPushRequest } from './webpush.ts';
import { webhookRequest } from './webhook.ts';

interface SenderDeps {
  seal: Seal;
  guard: Guard;
  /** Guarded. */
  poster: Poster;
  vapid: (wanted?: string) => Promise<VapidKeys | undefined>;
  /** Absent if the operator has no account with it. */
  fcm?: Fcm | undefined;
  apns?: Apns | undefined;
  answers: AnswerTokens;
  /** Claims the other notifications held for the address, and returns their causes. */
  gather: (delivery: ClaimedDelivery) => Promise<readonly DeliveryCause[]>;
  /** The number of items that wait for a person, for the icon, and its inbox version. */
  waiting: (userId: string) => Promise<NonNullable<PushMessage['badge']>>;
  publicUrl: string;
}

export interface Sender {
  /**
   * Rejects only if the database does, before anything is sent. Sends at most two requests, and the service accepts one of them:
   * if the message is too large, the second carries no text.
   */
  send(delivery: ClaimedDelivery): Promise<DeliveryOutcome>;
}

const paused = (reason: string): DeliveryOutcome => ({ state: 'failed', reason, pause: reason });
const tooLarge = 413;

export function createSender({
  seal,
  guard,
  poster,
  vapid,
  fcm,
  apns,
  answers,
  gather,
  waiting,
  publicUrl,
}: SenderDeps): Sender {
  /** Returns the reason why nothing can be sent, or undefined. */
  const refusalOf = (target: Target): DeliveryOutcome | undefined => {
    if (target.kind === 'fcm' || target.kind === 'apns') {
      const service = target.kind === 'fcm' ? fcm : apns;
      return service === undefined
        ? { state: 'failed', reason: 'This relay does not notify apps of this kind.' }
        : undefined;
    }
    const checked = guard.check(addressOf(target) ?? '');
    return 'why' in checked ? paused(checked.why) : undefined;
  };

  const post = async (target: Target, message: PushMessage, delivery: ClaimedDelivery): Promise<PostAnswer> => {
    const now = Date.now();
    switch (target.kind) {
      case 'ntfy':
        return poster.post(ntfyRequest(target, message));
      case 'webhook':
        return poster.post(webhookRequest(target, message, delivery, { publicUrl, now }));
      case 'webpush':
      case 'unifiedpush': {
        const key = (await vapid(target.vapidKey))?.find(target.vapidKey);
        if (key === undefined) throw new KeyLost();
        return poster.post(webPushRequest(target, message, delivery, { vapid: key, now }));
      }
      case 'fcm':
        return fcm!.send(target, message, delivery);
      case 'apns':
        return apns!.send(target, message, delivery);
    }
  };

  return {
    send: async (delivery) => {
      const skipped = skippedOf(delivery, Date.now());
      if (skipped !== undefined) return skipped;
      const target = seal.open(delivery.sealed) as Target | undefined;
      if (target === undefined) return paused('The relay can no longer read this address. Add it again.');
      const refusal = refusalOf(target);
      if (refusal !== undefined) return refusal;
      const others = delivery.isDigest ? await gather(delivery) : [];
      try {
        const alone = messageOf(delivery, publicUrl, target.language);
        // A message about many notifications offers no answers.
        const one =
          others.length > 0
            ? digestOf(alone, others, delivery, publicUrl)
            : await withAnswers(alone, delivery, answers);
        // A service that can read along learns no number either.
        const message = isSealed(target) ? { ...one, badge: await waiting(delivery.userId) } : one;
        let answer = await post(target, message, delivery);
        if (answer.status === tooLarge) answer = await post(target, neutral(message), delivery);
        return outcomeOf(answer, delivery);
      } catch (error) {
        if (error instanceof KeyLost)
          return paused('This relay no longer has the key of this browser. Subscribe again.');
        if (error instanceof KeysInvalid) return paused('The keys of this address are not valid. Subscribe again.');
        return outcomeOfError(error, delivery.attempts);
      }
    },
  };
}

/** Raised if a browser has a key that this relay no longer has. */
class KeyLost extends Error {}
