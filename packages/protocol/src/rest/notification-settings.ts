/** A person's choice of causes and hours for notifications (rules, 14.11 and 14.13). */
import { type Static, Type, count, list, maybe, nullable, oneOf, record, text, time } from '../schema.ts';
import { chosenCauses, notifyLevels } from './causes.ts';

const level = oneOf(
  notifyLevels,
  'Never, for watched sessions, or for all sessions. Of `device`, `watched` and `all` are the same',
);

export const CauseLevels = Type.Object(
  {
    needs_you: maybe(level),
    failed: maybe(level),
    unknown: maybe(level),
    done: maybe(level),
    device: maybe(level),
  },
  { description: 'The level of each cause' },
);

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof weekdays)[number];

const clockTime = (description: string) =>
  text(description, { pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$', maxLength: 5 });

export const QuietHours = record('QuietHours', 'Notifications are held in this time and sent as one afterwards.', {
  start: clockTime('Local time, `22:00`'),
  end: clockTime('Local time, `07:00`; before `start`: on the next day. Not equal to `start`'),
  timeZone: text('IANA name, `Europe/Berlin`', { minLength: 1, maxLength: 64 }),
  days: maybe(
    list(oneOf(weekdays, 'A day'), 'On which it begins; every day by default', { maxItems: weekdays.length }),
  ),
  passes: maybe(
    list(oneOf(chosenCauses, 'A cause'), 'Causes that are not held; `needs_you` by default', {
      maxItems: chosenCauses.length,
    }),
  ),
});

export const NotificationSettings = record('NotificationSettings', 'The causes that notify a person, and the hours.', {
  causes: Type.Required(CauseLevels),
  quietHours: nullable(QuietHours),
  held: record('HeldNotifications', 'Deliveries that wait for the end of quiet hours.', {
    count: count('How many'),
    until: maybe(time('When the first of them are sent')),
  }),
});

export const SaveNotificationSettings = record(
  'SaveNotificationSettings',
  'All settings: a cause that is left out has its default: `all` for `needs_you` and `failed`, `off` for `device`, else `watched`.',
  { causes: maybe(CauseLevels), quietHours: maybe(nullable(QuietHours)) },
);

export type CauseLevels = Static<typeof CauseLevels>;
export type QuietHours = Static<typeof QuietHours>;
export type NotificationSettings = Static<typeof NotificationSettings>;
export type SaveNotificationSettings = Static<typeof SaveNotificationSettings>;
