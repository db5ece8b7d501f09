/** `relay account activity`: lists the actions in the user's name, newest first. */
import type { Terminal } from '@relay/machine';
import { usage } from '../failure.ts';
import { shrinking, tableOf } from '../show/table.ts';
import { clockTime } from '../show/times.ts';
import type { CommonOptions } from './shared-options.ts';
import { contextOf } from './context.ts';

const maxEntries = 10_000;
const pageSize = 100;

export async function activityCommand(options: CommonOptions & { limit: string }, terminal: Terminal): Promise<void> {
  const wanted = Number(options.limit);
  if (!/^\d+$/.test(options.limit) || wanted < 1 || wanted > maxEntries)
    throw usage(`--limit must be a number from 1 to ${maxEntries}.`);
  const { relay, print } = contextOf(options, terminal);
  const entries = [];
  let cursor: string | undefined;
  do {
    const limit = Math.min(pageSize, wanted - entries.length);
    const page = await relay.call('listAudit', { query: { limit, ...(cursor === undefined ? {} : { cursor }) } });
    entries.push(...page.entries);
    cursor = page.nextCursor;
  } while (cursor !== undefined && entries.length < wanted);
  const columns = ['WHEN', 'ACTION', 'OUTCOME', 'PROGRAM', 'FROM', shrinking('TARGET')];
  const rows = entries.map(({ at, action, outcome, times, program = '', address = '', target = '' }) => [
    clockTime(at),
    action,
    times === undefined ? outcome : `${outcome} ×${times}`,
    program,
    address,
    target,
  ]);
  print({ entries }, () => (rows.length === 0 ? 'Nothing in the last 90 days.\n' : tableOf(columns, rows, terminal)));
}
