/** The relay's own words of a notification, in the languages of the pages. */
import type { DeliveryCause, NotificationLanguage } from '@relay/protocol';

interface NotificationWords {
  titles: Record<DeliveryCause, string>;
  /** Beside a count, in one message for many. */
  counted: Record<DeliveryCause, string>;
  many: (count: number) => string;
  /** Says nothing about the work. */
  neutral: string;
  tested: string;
  answers: Record<'allow' | 'reject' | 'reply', string>;
}

const en: NotificationWords = {
  titles: {
    done: 'An agent is done',
    needs_you: 'An agent needs you',
    failed: 'An agent failed',
    unknown: 'A message may not have arrived',
    device_conflict: 'Two machines use one registration',
    device_allowed: 'A machine was approved',
    program_allowed: 'A program was allowed',
    account_changed: 'Your account was changed',
    test: 'A test of the relay',
  },
  counted: {
    done: 'done',
    needs_you: 'waiting for you',
    failed: 'failed',
    unknown: 'may not have arrived',
    device_conflict: 'with two machines on one registration',
    device_allowed: 'machine allowed',
    program_allowed: 'program allowed',
    account_changed: 'change of your account',
    test: 'test',
  },
  many: (count) => `${count} notifications`,
  neutral: 'Open Relay to see more.',
  tested: 'This address works. You will be notified here.',
  answers: { allow: 'Allow once', reject: 'Reject', reply: 'Reply' },
};

const de: NotificationWords = {
  titles: {
    done: 'Ein Agent ist fertig',
    needs_you: 'Ein Agent braucht dich',
    failed: 'Ein Agent ist gescheitert',
    unknown: 'Eine Nachricht kam vielleicht nicht an',
    device_conflict: 'Zwei Rechner nutzen eine Registrierung',
    device_allowed: 'Ein Rechner wurde zugelassen',
    program_allowed: 'Ein Programm wurde zugelassen',
    account_changed: 'Dein Konto wurde geändert',
    test: 'Ein Test von Relay',
  },
  counted: {
    done: 'fertig',
    needs_you: 'warten auf dich',
    failed: 'gescheitert',
    unknown: 'vielleicht nicht angekommen',
    device_conflict: 'mit zwei Rechnern auf einer Registrierung',
    device_allowed: 'Rechner zugelassen',
    program_allowed: 'Programm zugelassen',
    account_changed: 'Änderung deines Kontos',
    test: 'Test',
  },
  many: (count) => `${count} Mitteilungen`,
  neutral: 'Öffne Relay, um mehr zu sehen.',
  tested: 'Diese Adresse funktioniert. Hier kommen deine Mitteilungen an.',
  answers: { allow: 'Einmal erlauben', reject: 'Ablehnen', reply: 'Antworten' },
};

export const notificationWords: Record<NotificationLanguage, NotificationWords> = { en, de };
