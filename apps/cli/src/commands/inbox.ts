/** `relay inbox` and its subcommands: items that need the user, across machines. */
import { InboxCopy } from '@relay/client';
import { type Inbox, type InboxCounts, type InboxItem, type InboxKind, inboxKinds } from '@relay/protocol';
import { type Terminal, Failure } from '@relay/machine';
import { exitCodes, usage } from '../failure.ts';
import type { CommonOptions } from './shared-options.ts';
import { happenings } from '../happenings.ts';
import { listening } from '../patience.ts';
import type { Relay } from '../relay.ts';
import { shrinking, tableOf } from '../show/table.ts';
import { oneLine } from '../show/text.ts';
import { ago } from '../show/times.ts';
import { contextOf, jsonLine } from './context.ts';

interface InboxOptions extends CommonOptions {
  kind?: string;
  snoozed?: boolean;
  watch?: boolean;
}

/** Page size: more items than a user reads. */
const shownItems = 100;

const kindNames: Record<InboxKind, string> = {
  question: 'question',
  failure: 'failed',
  unknown: 'not certain',
  finished: 'done',
  device: 'machine',
  missed: 'missed',
};
/** Causes of a missed run. */
const missed: Readonly<Record<string, string>> = {
  offline: 'Its machine was offline.',
  down: 'The relay was down.',
  set_back: 'It can have run: the database was set back.',
};

const columns = ['KIND', shrinking('WHAT'), shrinking('SESSION'), shrinking('MACHINE'), 'SINCE', 'ID'];

function whatOf({ kind, prompt, reason, error, lastMessage }: InboxItem): string {
  if (prompt) return prompt.prompt || prompt.result;
  if (kind === 'unknown') return 'It is not certain that the message arrived.';
  if (kind === 'device')
    return reason === 'conflict' ? 'Two machines use its registration.' : 'Offline while messages wait.';
  if (kind === 'missed') return missed[reason ?? ''] ?? 'A run was missed.';
  return (kind === 'finished' ? lastMessage : error) ?? reason ?? '';
}

function kindOf(typed: string | undefined): InboxKind | undefined {
  const kind = inboxKinds.find((one) => one === typed);
  if (typed !== undefined && kind === undefined)
    throw usage(`There is no kind "${oneLine(typed)}". There are: ${inboxKinds.join(', ')}.`);
  return kind;
}

const shortId = (id: string) => id.slice(0, 8);

/** Returns the last line: the number of further items. Snoozed items are counted over all kinds. */
function summary({ counts, items, nextCursor }: Inbox, snoozed: boolean, kind: InboxKind | undefined): string {
  if (snoozed && kind) return nextCursor === undefined ? '' : 'There are more.';
  const all = snoozed ? counts.snoozed : (counts[kind ?? 'total'] ?? 0);
  const more = all > items.length ? `${all - items.length} more. ` : '';
  const hidden = !snoozed && !kind && counts.snoozed > 0 ? `${counts.snoozed} snoozed (--snoozed). ` : '';
  return `${more}${hidden}`.trimEnd();
}

export async function listInboxCommand(options: InboxOptions, terminal: Terminal): Promise<void> {
  const kind = kindOf(options.kind);
  const context = contextOf(options, terminal);
  if (options.watch) return watchInbox(context, terminal);
  const snoozed = options.snoozed ?? false;
  const query = { limit: shownItems, ...(kind && { kind }), ...(snoozed && { snoozed: 'true' as const }) };
  const inbox = await context.relay.call('listInbox', { query });
  context.print(inbox, () => {
    const more = summary(inbox, snoozed, kind);
    if (inbox.items.length === 0) return `Nothing waits for you.${more === '' ? '' : ` ${more}`}\n`;
    const rows = inbox.items.map((item) => [
      kindNames[item.kind],
      whatOf(item),
      item.title ?? '',
      item.deviceName ?? '',
      ago(item.createdAt),
      shortId(item.id),
    ]);
    return `${tableOf(columns, rows, terminal)}${more === '' ? '' : `${more}\n`}`;
  });
}

