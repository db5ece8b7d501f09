/** One chunk: the settings. */
export { Account } from './account.tsx';
export { Activity } from './activity.tsx';
export { Applications } from './applications.tsx';
export { Usage } from './usage.ts';
export { Notifications } from './notifications.tsx';
