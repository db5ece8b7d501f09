/** Routes of a person's choice of causes and hours for notifications (rules, 14.11 and 14.13). */
import { chosenCauses, notifyLevels } from '../rest/causes.ts';
import { type Static, Type, count, list, maybe, nullable, oneOf, record, text, time } from '../schema.ts';
import { body, exampleOf } from './body.ts';
import type { Rows } from './route.ts';

const level = oneOf(
  notifyLevels,
  'Never, for watched sessions, or for all sessions. `watched` and `all` mean the same for `device`',
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

export const QuietHours = body(
  record('QuietHours', 'The relay holds notifications during these hours and sends them as one afterwards.', {
    start: clockTime('Local time, `22:00`'),
    end: clockTime('Local time, `07:00`; a time before `start` is on the next day. Must differ from `start`'),
    timeZone: text('IANA name, `Europe/Berlin`', { minLength: 1, maxLength: 64 }),
    days: maybe(
      list(oneOf(weekdays, 'A day'), 'Days on which the quiet hours start; default: every day', {
        maxItems: weekdays.length,
      }),
    ),
    passes: maybe(
      list(
        oneOf(chosenCauses, 'A cause'),
        'Causes that the relay sends even during quiet hours; default: `needs_you`',
        {
          maxItems: chosenCauses.length,
        },
      ),
    ),
  }),
  { start: '22:00', end: '07:00', timeZone: 'Europe/Berlin', passes: ['needs_you'] },
);

export const NotificationSettings = body(
  record('NotificationSettings', 'The causes that notify a person, and the quiet hours.', {
    causes: Type.Required(CauseLevels),
    quietHours: nullable(QuietHours),
    held: record('HeldNotifications', 'Deliveries held until the quiet hours are over.', {
      count: count('Number of deliveries'),
      until: maybe(time('When the relay sends the first of them')),
    }),
  }),
  {
    causes: { needs_you: 'all', failed: 'watched', unknown: 'watched', done: 'watched', device: 'off' },
    quietHours: exampleOf(QuietHours),
    held: { count: 2, until: '2026-03-15T06:00:00.000Z' },
  },
);

export const SaveNotificationSettings = body(
  record(
    'SaveNotificationSettings',
    'All settings. An omitted cause gets its default: `all` for `needs_you` and `failed`, `off` for `device`, `watched` for the other causes.',
    { causes: maybe(CauseLevels), quietHours: maybe(nullable(QuietHours)) },
  ),
  { causes: exampleOf(NotificationSettings).causes, quietHours: exampleOf(QuietHours) },
);

export type CauseLevels = Static<typeof CauseLevels>;
export type QuietHours = Static<typeof QuietHours>;
export type NotificationSettings = Static<typeof NotificationSettings>;
export type SaveNotificationSettings = Static<typeof SaveNotificationSettings>;

export const notificationSettingRoutes = {
  readNotificationSettings: {
    method: 'GET',
    path: '/api/notification-settings',
    credential: 'user',
    summary: 'The notification settings of the user',
    scope: 'sessions:read',
    success: { 200: NotificationSettings },
    errors: [],
  },
  saveNotificationSettings: {
    method: 'PUT',
    path: '/api/notification-settings',
    credential: 'user',
    summary:
      'Choose causes and quiet hours; the relay sends held notifications at once if the new hours no longer cover them',
    scope: 'sessions:write',
    body: SaveNotificationSettings,
    success: { 200: NotificationSettings },
    errors: [],
  },
} as const satisfies Rows;