/** Finds an item by the beginning of its id, as listed, if exactly one matches. @throws Failure ITEM_NOT_FOUND */
async function findItem(relay: Relay, typed: string): Promise<InboxItem> {
  const open = await relay.call('listInbox', { query: { limit: shownItems } });
  const hidden = await relay.call('listInbox', { query: { limit: shownItems, snoozed: 'true' } });
  const found = [...open.items, ...hidden.items].filter(({ id }) => id.startsWith(typed.toLowerCase()));
  if (found.length === 1) return found[0]!;
  const what = found.length === 0 ? 'No item' : 'More than one item';
  throw new Failure(
    'ITEM_NOT_FOUND',
    `${what} matches "${oneLine(typed)}". "relay inbox" lists them.`,
    exitCodes.notFound,
  );
}

const left = ({ total }: InboxCounts) => (total === 0 ? 'Nothing waits for you.\n' : `${total} left.\n`);

/** Acknowledges one item or, with `all`, every item that needs no answer and existed when the command began. */
export async function ackInboxCommand(
  typed: string | undefined,
  { all = false, ...options }: CommonOptions & { all?: boolean },
  terminal: Terminal,
): Promise<void> {
  if (all === (typed !== undefined)) throw usage('Name one item, or give --all.');
  const { relay, print } = contextOf(options, terminal);
  const upTo = async () => (await relay.call('listInbox', { query: { limit: 1 } })).version;
  const state =
    typed === undefined
      ? await relay.call('ackInbox', { body: { upToVersion: await upTo() } })
      : await relay.call('ackItem', { params: { id: (await findItem(relay, typed)).id } });
  print(state, () => left(state.counts));
}

const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses `30m`, `2h` or `3d`, from now on. @throws Failure BAD_USAGE */
export function untilOf(typed: string, nowMs: number): Date {
  const [, count, unit] = /^(\d{1,4})([mhd])$/.exec(typed) ?? [];
  const ms = Number(count) * (units[unit ?? ''] ?? NaN);
  if (!(ms > 0)) throw usage('A time is a number with m, h or d: 30m, 2h, 3d.');
  return new Date(nowMs + ms);
}

/** `time`: the duration; `off` shows the item again. */
export async function snoozeInboxCommand(
  typed: string,
  time: string,
  options: CommonOptions,
  terminal: Terminal,
): Promise<void> {
  const until = time === 'off' ? undefined : untilOf(time, Date.now());
  const { relay, print } = contextOf(options, terminal);
  const { id } = await findItem(relay, typed);
  const state =
    until === undefined
      ? await relay.call('unsnoozeItem', { params: { id } })
      : await relay.call('snoozeItem', { params: { id }, body: { until: until.toISOString() } });
  print(state, () => left(state.counts));
}

type Context = ReturnType<typeof contextOf>;

/** Prints the counts, and new items after each change, until interrupted. With --json, prints the state and each frame, one per line. */
async function watchInbox({ relay, json }: Context, terminal: Terminal): Promise<void> {
  const show = (record: { counts: InboxCounts }, items: readonly InboxItem[]) => {
    if (json) return terminal.out(jsonLine(record));
    for (const item of items.filter(({ state }) => state === 'open'))
      terminal.out(
        `${kindNames[item.kind]}: ${oneLine(whatOf(item))} (${oneLine(item.title ?? item.deviceName ?? '')}, ${shortId(item.id)})\n`,
      );
    terminal.out(left(record.counts).replace(' left', ' waiting'));
  };
  const quiet = () => undefined;
  await listening(relay, quiet, async (patient, signal) => {
    const inbox = new InboxCopy(patient);
    let shown = -1;
    for await (const happening of happenings({ relay: patient, output: false, signal })) {
      if (happening.kind === 'gap') inbox.apply({ type: 'resync' });
      const frame = happening.kind === 'frame' ? happening.frame : undefined;
      const changed = frame && inbox.apply(frame);
      if (changed && frame.type === 'inbox_update') {
        show(frame, changed);
        shown = frame.version;
      }
      if (inbox.isBehind || happening.kind === 'connected') {
        const answer = await inbox.load();
        if (answer && answer.version !== shown) show(answer, answer.items);
        shown = answer?.version ?? shown;
      }
      await terminal.drained();
    }
  });
}
