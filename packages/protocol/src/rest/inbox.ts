/** The inbox: items that wait for a person, across devices (rules, 14.16 to 14.19). camelCase, times in UTC. */
import {
  type Static,
  Type,
  count,
  flag,
  id,
  limits,
  line,
  list,
  maybe,
  oneOf,
  record,
  sessionId,
  text,
  time,
} from '../schema.ts';
import { Prompt } from './conversation.ts';

export const inboxKinds = ['question', 'failure', 'unknown', 'finished', 'device', 'missed'] as const;
export type InboxKind = (typeof inboxKinds)[number];

export const inboxLimits = {
  /** Items of one person that are not closed. */
  open: 5000,
  page: 100,
  pageDefault: 50,
  /** Limits of one `inbox_update`. */
  changed: 20,
  removed: 100,
  snoozeMs: 30 * 86_400_000,
} as const;

const kind = oneOf(
  inboxKinds,
  '`question`: an agent asks. `failure`: a task failed, was lost or expired. `unknown`: it is unknown whether a message arrived. `finished`: a turn of a watched session ended. `device`: a machine is away while work waits, or two use one registration. `missed`: a run of a schedule was missed',
);

const countOf = (what: string) => count(`Open items of kind \`${what}\``);
export const InboxCounts = record('InboxCounts', 'Open items. Counted in one place; equal at equal `version`.', {
  question: countOf('question'),
  failure: countOf('failure'),
  unknown: countOf('unknown'),
  finished: countOf('finished'),
  device: countOf('device'),
  missed: maybe(count('Open items of kind `missed`; absent: none')),
  snoozed: count('Hidden for a while, and in no other number'),
  total: count('All open items'),
  badge: count('For a badge: question, unknown and failure'),
});

const version = count('Rises with every change of the inbox: of two answers the one with the higher version is newer');

export const InboxItem = record('InboxItem', 'Something that waits for the person.', {
  id: id('Item id'),
  kind,
  state: oneOf(['open', 'snoozed'], '`snoozed`: hidden until `snoozedUntil`'),
  version: count('The version of the inbox by which it last changed'),
  createdAt: time('When it began to wait'),
  expiresAt: maybe(time('When it ends by itself')),
  snoozedUntil: maybe(time('When a snoozed item is shown again')),
  reason: maybe(
    line(
      'Of a failure the code of its task; of a device `offline` or `conflict`; of a missed run `offline`, `down` or `set_back`',
    ),
  ),
  scheduleId: maybe(id('The schedule whose run was missed')),
  deviceId: maybe(id('The device')),
  deviceName: maybe(line('Its name')),
  sessionId: maybe(sessionId('Canonical session id; absent for a device')),
  title: maybe(line('Title of the session')),
  projectPath: maybe(text('Its project', { maxLength: limits.pathCharacters })),
  lastMessage: maybe(text('The last message of the session')),
  taskId: maybe(id('The task that failed, or whose delivery is unknown')),
  error: maybe(text('Why it failed')),
  prompt: maybe(Prompt),
});

export const Inbox = record('Inbox', 'A page of what waits for the person, newest first.', {
  version,
  counts: InboxCounts,
  items: list(InboxItem, 'Items', { maxItems: inboxLimits.page }),
  nextCursor: maybe(line('For the next page')),
});

export const InboxState = record('InboxState', 'The inbox after a change.', { version, counts: InboxCounts });

export const AckItems = record('AckItems', 'Items that were seen. Questions and devices are never among them.', {
  kind: maybe(oneOf(inboxKinds, 'Only of this kind')),
  sessionId: maybe(sessionId('Only of this session')),
  upToVersion: count('Only what had changed by then: the `version` that the person saw'),
});

export const SnoozeItem = record('SnoozeItem', 'Until when an item is hidden.', {
  until: time('At most 30 days from now'),
});

export const InboxQuery = Type.Object({
  limit: maybe(Type.Integer({ description: 'Page size', minimum: 1, maximum: inboxLimits.page })),
  cursor: maybe(text('nextCursor of the page before', { maxLength: 512 })),
  kind: maybe(oneOf(inboxKinds, 'Only of this kind')),
  snoozed: maybe(oneOf(['true'], 'Snoozed items instead of open ones')),
});

export const inboxUpdateFields = {
  version,
  counts: InboxCounts,
  changed: list(InboxItem, 'Items that are new or changed', { maxItems: inboxLimits.changed }),
  removed: list(id('Item id'), 'Items that are closed', { maxItems: inboxLimits.removed }),
  more: maybe(flag('More changed than is listed: reload by REST')),
};

export type InboxCounts = Static<typeof InboxCounts>;
export type InboxItem = Static<typeof InboxItem>;
export type Inbox = Static<typeof Inbox>;
export type InboxState = Static<typeof InboxState>;
export type AckItems = Static<typeof AckItems>;
