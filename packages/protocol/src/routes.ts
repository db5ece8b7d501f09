/**
 * Every REST route (specification §4.1), written once: the api serves exactly these, and OpenAPI is generated from them.
 * The rows are in `routes/`, one file for each subject. The order of the tables is the order of the documents.
 */
import { accountExportRoutes } from './routes/account-export.ts';
import { accountRoutes, auditRoutes, ticketRoutes } from './routes/account.ts';
import { changeRoutes } from './routes/changes.ts';
import { acpTokenRoutes, deviceKeyRoutes } from './routes/credentials.ts';
import { deliveryRoutes } from './routes/deliveries.ts';
import { deskRoutes } from './routes/desk.ts';
import { connectionRoutes, deviceRoutes } from './routes/devices.ts';
import { contentRoutes, fromDaemonRoutes } from './routes/from-daemon.ts';
import { inboxRoutes } from './routes/inbox.ts';
import { answerRoutes, messageRoutes } from './routes/messages.ts';
import { notificationSettingRoutes } from './routes/notification-settings.ts';
import { pushRoutes } from './routes/push.ts';
import { registrationRoutes } from './routes/registration.ts';
import type { Rows } from './routes/route.ts';
import { scheduleRoutes } from './routes/schedules.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { deviceSettingRoutes, sessionSettingRoutes } from './routes/settings.ts';
import { systemRoutes } from './routes/system.ts';
import { taskRoutes } from './routes/tasks.ts';
import { uploadRoutes } from './routes/uploads.ts';
import { watchingRoutes } from './routes/watching.ts';

export type { Route, Scope } from './routes/route.ts';

export const routes = {
  ...systemRoutes,
  ...accountRoutes,
  ...accountExportRoutes,
  ...sessionRoutes,
  ...messageRoutes,
  ...fromDaemonRoutes,
  ...sessionSettingRoutes,
  ...deviceSettingRoutes,
  ...contentRoutes,
  ...deskRoutes,
  ...changeRoutes,
  ...taskRoutes,
  ...scheduleRoutes,
  ...deviceRoutes,
  ...uploadRoutes,
  ...connectionRoutes,
  ...registrationRoutes,
  ...auditRoutes,
  ...deviceKeyRoutes,
  ...acpTokenRoutes,
  ...watchingRoutes,
  ...notificationSettingRoutes,
  ...pushRoutes,
  ...deliveryRoutes,
  ...answerRoutes,
  ...inboxRoutes,
  ...ticketRoutes,
} as const satisfies Rows;

export type RouteName = keyof typeof routes;
