/**
 * Figures of use in quarters of an hour (UTC): turns, cost and tokens of each session, as its agent reports them. They are kept in one file on
 * this machine, and answer questions about days of any time zone. A file that cannot be written costs these figures and nothing else.
 */
import { appendFileSync, closeSync, openSync } from 'node:fs';
import { type Cost, type FromDaemon, type ToDaemon, costIn, spendingLimits } from '@relay/protocol';
import { readIfPresent, reasonOf, replaceOwnerFile } from '@relay/machine';
import type { Clock } from './clock.ts';
import type { Fields } from './transcript/content.ts';

export interface Spending {
  /** A turn begins in this session. */
  turn(sessionId: string): void;
  /** An update of the agent: the cost in it is the total of the session. */
  update(sessionId: string, update: Fields): void;
  /** Tokens of a turn. */
  tokens(sessionId: string, tokens: number): void;
  /** Total of the session, as its agent reported it last. */
  ofSession(sessionId: string, currency: string): number;
  /** Cost of all sessions of an agent on this day of the machine. */
  ofToday(agentType: string, currency: string): number;
  /** Throws a RangeError for a time zone that does not exist. */
  days(
    range: Pick<ToDaemon<'spending_request'>, 'from' | 'to' | 'zone'>,
  ): Required<Pick<FromDaemon<'spending_response'>, 'days' | 'since'>>;
}

type Amounts = Readonly<Record<string, number>>;

/** A session in a quarter of an hour. */
interface Row {
  /** Begin of the quarter, in ms since 1970. */
  at: number;
  agent: string;
  session: string;
  turns: number;
  tokens?: number;
  /** Amounts by currency. */
  cost?: Amounts;
  /** The newest totals of the session, by currency. */
  totals?: Amounts;
}

interface SpendingOptions {
  file: string;
  clock: Pick<Clock, 'now'>;
  agentTypeOf: (sessionId: string) => string;
  onTrouble: (what: string, why: string) => void;
  maxBytes?: number;
}

const quarterMs = 900_000;
const keptMs = spendingLimits.keptDays * 86_400_000;

export function openSpending({
  file,
  clock,
  agentTypeOf,
  onTrouble,
  maxBytes = 4 * 1024 * 1024,
}: SpendingOptions): Spending {
  /** Rows by time and session, the oldest first. */
  const rows = new Map<string, Row>();
  const totals = new Map<string, Amounts>();
  let bytes = 0;
  /** The file lacks a row, or contains only its beginning. */
  let isBehind = false;

  const keep = (row: Row) => {
    rows.set(`${row.at} ${row.session}`, row);
    if (row.totals) totals.set(row.session, row.totals);
  };
  const textOf = (row: Row) => `${JSON.stringify(row)}\n`;

  /** Writes the whole file, with room for further rows. */
  const compact = () => {
    const oldest = clock.now() - keptMs;
    let room = maxBytes * 0.75;
    const texts: string[] = [];
    for (const [key, row] of [...rows].reverse()) {
      const text = textOf(row);
      room -= Buffer.byteLength(text);
      if (row.at < oldest || room < 0) rows.delete(key);
      else texts.push(text);
    }
    const text = texts.reverse().join('');
    replaceOwnerFile(file, text);
    bytes = Buffer.byteLength(text);
    isBehind = false;
  };

  const append = (text: string) => {
    const opened = openSync(file, 'a', 0o600);
    try {
      appendFileSync(opened, text);
    } finally {
      closeSync(opened);
    }
    bytes += Buffer.byteLength(text);
  };

  const save = (write: () => void) => {
    try {
      write();
    } catch (error) {
      isBehind = true;
      onTrouble('figures of use not written', reasonOf(error));
    }
  };

  const change = (sessionId: string, how: (row: Row) => Partial<Row>) => {
    const at = Math.floor(clock.now() / quarterMs) * quarterMs;
    const row = rows.get(`${at} ${sessionId}`) ?? { at, agent: agentTypeOf(sessionId), session: sessionId, turns: 0 };
    const after = { ...row, ...how(row) };
    keep(after);
    const text = textOf(after);
    save(() => (isBehind || bytes + Buffer.byteLength(text) > maxBytes ? compact() : append(text)));
  };

  for (const line of read(file, onTrouble).split('\n')) {
    const row = rowIn(line);
    if (row) keep(row);
  }
  // Also repairs a line that a crash cut off.
  save(compact);

  return {
    turn: (sessionId) => change(sessionId, ({ turns }) => ({ turns: turns + 1 })),
    tokens: (sessionId, count) => change(sessionId, ({ tokens = 0 }) => ({ tokens: tokens + count })),
    update(sessionId, update) {
      const cost = update.sessionUpdate === 'usage_update' ? costIn(update.cost) : undefined;
      if (!cost) return;
      const { amount, currency } = cost;
      const before = totals.get(sessionId) ?? {};
      const total = before[currency] ?? 0;
      if (amount === total) return;
      // A total that fell counts from zero again, for example after `/clear`.
      const spent = amount < total ? amount : amount - total;
      change(sessionId, ({ cost: now = {} }) => ({
        cost: { ...now, [currency]: rounded((now[currency] ?? 0) + spent) },
        totals: { ...before, [currency]: amount },
      }));
    },
    ofSession: (sessionId, currency) => totals.get(sessionId)?.[currency] ?? 0,
    ofToday(agentType, currency) {
      const midnight = new Date(clock.now()).setHours(0, 0, 0, 0);
      const spent = [...rows.values()].filter(({ at, agent }) => at >= midnight && agent === agentType);
      return rounded(spent.reduce((sum, { cost = {} }) => sum + (cost[currency] ?? 0), 0));
    },
    days({ from, to, zone }) {
      const calendar = new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' }); // prettier-ignore
      const dayOf = new Map<number, string>();
      const days = new Map<string, Day>();
      for (const row of rows.values()) {
        const day = dayOf.get(row.at) ?? calendar.format(row.at);
        dayOf.set(row.at, day);
        if (day >= from && day <= to) addTo(days, day, row);
      }
      const [oldest = clock.now()] = [...rows.values()].map(({ at }) => at);
      const byName = [...days].sort(([one], [other]) => (one < other ? -1 : 1));
      return {
        days: byName.flatMap(([, day]) => rowsOf(day)).slice(-spendingLimits.rows),
        since: new Date(oldest).toISOString(),
      };
    },
  };
}

