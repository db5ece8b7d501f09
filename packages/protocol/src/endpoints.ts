/**
 * The path and method of every REST route (specification §4.1): plain data without schemas, so that a client of the API
 * bundles neither them nor their validator. `routes.ts` adds the bodies, errors and limits.
 */
export interface Endpoint {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  /**
   * none: needs no credential. user: an access token. user-or-device: also the device's own refresh token. optional:
   * the caller can send one. answer:
   * only the one-use token of a notification.
   */
  credential: 'none' | 'optional' | 'user' | 'user-or-device' | 'answer';
  /** Accepts Idempotency-Key. */
  idempotent?: true;
}

export const endpoints = {
  health: { method: 'GET', path: '/health', credential: 'none' },
  ready: { method: 'GET', path: '/ready', credential: 'none' },
  openapi: { method: 'GET', path: '/api/openapi.json', credential: 'none' },
  asyncapi: { method: 'GET', path: '/api/asyncapi.json', credential: 'none' },
  me: { method: 'GET', path: '/api/me', credential: 'user' },
  deleteMe: { method: 'DELETE', path: '/api/me', credential: 'user' },
  exportMe: { method: 'GET', path: '/api/me/export', credential: 'user' },
  listAudit: { method: 'GET', path: '/api/me/audit', credential: 'user' },
  listSessions: { method: 'GET', path: '/api/sessions', credential: 'user' },
  createSession: { method: 'POST', path: '/api/sessions', credential: 'user', idempotent: true },
  changeSessions: { method: 'POST', path: '/api/sessions/bulk', credential: 'user' },
  readSession: { method: 'GET', path: '/api/sessions/:id', credential: 'user' },
  updateSession: { method: 'PATCH', path: '/api/sessions/:id', credential: 'user' },
  deleteSession: { method: 'DELETE', path: '/api/sessions/:id', credential: 'user' },
  markRead: { method: 'PUT', path: '/api/sessions/:id/read', credential: 'user' },
  markUnread: { method: 'DELETE', path: '/api/sessions/:id/read', credential: 'user' },
  readMessages: { method: 'GET', path: '/api/sessions/:id/messages', credential: 'user' },
  sendMessage: { method: 'POST', path: '/api/sessions/:id/messages', credential: 'user', idempotent: true },
  answerPrompt: {
    method: 'POST',
    path: '/api/sessions/:id/prompts/:uuid/answer',
    credential: 'user',
    idempotent: true,
  },
  listCommands: { method: 'GET', path: '/api/sessions/:id/commands', credential: 'user' },
  readContext: { method: 'GET', path: '/api/sessions/:id/context', credential: 'user' },
  readSummary: { method: 'GET', path: '/api/sessions/:id/summary', credential: 'user' },
  readSettings: { method: 'GET', path: '/api/sessions/:id/settings', credential: 'user' },
  changeSetting: { method: 'PATCH', path: '/api/sessions/:id/settings', credential: 'user' },
  readContent: { method: 'GET', path: '/api/sessions/:id/items/:uuid/content/:name', credential: 'user' },
  readChanges: { method: 'GET', path: '/api/sessions/:id/changes', credential: 'user' },
  readDiff: { method: 'GET', path: '/api/sessions/:id/changes/diff', credential: 'user' },
  listFiles: { method: 'GET', path: '/api/sessions/:id/files', credential: 'user' },
  readFile: { method: 'GET', path: '/api/sessions/:id/files/content', credential: 'user' },
  releaseSession: { method: 'POST', path: '/api/sessions/:id/release', credential: 'user' },
  readDesk: { method: 'GET', path: '/api/sessions/:id/desk', credential: 'user' },
  letGo: { method: 'POST', path: '/api/sessions/:id/desk', credential: 'user' },
  cancelSession: { method: 'POST', path: '/api/sessions/:id/cancel', credential: 'user' },
  readQueue: { method: 'GET', path: '/api/sessions/:id/queue', credential: 'user' },
  changeQueued: { method: 'PATCH', path: '/api/sessions/:id/queue/:taskId', credential: 'user' },
  sendQueuedNow: { method: 'POST', path: '/api/sessions/:id/queue/:taskId/now', credential: 'user' },
  removeQueued: { method: 'DELETE', path: '/api/sessions/:id/queue/:taskId', credential: 'user' },
  listLater: { method: 'GET', path: '/api/later', credential: 'user' },
  readTask: { method: 'GET', path: '/api/tasks/:id', credential: 'user' },
  listDevices: { method: 'GET', path: '/api/devices', credential: 'user' },
  updateDevice: { method: 'PATCH', path: '/api/devices/:id', credential: 'user' },
  deleteDevice: { method: 'DELETE', path: '/api/devices/:id', credential: 'user-or-device' },
  pingDevice: { method: 'POST', path: '/api/devices/:id/ping', credential: 'user' },
  readDeviceSettings: { method: 'GET', path: '/api/devices/:id/settings', credential: 'user' },
  changeDeviceSetting: { method: 'PATCH', path: '/api/devices/:id/settings', credential: 'user' },
  changeContinue: { method: 'PATCH', path: '/api/devices/:id/continue', credential: 'user' },
  listFolders: { method: 'GET', path: '/api/devices/:id/folders', credential: 'user' },
  searchMessages: { method: 'GET', path: '/api/devices/:id/search', credential: 'user' },
  readUsage: { method: 'GET', path: '/api/devices/:id/usage', credential: 'user' },
  listConnections: { method: 'GET', path: '/api/devices/:id/connections', credential: 'user' },
  requestCode: { method: 'POST', path: '/api/devices/code', credential: 'optional' },
  pollCode: { method: 'POST', path: '/api/devices/token', credential: 'optional' },
  readCode: { method: 'GET', path: '/api/devices/code/:userCode', credential: 'user' },
  approveCode: { method: 'POST', path: '/api/devices/code/:userCode/approve', credential: 'user' },
  denyCode: { method: 'POST', path: '/api/devices/code/:userCode/deny', credential: 'user' },
  createDeviceKey: { method: 'POST', path: '/api/devices/keys', credential: 'user' },
  listDeviceKeys: { method: 'GET', path: '/api/devices/keys', credential: 'user' },
  revokeDeviceKey: { method: 'DELETE', path: '/api/devices/keys/:id', credential: 'user' },
  createAcpToken: { method: 'POST', path: '/api/acp-tokens', credential: 'user' },
  listAcpTokens: { method: 'GET', path: '/api/acp-tokens', credential: 'user' },
  revokeAcpToken: { method: 'DELETE', path: '/api/acp-tokens/:id', credential: 'user' },
  listWatched: { method: 'GET', path: '/api/watched-sessions', credential: 'user' },
  watch: { method: 'POST', path: '/api/watched-sessions', credential: 'user' },
  unwatch: { method: 'DELETE', path: '/api/watched-sessions', credential: 'user' },
  listNotifications: { method: 'GET', path: '/api/notifications', credential: 'user' },
  readNotificationSettings: { method: 'GET', path: '/api/notification-settings', credential: 'user' },
  saveNotificationSettings: { method: 'PUT', path: '/api/notification-settings', credential: 'user' },
  readPushConfig: { method: 'GET', path: '/api/push/config', credential: 'user' },
  listSubscriptions: { method: 'GET', path: '/api/push/subscriptions', credential: 'user' },
  addSubscription: { method: 'POST', path: '/api/push/subscriptions', credential: 'user' },
  readSubscription: { method: 'GET', path: '/api/push/subscriptions/:id', credential: 'user' },
  changeSubscription: { method: 'PATCH', path: '/api/push/subscriptions/:id', credential: 'user' },
  removeSubscription: { method: 'DELETE', path: '/api/push/subscriptions/:id', credential: 'user' },
  testSubscription: { method: 'POST', path: '/api/push/subscriptions/:id/test', credential: 'user' },
  rotateSecret: { method: 'POST', path: '/api/push/subscriptions/:id/rotate-secret', credential: 'user' },
  readDelivery: { method: 'GET', path: '/api/push/deliveries/:id', credential: 'user' },
  listInbox: { method: 'GET', path: '/api/inbox', credential: 'user' },
  ackInbox: { method: 'POST', path: '/api/inbox/ack', credential: 'user' },
  ackItem: { method: 'POST', path: '/api/inbox/:id/ack', credential: 'user' },
  snoozeItem: { method: 'PUT', path: '/api/inbox/:id/snooze', credential: 'user' },
  unsnoozeItem: { method: 'DELETE', path: '/api/inbox/:id/snooze', credential: 'user' },
  giveAnswer: { method: 'POST', path: '/api/answers', credential: 'answer' },
  createTicket: { method: 'POST', path: '/api/ws-tickets', credential: 'user' },
} as const satisfies Record<string, Endpoint>;

export type EndpointName = keyof typeof endpoints;
