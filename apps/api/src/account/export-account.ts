/** GET /api/me/export (rules, 8.16): one JSON document, written while it is read. Never holds more than a page of anything. */
import type { UserPrincipal } from '@relay/auth';
import {
  exportAcpTokens,
  exportApplications,
  exportAudit,
  exportDeviceKeys,
  exportDevices,
  exportInbox,
  exportInvitations,
  exportNotificationSettings,
  exportNotifications,
  exportPasskeys,
  exportQuestions,
  exportRegistrations,
  exportRequests,
  exportSchedules,
  exportSessions,
  exportSignIns,
  exportSubscriptions,
  exportTasks,
  exportWatches,
  listSignInMethods,
  readAccount,
} from '@relay/database';
import type { Operations } from '../deps.ts';

/** The text of a list, an item at a time. */
async function* listText(items: AsyncIterable<unknown>): AsyncGenerator<string> {
  let separator = '[';
  for await (const item of items) {
    yield separator + JSON.stringify(item);
    separator = ',\n';
  }
  yield separator === '[' ? '[]' : ']';
}

/** Yields the document in pieces. Rejects in the middle if the database goes away: the pieces up to then are invalid JSON. */
export async function* exportAccount(
  deps: Pick<Operations, 'database'>,
  { userId, email, name }: UserPrincipal,
): AsyncGenerator<string> {
  const { database } = deps;
  const account = (await readAccount(database, userId)) ?? { id: userId, email, name };
  const head = { exportedAt: new Date(), account, signInMethods: await listSignInMethods(database, userId) };
  yield JSON.stringify(head).slice(0, -1);
  const lists = {
    signIns: exportSignIns,
    passkeys: exportPasskeys,
    applications: exportApplications,
    invitations: exportInvitations,
    registrations: exportRegistrations,
    audit: exportAudit,
    deviceKeys: exportDeviceKeys,
    acpTokens: exportAcpTokens,
    devices: exportDevices,
    sessions: exportSessions,
    tasks: exportTasks,
    questions: exportQuestions,
    schedules: exportSchedules,
    watchedSessions: exportWatches,
    notifications: exportNotifications,
    inbox: exportInbox,
    subscriptions: exportSubscriptions,
    notificationSettings: exportNotificationSettings,
    requests: exportRequests,
  };
  for (const [field, read] of Object.entries(lists)) {
    yield `,\n"${field}":`;
    yield* listText(read(database, userId));
  }
  yield '}\n';
}
