/** Routes of deliveries: one notification to one address (rules, 14.8). */
import * as story from '../examples/story.ts';
import { notificationCauses } from '../rest/causes.ts';
import { type Static, count, flag, id, line, maybe, oneOf, record, time } from '../schema.ts';
import { body } from './body.ts';
import type { Rows } from './route.ts';

/** The notification of a test has a cause of its own. */
const deliveryCauses = [...notificationCauses, 'test'] as const;
export type DeliveryCause = (typeof deliveryCauses)[number];

const deliveryStates = [
  'pending',
  'sending',
  'accepted',
  'failed',
  'gone',
  'unknown',
  'expired',
  'superseded',
  'suppressed',
] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** Why a delivery waits longer than for its turn. */
const holds = ['reading', 'quiet_hours', 'storm', 'delay', 'group'] as const;
export type Hold = (typeof holds)[number];

export const Delivery = body(
  record('Delivery', 'One notification to one address.', {
    id: id('Delivery id'),
    subscriptionId: id('The address'),
    cause: oneOf(deliveryCauses, 'Why'),
    state: oneOf(
      deliveryStates,
      '`accepted`: the service accepted it. `unknown`: an instance stopped while it sent the notification, twice. `suppressed`: switched off, or the person has read the session',
    ),
    reason: maybe(line('Why it was not accepted, waits, or is retried')),
    heldFor: maybe(oneOf(holds, 'While `pending`: why it waits')),
    sentWith: maybe(id('The delivery whose message included it')),
    attempts: count('Number of attempts'),
    httpStatus: maybe(count('Status of the last response')),
    maybeDuplicate: flag('It possibly arrived twice: an instance stopped while it sent the notification'),
    createdAt: time('When it became due'),
    nextAt: maybe(time('While `pending`: time of the next attempt')),
    acceptedAt: maybe(time('When the service accepted it')),
  }),
  {
    id: '01KKNT2JW0K4M8Q1Z5T7YB3C6D',
    subscriptionId: '01KKNSA6R8W2X4Y6Z8A0B2C4D6',
    cause: 'done',
    state: 'accepted',
    attempts: 1,
    httpStatus: 200,
    maybeDuplicate: false,
    createdAt: story.times.completed,
    acceptedAt: '2026-03-14T09:15:42.910Z',
  },
);

export type Delivery = Static<typeof Delivery>;

export const deliveryRoutes = {
  readDelivery: {
    method: 'GET',
    path: '/api/push/deliveries/:id',
    credential: 'user',
    summary: 'One delivery; kept for 30 days after it became due',
    scope: 'sessions:read',
    success: { 200: Delivery },
    errors: ['DELIVERY_NOT_FOUND'],
  },
} as const satisfies Rows;
