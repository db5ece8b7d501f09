/** The chunk of what people choose about notifications, and of their history. */
export { NotificationHistory } from './notification-history.tsx';
export { AddressSettings, PersonSettings } from './notification-settings.tsx';
