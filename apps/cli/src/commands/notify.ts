/** `relay notify` and its subcommands: the notification addresses of the user. */
import {
  type Delivery,
  type CauseLevels,
  type Subscription,
  chosenCauses,
  notifyLevels,
  subscriptionDetails,
} from '@relay/protocol';
import { type Terminal, Failure } from '@relay/machine';
import { exitCodes, usage } from '../failure.ts';
import type { CommonOptions } from './shared-options.ts';
import type { Relay } from '../relay.ts';
import { shrinking, tableOf } from '../show/table.ts';
import { oneLine } from '../show/text.ts';
import { ago } from '../show/times.ts';
import { contextOf } from './context.ts';

interface NotifyAddOptions extends CommonOptions {
  name?: string;
  server?: string;
  token?: string;
  causes?: string;
  detail?: string;
  group?: string;
  delay?: string;
}

const columns = [shrinking('NAME'), 'KIND', 'STATE', 'LAST', 'ID'];

export async function listNotifyCommand(options: CommonOptions, terminal: Terminal): Promise<void> {
  const { relay, print } = contextOf(options, terminal);
  const { subscriptions } = await relay.call('listSubscriptions');
  print({ subscriptions }, () =>
    subscriptions.length === 0
      ? 'No addresses yet. Add one: "relay notify add ntfy <topic>", or turn notifications on in a browser.\n'
      : tableOf(
          columns,
          subscriptions.map(({ label, kind, state, lastDelivery, id }) => [
            label,
            kind,
            state,
            lastDelivery ? `${lastDelivery.state} ${ago(lastDelivery.createdAt)}` : '',
            id,
          ]),
          terminal,
        ),
  );
}

export const isOneOf = <T extends string>(values: readonly T[], typed: string): typed is T =>
  (values as readonly string[]).includes(typed);

/** Parses levels: `done=off,failed=all`. Causes without a level, `needs_you,failed`, select only these causes. */
export function levelsOf(typed: string | undefined): CauseLevels | undefined {
  if (typed === undefined) return undefined;
  const given = typed.split(',').map((word) => word.trim().split('=', 2));
  const levels: CauseLevels = {};
  const named: string[] = [];
  for (const [cause = '', level] of given) {
    if (!isOneOf(chosenCauses, cause))
      throw usage(`There is no cause "${oneLine(cause)}". There are: ${chosenCauses.join(', ')}.`);
    if (level === undefined) named.push(cause);
    else if (isOneOf(notifyLevels, level)) levels[cause] = level;
    else throw usage(`There is no level "${oneLine(level)}". There are: ${notifyLevels.join(', ')}.`);
  }
  if (named.length > 0) for (const cause of chosenCauses) if (!named.includes(cause)) levels[cause] ??= 'off';
  return levels;
}

/** `typed`: the ntfy topic, or the address of a webhook. */
export async function addNotifyCommand(
  kind: string,
  typed: string,
  { name, server, token, causes, detail, group, delay, ...common }: NotifyAddOptions,
  terminal: Terminal,
): Promise<void> {
  if (kind !== 'ntfy' && kind !== 'webhook')
    throw usage('The kind must be "ntfy" or "webhook". Add a browser in the web app, under Settings › Notifications.');
  if (detail !== undefined && !isOneOf(subscriptionDetails, detail))
    throw usage(`--detail is one of: ${subscriptionDetails.join(', ')}.`);
  if (delay !== undefined && !/^\d{1,5}$/.test(delay)) throw usage('--delay is a number of seconds, up to 86400.');
  const { relay, print } = contextOf(common, terminal);
  const chosen = levelsOf(causes);
  const answer = await relay.call('addSubscription', {
    body: {
      kind,
      ...(kind === 'ntfy' ? { topic: typed } : { url: typed }),
      ...(kind === 'ntfy' && server !== undefined ? { url: server } : {}),
      ...(token === undefined ? {} : { token }),
      ...(name === undefined ? {} : { label: name }),
      ...(chosen === undefined ? {} : { causes: chosen }),
      ...(detail === undefined ? {} : { detail }),
      ...(group === undefined ? {} : { group }),
      ...(delay === undefined ? {} : { delaySeconds: Number(delay) }),
    },
  });
  const { subscription, secret } = answer;
  print(answer, () => {
    const added = `Added ${oneLine(subscription.label)} (${subscription.id}).\n`;
    const next = `relay notify test ${subscription.id}`;
    if (secret === undefined) return `${added}Try it: ${next}\n`;
    return `${added}The secret that signs its requests, shown once: ${secret}\nIt is not notified until it has accepted a test: ${next}\n`;
  });
}

/** Finds an address by id, by its first or last characters, or by a part of the name, if exactly one matches. */
async function findAddress(relay: Relay, typed: string): Promise<Subscription> {
  const { subscriptions } = await relay.call('listSubscriptions');
  const wanted = typed.toLowerCase();
  const exact = subscriptions.filter(({ id, label }) => id === typed || label === typed);
  const found =
    exact.length > 0
      ? exact
      : subscriptions.filter(({ id, label }) => {
          const lower = id.toLowerCase();
          return lower.startsWith(wanted) || lower.endsWith(wanted) || label.toLowerCase().includes(wanted);
        });
  if (found.length === 1) return found[0]!;
  const what = found.length === 0 ? 'No address' : 'More than one address';
  const message = `${what} matches "${oneLine(typed)}". "relay notify" lists them.`;
  throw new Failure('SUBSCRIPTION_NOT_FOUND', message, exitCodes.notFound);
}

const isUnderWay = ({ state }: Delivery) => state === 'pending' || state === 'sending';
const pollMs = 500;
const testMs = 60_000;

/** Waits for the outcome: at most a minute, or until the first attempt fails. Exits with 1 if the delivery failed. */
export async function testNotifyCommand(typed: string, options: CommonOptions, terminal: Terminal): Promise<number> {
  const { relay, print } = contextOf(options, terminal);
  const { id, label } = await findAddress(relay, typed);
  const { deliveryId } = await relay.call('testSubscription', { params: { id } });
  const deadline = Date.now() + testMs;
  let delivery: Delivery;
  do {
    await new Promise((resolve) => setTimeout(resolve, pollMs));
    delivery = await relay.call('readDelivery', { params: { id: deliveryId } });
  } while (isUnderWay(delivery) && delivery.reason === undefined && Date.now() < deadline);
  const { state, reason = 'It is still under way.' } = delivery;
  print(delivery, () =>
    state === 'accepted'
      ? `Delivered to ${oneLine(label)}.\n`
      : `Not delivered to ${oneLine(label)}: ${oneLine(reason)}\n`,
  );
  return state === 'accepted' ? exitCodes.ok : exitCodes.failed;
}

export const pauseNotifyCommand =
  (state: 'paused' | 'active') =>
  async (typed: string, options: CommonOptions, terminal: Terminal): Promise<void> => {
    const { relay, print } = contextOf(options, terminal);
    const { id } = await findAddress(relay, typed);
    const changed = await relay.call('changeSubscription', { params: { id }, body: { state } });
    print(changed, () => `${oneLine(changed.label)}: ${changed.state}.\n`);
  };

export async function removeNotifyCommand(typed: string, options: CommonOptions, terminal: Terminal): Promise<void> {
  const { relay, print } = contextOf(options, terminal);
  const { id, label } = await findAddress(relay, typed);
  await relay.call('removeSubscription', { params: { id } });
  print({ id, removed: true }, () => `Removed ${oneLine(label)}. Nothing is sent there from now on.\n`);
}
