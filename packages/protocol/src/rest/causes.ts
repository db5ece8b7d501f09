/** The causes of notifications (rules, 14.3 and 14.6). */
export const notificationCauses = [
  'done',
  'needs_you',
  'failed',
  'device_conflict',
  'device_allowed',
  'program_allowed',
] as const;
export type NotificationCause = (typeof notificationCauses)[number];
