/** The inbox: items that wait for a person, across devices (rules, 14.16 to 14.19). camelCase, times in UTC. */
import { Prompt } from './conversation.ts';
import {
  type Static,
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
  '`question`: an agent asks a question. `failure`: a task failed, was lost or expired. `unknown`: the relay does not know whether a message arrived. `finished`: a turn of a watched session completed. `device`: a machine is offline while tasks wait, or two machines use one registration. `missed`: a run of a schedule was missed',
);

const countOf = (what: string) => count(`Open items of kind \`${what}\``);
export const InboxCounts = record(
  'InboxCounts',
  'Numbers of open items. Answers with the same `version` have the same numbers.',
  {
    question: countOf('question'),
    failure: countOf('failure'),
    unknown: countOf('unknown'),
    finished: countOf('finished'),
    device: countOf('device'),
    missed: maybe(count('Open items of kind `missed`; absent: none')),
    snoozed: count('Snoozed items, which no other number includes'),
    total: count('All open items'),
    badge: count('For a badge: question, unknown and failure'),
  },
);

const version = count('Rises with every change of the inbox; the answer with the higher version is newer');

export const InboxItem = record('InboxItem', "An item that needs the person's attention.", {
  id: id('Item id'),
  kind,
  state: oneOf(['open', 'snoozed'], '`snoozed`: hidden until `snoozedUntil`'),
  version: count('Version of the inbox at the last change of the item'),
  createdAt: time('When it was opened'),
  expiresAt: maybe(time('When it closes by itself')),
  snoozedUntil: maybe(time('When a snoozed item is shown again')),
  reason: maybe(
    line(
      'For a failure the code of its task; for a device `offline` or `conflict`; for a missed run `offline`, `down` or `set_back`',
    ),
  ),
  scheduleId: maybe(id('The schedule whose run was missed')),
  deviceId: maybe(id('The device')),
  deviceName: maybe(line('Its name')),
  sessionId: maybe(sessionId('Canonical session id; absent for a device')),
  title: maybe(line('Title of the session')),
  projectPath: maybe(text('Its project', { maxLength: limits.pathCharacters })),
  lastMessage: maybe(text('The last message of the session')),
  taskId: maybe(id('The failed task, or the task with an unknown delivery')),
  error: maybe(text('Why it failed')),
  prompt: maybe(Prompt),
});

export const inboxUpdateFields = {
  version,
  counts: InboxCounts,
  changed: list(InboxItem, 'New and changed items', { maxItems: inboxLimits.changed }),
  removed: list(id('Item id'), 'Closed items', { maxItems: inboxLimits.removed }),
  more: maybe(flag('More items changed than listed: reload over REST')),
};

export type InboxCounts = Static<typeof InboxCounts>;
export type InboxItem = Static<typeof InboxItem>;
