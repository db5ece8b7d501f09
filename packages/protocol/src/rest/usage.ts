/** Figures of use of a device, by day: turns, cost and tokens, as its agents report them (rules, 22). camelCase. */
import { type Static, count, limits, list, maybe, record, text } from '../schema.ts';
import { Cost } from '../transcript/figures.ts';
import { version } from '../transcript/index.ts';

export const spendingLimits = {
  /** Days of one question. */
  days: 92,
  /** Days that a daemon keeps. */
  keptDays: 400,
  /** Rows of one answer: a day of an agent, in a currency. */
  rows: 2000,
} as const;

/** A day such as `2026-03-14`. */
export const calendarDay = (description: string) => text(description, { minLength: 1, maxLength: 32 });
export const timeZone = (description: string) => text(description, { minLength: 1, maxLength: 64 });

/** Members of a row, the same on both planes. */
export const figures = {
  day: calendarDay('Calendar day in that zone, `2026-03-14`'),
  turns: count('Turns that began on this day'),
  cost: maybe(Cost),
  tokens: maybe(version('Tokens of these turns, if the agent reports them')),
};
export const agentName = text('Type of the agent', { minLength: 1, maxLength: 64 });
export const since = text("Start of the daemon's figures (ISO 8601)", { maxLength: limits.timeCharacters });

export const UsageDay = record('UsageDay', 'Use of one agent on one day. A second currency has a row of its own.', {
  ...figures,
  agentType: agentName,
});

export const usageDays = list(UsageDay, 'Sorted by day, then by agent; days without use are omitted', {
  maxItems: spendingLimits.rows,
});

export type UsageDay = Static<typeof UsageDay>;
