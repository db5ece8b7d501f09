/** The chunk of notification settings and history. */
export { NotificationHistory } from './notification-history.tsx';
export { AddressSettings, PersonSettings } from './notification-settings.tsx';
