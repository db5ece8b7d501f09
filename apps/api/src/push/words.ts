/** The relay's own texts of a notification, in the languages of the pages. */
import type { DeliveryCause, NotificationLanguage } from '@relay/protocol';

interface NotificationWords {
  titles: Record<DeliveryCause, string>;
  /** Texts beside a count, in one message for many. */
  counted: Record<DeliveryCause, readonly [one: string, several: string]>;
  many: (count: number) => string;
  /** A program on the machine waits for its person; `reason` can be empty. */
  atDesk: (reason: string) => string;
  /** Reveals nothing about the work. */
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
    done: ['done', 'done'],
    needs_you: ['waiting for you', 'waiting for you'],
    failed: ['failed', 'failed'],
    unknown: ['may not have arrived', 'may not have arrived'],
    device_conflict: ['registration of two machines', 'registrations of two machines'],
    device_allowed: ['machine approved', 'machines approved'],
    program_allowed: ['program allowed', 'programs allowed'],
    account_changed: ['change of your account', 'changes of your account'],
    test: ['test', 'tests'],
  },
  many: (count) => `${count} notifications`,
  atDesk: (reason) => `Waits for you at the desk${reason === '' ? '' : `: ${reason}`}`,
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
    done: ['fertig', 'fertig'],
    needs_you: ['wartet auf dich', 'warten auf dich'],
    failed: ['gescheitert', 'gescheitert'],
    unknown: ['vielleicht nicht angekommen', 'vielleicht nicht angekommen'],
    device_conflict: ['Registrierung zweier Rechner', 'Registrierungen zweier Rechner'],
    device_allowed: ['Rechner zugelassen', 'Rechner zugelassen'],
    program_allowed: ['Programm zugelassen', 'Programme zugelassen'],
    account_changed: ['Änderung deines Kontos', 'Änderungen deines Kontos'],
    test: ['Test', 'Tests'],
  },
  many: (count) => `${count} Mitteilungen`,
  atDesk: (reason) => `Wartet am Rechner auf dich${reason === '' ? '' : `: ${reason}`}`,
  neutral: 'Öffne Relay, um mehr zu sehen.',
  tested: 'Diese Adresse funktioniert. Hier kommen deine Mitteilungen an.',
  answers: { allow: 'Einmal erlauben', reject: 'Ablehnen', reply: 'Antworten' },
};

export const notificationWords: Record<NotificationLanguage, NotificationWords> = { en, de };
