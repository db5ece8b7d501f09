/** A claimed delivery for tests of a single service, without a ledger. */
import type { ClaimedDelivery } from '@relay/database';
import type { PushMessage } from '../../src/push/message.ts';

export const deliveryOf = (given: Partial<ClaimedDelivery> = {}): ClaimedDelivery => ({
  id: '01M7X24VAT67YFFR4DKCYC2KST',
  userId: 'alice',
  subscriptionId: '01M7X24VAT67YFFR4DKCYC2KSU',
  cause: 'needs_you',
  attempts: 1,
  createdAt: new Date(),
  expiresAt: new Date(Date.now() + 3600_000),
  kind: 'fcm',
  host: 'Firebase',
  sealed: '',
  detail: 'text',
  actions: 'none',
  sessionId: 'device:agent:session',
  deviceId: '',
  title: 'plant a hedge',
  text: 'the last words',
  over: false,
  awaitsReading: false,
  isDigest: false,
  hasNext: false,
  quietHours: null,
  ...given,
});

export const message: PushMessage = {
  cause: 'needs_you',
  language: 'en',
  title: 'An agent needs you',
  body: 'plant a hedge',
  link: 'https://relay.example.com/sessions/device%3Aagent%3Asession',
  topic: 'device:agent:session',
  urgent: true,
};
