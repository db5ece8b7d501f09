/** The causes of notifications (rules, 14.3 and 14.6), and how many of them reach a person (14.11). */
export const notificationCauses = [
  'done',
  'needs_you',
  'failed',
  'unknown',
  'device_conflict',
  'device_allowed',
  'program_allowed',
  'account_changed',
] as const;
export type NotificationCause = (typeof notificationCauses)[number];

/** Changes of the account: no level, delay or pause holds them (rules, 14.11). */
export const accountCauses = ['device_allowed', 'program_allowed', 'account_changed'] as const;
const isOfAccount = (cause: NotificationCause): cause is (typeof accountCauses)[number] =>
  accountCauses.some((one) => one === cause);

/** The notification causes that have a level chosen by the person. */
export const chosenCauses = ['needs_you', 'failed', 'unknown', 'done', 'device'] as const;
export type ChosenCause = (typeof chosenCauses)[number];

export const notifyLevels = ['off', 'watched', 'all'] as const;
export type NotifyLevel = (typeof notifyLevels)[number];

export const defaultLevels: Readonly<Record<ChosenCause, NotifyLevel>> = {
  needs_you: 'all',
  failed: 'all',
  unknown: 'watched',
  done: 'watched',
  device: 'off',
};

/**
 * The cause whose level controls a notification; undefined for changes of the account, which the relay always sends.
 */
export function chosenCauseOf(cause: NotificationCause): ChosenCause | undefined {
  if (isOfAccount(cause)) return undefined;
  return cause === 'device_conflict' ? 'device' : cause;
}
