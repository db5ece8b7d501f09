/** Usage figures for people: amounts of money, and sums over several days and machines. */
import type { UsageDay } from '@relay/protocol';

interface Sum {
  turns: number;
  tokens: number | undefined;
  /** One sum per currency. */
  cost: Map<string, number>;
}

export function sumOf(days: readonly UsageDay[]): Sum {
  const sum: Sum = { turns: 0, tokens: undefined, cost: new Map() };
  for (const { turns, tokens, cost } of days) {
    sum.turns += turns;
    if (tokens !== undefined) sum.tokens = (sum.tokens ?? 0) + tokens;
    if (cost) sum.cost.set(cost.currency, (sum.cost.get(cost.currency) ?? 0) + cost.amount);
  }
  return sum;
}

/** Formats an amount: `$1.42`; `less than $0.01` for an amount that would round to zero. */
export function money(amount: number, currency: string): string {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  return amount > 0 && amount < 0.005 ? `less than ${format.format(0.01)}` : format.format(amount);
}

/** Formats `$1.42 + €3.00`; a dash for an unknown cost. */
export const costText = ({ cost }: Sum): string =>
  [...cost].map(([currency, amount]) => money(amount, currency)).join(' + ') || '–';

export const numberText = (value: number | undefined): string =>
  value === undefined ? '–' : new Intl.NumberFormat('en').format(value);
