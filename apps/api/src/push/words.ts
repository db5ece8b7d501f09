/** The relay's own texts of a notification, in the languages of the pages. */
import type { Failure } from '@relay/database';
import type { DeliveryCause, NotificationLanguage } from '@relay/protocol';

interface NotificationWords {
  titles: Record<DeliveryCause, string>;
  /** Texts beside a count, in one message for many. */
  counted: Record<DeliveryCause, readonly [one: string, several: string]>;
  many: (count: number) => string;
  /** A program on the machine waits for its person; `reason` can be empty. */
  atDesk: (reason: string) => string;
  /** The title of a failure that is not an error of the agent. */
  failures: Record<Failure['kind'], string>;
  missed: (reason: string) => string;
  expired: string;
  /** `at` undefined: unknown, or it has passed. */
  limit: (at: string | undefined, continues: boolean) => string;
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
  failures: {
    missed: 'A scheduled message was missed',
    expired: 'A message was not sent',
    limit: 'An agent reached its limit',
  },
  missed: (reason) =>
    reason === 'down'
      ? 'Relay was down at its time.'
      : reason === 'set_back'
        ? 'It may have run: the database was restored.'
        : 'Its machine was offline.',
  expired: 'The machine was not back in time.',
  limit: (at, continues) =>
    at === undefined ? 'Limit reached.' : `Limit reached. ${continues ? `Continues at ${at}.` : `Continue at ${at}?`}`,
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
  failures: {
    missed: 'Eine geplante Nachricht wurde verpasst',
    expired: 'Eine Nachricht wurde nicht gesendet',
    limit: 'Ein Agent hat sein Limit erreicht',
  },
  missed: (reason) =>
    reason === 'down'
      ? 'Relay lief zu dieser Zeit nicht.'
      : reason === 'set_back'
        ? 'Lief vielleicht: Die Datenbank wurde zurückgesetzt.'
        : 'Der Rechner war offline.',
  expired: 'Der Rechner war nicht rechtzeitig zurück.',
  limit: (at, continues) =>
    at === undefined
      ? 'Limit erreicht.'
      : `Limit erreicht. ${continues ? `Es geht um ${at} weiter.` : `Um ${at} weitermachen?`}`,
  neutral: 'Öffne Relay, um mehr zu sehen.',
  tested: 'Diese Adresse funktioniert. Hier kommen deine Mitteilungen an.',
  answers: { allow: 'Einmal erlauben', reject: 'Ablehnen', reply: 'Antworten' },
};

export const notificationWords: Record<NotificationLanguage, NotificationWords> = { en, de };
