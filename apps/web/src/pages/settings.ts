/** One chunk: the settings. */
export { Account } from './account.tsx';
export { Activity } from './activity.tsx';
export { Applications } from './applications.tsx';
export { Later } from './later.ts';
export { Usage } from './usage.ts';
export { Notifications } from './notifications.tsx';
