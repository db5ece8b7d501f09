/** Routes of the addresses at which a person is notified, and of the deliveries to them. */
import { findDelivery, listSubscriptions, readNotificationSettings } from '@relay/database';
import {
  RelayError,
  maxAddressCharacters,
  maxSubscriptions,
  type notificationSettingRoutes,
  type pushRoutes,
  type deliveryRoutes,
  type answerRoutes,
} from '@relay/protocol';
import type { Operations } from '../deps.ts';
import { toRelayError } from '../http/errors.ts';
import type { Handlers } from '../http/pipeline.ts';
import { giveAnswer } from '../push/give-answer.ts';
import type { Push } from '../push/push.ts';
import { saveSettings } from '../push/settings.ts';
import {
  addAddress,
  changeAddress,
  readAddress,
  removeAddress,
  rotateSecret,
  testAddress,
} from '../push/subscriptions.ts';
import { showReplay } from './sessions.ts';

type Rows = typeof notificationSettingRoutes & typeof pushRoutes & typeof deliveryRoutes & typeof answerRoutes;

export function pushHandlers(deps: Operations, push: Push): Handlers<keyof Rows> {
  const { database } = deps;
  const answered = deps.metrics.counter('relay_answers_total', 'Answers given in notifications, by outcome', [
    'outcome',
  ]);
  return {
    readNotificationSettings: async ({ principal }) => ({
      status: 200,
      body: await readNotificationSettings(database, principal.userId),
    }),
    saveNotificationSettings: async ({ principal, body }) => ({
      status: 200,
      body: await saveSettings(deps, push, principal.userId, body),
    }),
    readPushConfig: async () => {
      const kinds = await push.kinds();
      const vapid = kinds.includes('webpush') ? await push.room?.vapid() : undefined;
      return {
        status: 200,
        body: {
          kinds,
          ...(vapid === undefined ? {} : { vapid: { publicKey: vapid.current.publicKey } }),
          limits: { subscriptions: maxSubscriptions, addressCharacters: maxAddressCharacters },
        },
      };
    },
    listSubscriptions: async ({ principal }) => ({
      status: 200,
      body: {
        subscriptions: (await listSubscriptions(database, principal.userId)).map(({ subscription }) => subscription),
      },
    }),
    addSubscription: async ({ principal, body }) => {
      const { added, ...answer } = await addAddress(deps, push, principal, body);
      return { status: added ? 201 : 200, body: answer };
    },
    readSubscription: async ({ principal, params }) => ({
      status: 200,
      body: (await readAddress(database, principal.userId, params.id)).subscription,
    }),
    changeSubscription: async ({ principal, params, body }) => ({
      status: 200,
      body: await changeAddress(deps, push, principal, params.id, body),
    }),
    removeSubscription: async ({ principal, params }) => {
      await removeAddress(deps, principal, params.id);
      return { status: 204 };
    },
    testSubscription: async ({ principal, params }) => ({
      status: 202,
      body: { deliveryId: await testAddress(deps, push, principal.userId, params.id) },
    }),
    rotateSecret: async ({ principal, params }) => ({
      status: 200,
      body: { secret: await rotateSecret(deps, push, principal, params.id) },
    }),
    readDelivery: async ({ principal, params }) => {
      const delivery = await findDelivery(database, principal.userId, params.id);
      if (!delivery) throw new RelayError('DELIVERY_NOT_FOUND');
      return { status: 200, body: delivery };
    },
    giveAnswer: async ({ claims, response, body, note }) => {
      const { sub: userId, session: target, prompt: question, digest } = claims;
      Object.assign(note, { userId, target, question, digest, program: 'notification' });
      try {
        const accepted = await giveAnswer(deps, claims, body?.text);
        answered.inc({ outcome: accepted.replayed ? 'replayed' : 'accepted' });
        showReplay(response, accepted);
        return { status: 202, body: accepted.response };
      } catch (error) {
        answered.inc({ outcome: toRelayError(error).code.toLowerCase() });
        throw error;
      }
    },
  };
}
