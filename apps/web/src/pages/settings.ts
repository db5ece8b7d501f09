/** One chunk: the settings. Two pages are chunks of their own, with their texts. */
import { UnloadedPage, loadedLater } from '../ui/loaded-later.tsx';

export { Account } from './account.tsx';
export { Activity } from './activity.tsx';
export { Applications } from './applications.tsx';
export { Notifications } from './notifications.tsx';

export const Later = loadedLater(async () => (await import('../later/load.ts')).page(), UnloadedPage);
export const Usage = loadedLater(async () => (await import('../usage/load.ts')).page(), UnloadedPage);
