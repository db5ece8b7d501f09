/** `relay notify settings`, `quiet` and `session`, and `relay notifications`: the causes and times of notifications, and their delivery states. */
import {
  type Delivery,
  type NotificationList,
  type NotificationSettings,
  type QuietHours,
  chosenCauses,
  weekdays,
} from '@relay/protocol';
import type { Terminal } from '@relay/machine';
import { usage } from '../failure.ts';
import { findSessionId, nameOf } from '../naming.ts';
import { listOf, shrinking, tableOf } from '../show/table.ts';
import { oneLine } from '../show/text.ts';
import { ago, clockTime } from '../show/times.ts';
import type { CommonOptions } from './shared-options.ts';
import { contextOf } from './context.ts';
import { isOneOf, levelsOf } from './notify.ts';

interface SettingsOptions extends CommonOptions {
  set?: string;
}

interface QuietOptions extends CommonOptions {
  zone?: string;
  days?: string;
  let?: string;
}

interface HistoryOptions extends CommonOptions {
  limit?: string;
}

function quietText(quiet: QuietHours | null): string {
  if (quiet === null) return 'none';
  const days = quiet.days === undefined ? '' : ` from ${quiet.days.join(', ')}`;
  const passes = quiet.passes ?? ['needs_you'];
  const but = passes.length === 0 ? '' : `; ${passes.join(', ')} pass`;
  return `${quiet.start} to ${quiet.end}${days}, ${quiet.timeZone}${but}`;
}

function settingsText({ causes, quietHours, held }: NotificationSettings): string {
  const rows = chosenCauses.map((cause): [string, string] => [cause, causes[cause]]);
  const until = held.until === undefined ? '' : `, until ${clockTime(held.until)}`;
  return listOf([...rows, ['quiet hours', quietText(quietHours)], ['held', `${held.count}${until}`]]);
}

export async function notifySettingsCommand({ set, ...common }: SettingsOptions, terminal: Terminal): Promise<void> {
  const levels = levelsOf(set);
  const { relay, print } = contextOf(common, terminal);
  const before = await relay.call('readNotificationSettings');
  const { causes, quietHours } = before;
  const settings =
    levels === undefined
      ? before
      : await relay.call('saveNotificationSettings', { body: { causes: { ...causes, ...levels }, quietHours } });
  print(settings, () => settingsText(settings));
}

const split = (typed: string) => typed.split(',').map((word) => word.trim());

function listed<T extends string>(typed: string, allowed: readonly T[], name: string): T[] {
  const words = split(typed).filter((word) => word !== '');
  const wrong = words.find((word) => !isOneOf(allowed, word));
  if (wrong !== undefined) throw usage(`There is no ${name} "${oneLine(wrong)}". There are: ${allowed.join(', ')}.`);
  return words as T[];
}

/** `typed`: `22:00-07:00`, or `off`. */
export async function quietCommand(typed: string, options: QuietOptions, terminal: Terminal): Promise<void> {
  const { zone, days, let: passes, ...common } = options;
  const [, start, end] = /^(\d\d:\d\d)-(\d\d:\d\d)$/.exec(typed) ?? [];
  if (typed !== 'off' && (start === undefined || end === undefined))
    throw usage('Give quiet hours as "22:00-07:00", or "off".');
  const { relay, print } = contextOf(common, terminal);
  const { causes } = await relay.call('readNotificationSettings');
  const quietHours: QuietHours | null =
    start === undefined || end === undefined
      ? null
      : {
          start,
          end,
          timeZone: zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
          ...(days === undefined ? {} : { days: listed(days, weekdays, 'day') }),
          ...(passes === undefined ? {} : { passes: listed(passes, chosenCauses, 'cause') }),
        };
  const settings = await relay.call('saveNotificationSettings', { body: { causes, quietHours } });
  print(settings, () => `Quiet hours: ${quietText(settings.quietHours)}.\n`);
}

const levels = ['all', 'watched', 'off'] as const;

export async function sessionNotifyCommand(
  typed: string,
  level: string,
  options: CommonOptions,
  terminal: Terminal,
): Promise<void> {
  if (!isOneOf(levels, level)) throw usage(`The notifications of a session are one of: ${levels.join(', ')}.`);
  const { relay, print } = contextOf(options, terminal);
  const id = await findSessionId(relay, typed);
  const session = await relay.call('updateSession', { params: { id }, body: { notify: level } });
  print(session, () => `${nameOf(session.id)}: notifications are ${level}.\n`);
}

type SentNotification = NotificationList['notifications'][number];

const subjectOf = ({ sessionId, name, deviceId }: SentNotification) =>
  sessionId === '' ? (name ?? deviceId ?? '') : nameOf(sessionId);

/** Returns the delivery state at one address, with its reason if present. */
const verdictOf = ({ state, reason }: Delivery) => (reason === undefined ? state : `${state}: ${reason}`);

export async function notificationsCommand(options: HistoryOptions, terminal: Terminal): Promise<void> {
  const { limit = '20', ...common } = options;
  if (!/^[1-9]\d{0,2}$/.test(limit) || Number(limit) > 200) throw usage('--limit is a number from 1 to 200.');
  const { relay, print } = contextOf(common, terminal);
  const [{ notifications }, { subscriptions }] = await Promise.all([
    relay.call('listNotifications', { query: { limit: Number(limit) } }),
    relay.call('listSubscriptions'),
  ]);
  const labels = new Map(subscriptions.map(({ id, label }) => [id, label]));
  const rows = notifications.flatMap((one) => {
    const head = [ago(one.createdAt), one.cause, subjectOf(one)];
    if (one.deliveries === undefined || one.deliveries.length === 0) return [[...head, '', one.state]];
    return one.deliveries.map((delivery, index) => [
      ...(index === 0 ? head : ['', '', '']),
      labels.get(delivery.subscriptionId) ?? 'removed',
      verdictOf(delivery),
    ]);
  });
  const columns = ['WHEN', 'CAUSE', shrinking('ABOUT'), shrinking('ADDRESS'), shrinking('OUTCOME')];
  print({ notifications }, () =>
    rows.length === 0 ? 'No notifications in 30 days.\n' : tableOf(columns, rows, terminal),
  );
}
