/**
 * Every REST route (specification §4.1), written once: the api serves exactly these, and OpenAPI is generated from them.
 * The rows are in `routes/`, one file for each subject.
 */
import { accountRoutes, auditRoutes, ticketRoutes } from './routes/account.ts';
import { acpTokenRoutes, deviceKeyRoutes } from './routes/credentials.ts';
import { deviceRoutes } from './routes/devices.ts';
import { changeRoutes } from './routes/changes.ts';
import { fromDaemonRoutes } from './routes/from-daemon.ts';
import { inboxRoutes } from './routes/inbox.ts';
import { messageRoutes } from './routes/messages.ts';
import { pushRoutes } from './routes/push.ts';
import { registrationRoutes } from './routes/registration.ts';
import type { Route } from './routes/route.ts';
import { scheduleRoutes } from './routes/schedules.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { systemRoutes } from './routes/system.ts';
import { taskRoutes } from './routes/tasks.ts';
import { watchingRoutes } from './routes/watching.ts';

export type { Route, Scope } from './routes/route.ts';

export const routes = {
  ...systemRoutes,
  ...accountRoutes,
  ...sessionRoutes,
  ...messageRoutes,
  ...fromDaemonRoutes,
  ...changeRoutes,
  ...taskRoutes,
  ...scheduleRoutes,
  ...deviceRoutes,
  ...registrationRoutes,
  ...auditRoutes,
  ...deviceKeyRoutes,
  ...acpTokenRoutes,
  ...watchingRoutes,
  ...pushRoutes,
  ...inboxRoutes,
  ...ticketRoutes,
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof routes;