interface Day {
  day: string;
  agent: string;
  turns: number;
  tokens: number | undefined;
  cost: Map<string, number>;
}

function addTo(days: Map<string, Day>, day: string, { agent, turns, tokens, cost = {} }: Row): void {
  const key = `${day} ${agent}`;
  const sum = days.get(key) ?? { day, agent, turns: 0, tokens: undefined, cost: new Map<string, number>() };
  days.set(key, sum);
  sum.turns += turns;
  if (tokens !== undefined) sum.tokens = (sum.tokens ?? 0) + tokens;
  for (const [currency, amount] of Object.entries(cost))
    sum.cost.set(currency, rounded((sum.cost.get(currency) ?? 0) + amount));
}

/** The day of an agent; a second currency has a row of its own. */
function rowsOf({ day, agent, turns, tokens, cost }: Day) {
  const [first, ...others] = [...cost].map(([currency, amount]): Cost => ({ amount, currency }));
  const row = { day, agent_type: agent, turns };
  return [
    { ...row, ...(first ? { cost: first } : {}), ...(tokens === undefined ? {} : { tokens }) },
    ...others.map((other) => ({ ...row, turns: 0, cost: other })),
  ];
}

/** Sums of cents need no digits beyond a millionth. */
const rounded = (amount: number) => Math.round(amount * 1e6) / 1e6;

function read(file: string, onTrouble: SpendingOptions['onTrouble']): string {
  try {
    return readIfPresent(file) ?? '';
  } catch (error) {
    onTrouble('figures of use not read', reasonOf(error));
    return '';
  }
}

/** The file is ours, but an older or newer daemon might have written it. */
function rowIn(line: string): Row | undefined {
  try {
    const row = JSON.parse(line) as Partial<Row> | null;
    const { at, agent, session, turns } = row ?? {};
    const isRow = Number.isSafeInteger(at) && Number.isSafeInteger(turns);
    return isRow && typeof agent === 'string' && typeof session === 'string' ? (row as Row) : undefined;
  } catch {
    return undefined;
  }
}

/** Answers a `spending_request`. */
export function answerSpending(
  spending: Spending,
  { request_id: requestId, ...range }: ToDaemon<'spending_request'>,
): FromDaemon<'spending_response'> {
  const reply = { type: 'spending_response', request_id: requestId } as const;
  try {
    return { ...reply, ...spending.days(range) };
  } catch (error) {
    return { ...reply, error: reasonOf(error) };
  }
}
