import { expect, it } from '@jest/globals';
import type { DeliveryCause } from '@relay/protocol';
import { digestOf } from '../../src/push/message.ts';
import { message } from './delivery.ts';

/** Rules, 14.13: one message for many is a sentence in both languages, with singular and plural. */
const digest = (language: 'en' | 'de', others: DeliveryCause[]) =>
  digestOf({ ...message, language }, others, { cause: 'needs_you', subscriptionId: 'a' }, 'https://relay.example.com')
    .body;

it('uses singular and plural like a person would', () => {
  const others: DeliveryCause[] = ['program_allowed', 'device_allowed', 'device_allowed'];
  expect(digest('en', others)).toBe('1 waiting for you · 1 program allowed · 2 machines approved');
  expect(digest('de', others)).toBe('1 wartet auf dich · 1 Programm zugelassen · 2 Rechner zugelassen');
  const more: DeliveryCause[] = ['needs_you', 'program_allowed', 'program_allowed'];
  expect(digest('en', more)).toBe('2 waiting for you · 2 programs allowed');
  expect(digest('de', more)).toBe('2 warten auf dich · 2 Programme zugelassen');
});
