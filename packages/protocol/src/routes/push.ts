/** The rows of `routes` for addresses at which a person is notified, and for the deliveries to them (rules, 14.7 and 14.8). */
import { endpoints } from '../endpoints.ts';
import * as settings from '../rest/notification-settings.ts';
import * as prompts from '../rest/prompts.ts';
import * as push from '../rest/push.ts';

export const pushRoutes = {
  readNotificationSettings: {
    ...endpoints.readNotificationSettings,
    summary: 'The notification settings of the user',
    scope: 'sessions:read',
    success: { 200: settings.NotificationSettings },
    errors: [],
  },
  saveNotificationSettings: {
    ...endpoints.saveNotificationSettings,
    summary:
      'Choose causes and quiet hours; the relay sends held notifications at once if the new hours no longer cover them',
    scope: 'sessions:write',
    body: settings.SaveNotificationSettings,
    success: { 200: settings.NotificationSettings },
    errors: [],
  },
  readPushConfig: {
    ...endpoints.readPushConfig,
    summary: 'The notification channels of this relay',
    success: { 200: push.PushConfig },
    errors: [],
  },
  listSubscriptions: {
    ...endpoints.listSubscriptions,
    summary: 'The notification addresses of the user',
    scope: 'sessions:read',
    success: { 200: push.SubscriptionList },
    errors: [],
  },
  addSubscription: {
    ...endpoints.addSubscription,
    summary: 'Add an address; if the user already has it, the relay updates it and answers 200',
    scope: 'sessions:write',
    body: push.AddSubscription,
    success: { 200: push.AddedSubscription, 201: push.AddedSubscription },
    errors: [
      'ADDRESS_NOT_ALLOWED',
      'KIND_NOT_CONFIGURED',
      'SUBSCRIPTION_TAKEN',
      'TOO_MANY_SUBSCRIPTIONS',
      'SIGN_IN_NOT_RECENT',
    ],
  },
  readSubscription: {
    ...endpoints.readSubscription,
    summary: 'One address with its last delivery',
    scope: 'sessions:read',
    success: { 200: push.Subscription },
    errors: ['SUBSCRIPTION_NOT_FOUND'],
  },
  changeSubscription: {
    ...endpoints.changeSubscription,
    summary: 'Rename an address, choose its causes, pause or resume it',
    scope: 'sessions:write',
    body: push.ChangeSubscription,
    success: { 200: push.Subscription },
    errors: ['SUBSCRIPTION_NOT_FOUND', 'SIGN_IN_NOT_RECENT'],
  },
  removeSubscription: {
    ...endpoints.removeSubscription,
    summary: 'Remove an address; the relay sends nothing more to it',
    scope: 'sessions:write',
    success: { 204: undefined },
    errors: ['SUBSCRIPTION_NOT_FOUND'],
  },
  testSubscription: {
    ...endpoints.testSubscription,
    summary: 'Send a test to an address; at most ten in ten minutes',
    scope: 'sessions:write',
    success: { 202: push.TestStarted },
    errors: ['SUBSCRIPTION_NOT_FOUND'],
    limit: 'pushTest',
  },
  rotateSecret: {
    ...endpoints.rotateSecret,
    summary: 'Create a new secret for a webhook; the relay signs with the previous secret too for 24 hours',
    scope: 'sessions:write',
    success: { 200: push.RotatedSecret },
    errors: ['SUBSCRIPTION_NOT_FOUND', 'KIND_NOT_CONFIGURED', 'SIGN_IN_NOT_RECENT'],
  },
  readDelivery: {
    ...endpoints.readDelivery,
    summary: 'One delivery; kept for 30 days after it became due',
    scope: 'sessions:read',
    success: { 200: push.Delivery },
    errors: ['DELIVERY_NOT_FOUND'],
  },
  giveAnswer: {
    ...endpoints.giveAnswer,
    summary: 'Answer the question of a notification with its token; only the first answer counts',
    body: prompts.GiveAnswer,
    success: { 202: prompts.GivenByToken },
    errors: [
      'SESSION_NOT_FOUND',
      'SESSION_NOT_RESOLVED',
      'INVALID_ANSWER',
      'PROMPT_NOT_FOUND',
      'PROMPT_ALREADY_ANSWERED',
      'PROMPT_SUPERSEDED',
    ],
    refusals: { 409: prompts.PromptRefusal },
  },
} as const;
