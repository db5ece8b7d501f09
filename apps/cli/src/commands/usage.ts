/** `relay usage` and `relay context`: usage figures of a session, or of all machines by day (rules, 22). */
import { type Device, type DeviceUsage, costIn, limitsIn, spendingLimits } from '@relay/protocol';
import { type Terminal, Failure } from '@relay/machine';
import { exitCodes, usage } from '../failure.ts';
import type { CommonOptions } from './shared-options.ts';
import { findSessionId } from '../naming.ts';
import { costText, money, numberText, sumOf } from '../show/figures.ts';
import { listOf, shrinking, tableOf } from '../show/table.ts';
import { oneLine } from '../show/text.ts';
import { clockTime } from '../show/times.ts';
import { type Context, contextOf } from './context.ts';

interface UsageOptions extends CommonOptions {
  days?: string;
}

/** Formats a local date: `2026-03-14`. */
const calendarDay = (date: Date): string =>
  [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, '0')).join('-');

export async function usageCommand(
  typed: string | undefined,
  options: UsageOptions,
  terminal: Terminal,
): Promise<void> {
  if (typed !== undefined && options.days !== undefined)
    throw usage('--days is for machines: name no session with it.');
  if (typed !== undefined) return contextCommand(typed, options, terminal);
  const days = Number(options.days ?? 30);
  if (!Number.isInteger(days) || days < 1 || days > spendingLimits.days)
    throw usage(`--days is a number from 1 to ${spendingLimits.days}.`);
  await usageOfMachines(contextOf(options, terminal), terminal, days);
}

export async function contextCommand(typed: string, options: CommonOptions, terminal: Terminal): Promise<void> {
  const { relay, print } = contextOf(options, terminal);
  const context = await relay.call('readContext', { params: { id: await findSessionId(relay, typed) } });
  print(context, () => {
    const { usedTokens, maxTokens, details } = context;
    const { cost: given, limits } = details as { cost?: unknown; limits?: unknown };
    const cost = costIn(given);
    const share = usedTokens !== null && maxTokens ? ` (${Math.round((usedTokens / maxTokens) * 100)}%)` : '';
    const size = maxTokens === null ? '' : ` of ${numberText(maxTokens)}`;
    const rows: [string, string][] = [
      ['Context', usedTokens === null ? 'not reported' : `${numberText(usedTokens)}${size} tokens${share}`],
      ['Cost', cost ? `about ${money(cost.amount, cost.currency)}` : 'not reported'],
    ];
    for (const { name, used, resets } of limitsIn(limits)) {
      const again = resets === undefined ? '' : `resets ${clockTime(resets)}`;
      const share = used === undefined ? '' : `${Math.round(used * 100)}%`;
      rows.push([oneLine(name), [share, again].filter(Boolean).join(', ')]);
    }
    return listOf(rows);
  });
}

async function usageOfMachines({ relay, print }: Context, terminal: Terminal, days: number): Promise<void> {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const today = new Date();
  const first = new Date(today);
  first.setDate(today.getDate() - days + 1);
  const query = { from: calendarDay(first), to: calendarDay(today), zone };
  const { devices } = await relay.call('listDevices');
  const reporting = devices.filter(({ capabilities }) => capabilities.includes('spending'));
  const answers = await Promise.all(
    reporting.map(async (device): Promise<{ device: Device; usage?: DeviceUsage }> => {
      try {
        return { device, usage: await relay.call('readUsage', { params: { id: device.id }, query }) };
      } catch (error) {
        if (error instanceof Failure && error.exitCode === exitCodes.deviceOffline) return { device };
        throw error;
      }
    }),
  );
  const missing = answers.filter(({ usage }) => !usage).map(({ device }) => device);
  const record = {
    ...query,
    devices: answers.flatMap(({ usage }) => usage ?? []),
    missing: missing.map(({ id }) => id),
  };
  print(record, () => {
    const rows = answers.flatMap(({ device, usage }) =>
      [...new Set(usage?.days.map(({ agentType }) => agentType))].map((agent) => {
        const sum = sumOf(usage?.days.filter(({ agentType }) => agentType === agent) ?? []);
        return [oneLine(device.name), oneLine(agent), numberText(sum.turns), costText(sum), numberText(sum.tokens)];
      }),
    );
    const table = tableOf([shrinking('MACHINE'), 'AGENT', 'TURNS', 'COST', 'TOKENS'], rows, terminal);
    const away = missing.map(({ name }) => `${oneLine(name)} is offline; its figures are missing.\n`).join('');
    return `${rows.length === 0 ? 'No figures yet.\n' : table}${away}`;
  });
}
