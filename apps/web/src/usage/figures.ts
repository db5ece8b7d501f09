/** Figures of use of a session, in the items of its turns and in the answer of its machine. */
import type { Cost, Message, SessionContext, UsageLimit } from '@relay/protocol';
import { costIn, limitsIn } from '@relay/protocol/plain';
import { timeOf } from '../catalogue.ts';
import { locale } from '../languages/language.ts';

/** The caps of the agent on this machine, by the id of their setting. */
export type CapValues = Readonly<Record<string, string>>;

export interface Figures {
  /** Tokens in the context, and tokens that fit into it. */
  used: number | undefined;
  size: number | undefined;
  cost: Cost | undefined;
  limits: readonly UsageLimit[];
  /** When the turn reported them. */
  at: string;
}

const count = (value: unknown) => (typeof value === 'number' && value >= 0 ? value : undefined);

/** The newest figures among these items; undefined where no turn reported any. */
export function figuresIn(messages: readonly Message[]): Figures | undefined {
  const items = messages.filter(({ part }) => part?.kind === 'usage').reverse();
  const [newest] = items;
  if (!newest) return undefined;
  const first = <T>(read: (part: Record<string, unknown>) => T | undefined): T | undefined => {
    for (const { part } of items) {
      const found = read(part as Record<string, unknown>);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return {
    used: count(newest.part?.['used']),
    size: first(({ size }) => count(size)),
    cost: first(({ cost }) => costIn(cost)),
    limits: first(({ limits }) => (Array.isArray(limits) ? limitsIn(limits) : undefined)) ?? [],
    at: newest.timestamp,
  };
}

/** The same, where the machine answered with newer ones. */
export function withAnswer(figures: Figures, { usedTokens, maxTokens, details }: SessionContext): Figures {
  const { cost, limits } = details as { cost?: unknown; limits?: unknown };
  const newer = limitsIn(limits);
  return {
    used: usedTokens ?? figures.used,
    size: maxTokens ?? figures.size,
    cost: costIn(cost) ?? figures.cost,
    limits: newer.length > 0 ? newer : figures.limits,
    at: figures.at,
  };
}

export function capsIn({ details }: SessionContext): CapValues | undefined {
  const { caps } = details as { caps?: unknown };
  return typeof caps === 'object' && caps !== null ? (caps as CapValues) : undefined;
}

/** Returns 0 to 100; undefined without a size. */
export const percentOf = ({ used, size }: Pick<Figures, 'used' | 'size'>): number | undefined =>
  used === undefined || !size ? undefined : Math.min(100, Math.round((used / size) * 100));

export function money({ amount, currency }: Cost): string {
  const format = new Intl.NumberFormat(locale, { style: 'currency', currency, currencyDisplay: 'narrowSymbol' });
  return amount > 0 && amount < 0.005 ? `< ${format.format(0.01)}` : format.format(amount);
}

/** Sums by currency: amounts of different currencies are never added. */
export function sums(costs: readonly (Cost | undefined)[]): Cost[] {
  const byCurrency = new Map<string, number>();
  for (const cost of costs) if (cost) byCurrency.set(cost.currency, (byCurrency.get(cost.currency) ?? 0) + cost.amount);
  return [...byCurrency].map(([currency, amount]) => ({ amount, currency }));
}

/** Returns a day a number of days ago, local time, as `2026-03-14`. */
export function calendarDay(daysAgo: number): string {
  const date = new Date();
  date.setDate(date.getDate() - daysAgo);
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()]
    .map((part) => String(part).padStart(2, '0'))
    .join('-');
}

/** `15:00`, or `Mon 9:00` on another day. */
export function whenOf(iso: string): string {
  const at = new Date(iso);
  if (at.toDateString() === new Date().toDateString()) return timeOf(iso);
  return new Intl.DateTimeFormat(locale, { weekday: 'short', hour: 'numeric', minute: '2-digit' }).format(at);
}

export const zoneHere = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;
