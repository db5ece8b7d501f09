/**
 * Caps on cost, per agent: amounts at which the daemon asks before it begins another turn, and half as much again at which it stops a
 * running one (rules, 22.5). On disk, so that a restart asks nothing twice. A file that cannot be written costs this memory and nothing else.
 */
import { randomUUID } from 'node:crypto';
import { readIfPresent, reasonOf, replaceOwnerFile } from '@relay/machine';
import type { Setting, SettingChange } from '@relay/protocol';
import type { Question } from './agent.ts';
import type { Clock } from './clock.ts';
import { SettingRefused } from './settings.ts';
import type { Spending } from './spending.ts';

const kinds = ['session', 'day'] as const;
type Kind = (typeof kinds)[number];

/** A question of a cap, with the level that its answers change. */
export interface CapQuestion {
  question: Question & { uuid: string };
  key: string;
  cap: number;
  spent: number;
  upTo: number;
}

/** A turn that costs half as much again as its person allowed. Amounts in dollars. */
export interface Overrun {
  error: string;
  spent: number;
  cap: number;
}

export interface Caps {
  /** The question to ask before a turn begins in this session; undefined while it is below its caps. */
  question(sessionId: string): CapQuestion | undefined;
  /** Applies an answer. Returns whether the turn begins. */
  answer(question: CapQuestion, option: string | undefined): boolean;
  /** Why the running turn of this session has to stop; undefined while it can continue. */
  overrun(sessionId: string): Overrun | undefined;
  /** The caps of the agent of a session, as settings; empty while it reports no cost. */
  settings(sessionId: string): Setting[];
  /** Sets a cap of that agent on this machine, and returns its caps. @throws SettingRefused for an unknown cap or amount */
  change(sessionId: string, change: SettingChange): Setting[];
  /** The listener receives the session whose cap changed. */
  onChange: (listener: (sessionId: string) => void) => void;
}

/** Where the next question comes, and the amount that half as much again is counted from. */
interface Level {
  cap: number;
  base: number;
  ask: number;
}

interface State {
  caps: Record<string, Partial<Record<Kind, number>>>;
  levels: Record<string, Level>;
}

interface CapOptions {
  file: string;
  clock: Pick<Clock, 'now'>;
  spending: Pick<Spending, 'ofSession' | 'ofToday'>;
  agentTypeOf: (sessionId: string) => string;
  onTrouble: (what: string, why: string) => void;
}

const currency = 'USD';
const amounts = [1, 2, 5, 10, 20, 50, 100];
const none = 'none';
const tolerance = 1.5;
const maxLevels = 1000;

const capIds: Readonly<Record<Kind, string>> = { session: 'relay.ask_session', day: 'relay.ask_day' };

/** Whether a setting is one of the daemon, and not of its agent. */
export const isCap = (settingId: string): boolean => settingId.startsWith('relay.');
const continues = 'continue';
const raises = 'raise';

export function openCaps({ file, clock, spending, agentTypeOf, onTrouble }: CapOptions): Caps {
  const state = read(file, onTrouble);

  const write = () => {
    for (const key of Object.keys(state.levels).slice(0, -maxLevels)) delete state.levels[key];
    try {
      replaceOwnerFile(file, JSON.stringify(state));
    } catch (error) {
      onTrouble('caps not written', reasonOf(error));
    }
  };

  let changed: (sessionId: string) => void = () => undefined;
  const settingsOf = (agentType: string): Setting[] =>
    kinds.map((kind) => ({
      id: capIds[kind],
      kind: 'option',
      category: 'cap',
      name: kind === 'session' ? 'Ask me at, a session' : 'Ask me at, a day',
      value: String(state.caps[agentType]?.[kind] ?? none),
      options: [none, ...amounts.map(String)].map((id) => ({ id, name: id === none ? 'Never' : dollars(Number(id)) })),
    }));

  /** The caps that concern a session, each with its level and the cost so far. */
  const of = (sessionId: string) => {
    const agent = agentTypeOf(sessionId);
    return kinds.flatMap((kind) => {
      const cap = state.caps[agent]?.[kind];
      if (cap === undefined) return [];
      const day = new Date(clock.now()).toDateString();
      const key = kind === 'session' ? `session ${sessionId}` : `day ${day} ${agent}`;
      const stored = state.levels[key];
      const level = stored?.cap === cap ? stored : { cap, base: cap, ask: cap };
      const spent = kind === 'session' ? spending.ofSession(sessionId, currency) : spending.ofToday(agent, currency);
      return { kind, key, level, spent };
    });
  };

  return {
    question(sessionId) {
      const over = of(sessionId).find(({ level, spent }) => spent >= level.ask);
      if (!over) return undefined;
      const { kind, key, level, spent } = over;
      const upTo = amounts.find((amount) => amount > spent) ?? (Math.floor(spent / 100) + 1) * 100;
      const what =
        kind === 'session' ? 'This session has cost' : 'The sessions of this agent on this machine have cost';
      const prompt = `${what} about ${dollars(spent)}${kind === 'day' ? ' today' : ''}. Continue?`;
      const choices = [
        { id: continues, label: 'Continue' },
        { id: raises, label: `Continue up to ${dollars(upTo)}` },
        { id: 'stop', label: 'Stop here' },
      ];
      const options = choices.map(({ label }) => label);
      const reason = { code: `cap_${kind}`, spent, next: upTo };
      return {
        question: { uuid: randomUUID(), kind: 'choice', person: true, reason, prompt, choices, options },
        key,
        cap: level.cap,
        spent,
        upTo,
      };
    },
    answer({ key, cap, spent, upTo }, option) {
      if (option !== continues && option !== raises) return false;
      const before = state.levels[key];
      const threshold = before?.cap === cap ? before.ask : cap;
      // A session far above its cap continues from its cost.
      const base = option === raises ? upTo : spent < threshold * tolerance ? threshold : spent;
      delete state.levels[key];
      state.levels[key] = { cap, base, ask: option === raises ? upTo : base * tolerance };
      write();
      return true;
    },
    overrun(sessionId) {
      const over = of(sessionId).find(({ level, spent }) => spent >= level.base * tolerance);
      if (!over) return undefined;
      const { spent, level } = over;
      const how = level.base === level.cap ? 'set' : 'allowed';
      const error = `Stopped at about ${dollars(spent)}, half as much again as the ${dollars(level.base)} you ${how}.`;
      return { error, spent, cap: level.base };
    },
    settings: (sessionId) => (spending.ofSession(sessionId, currency) > 0 ? settingsOf(agentTypeOf(sessionId)) : []),
    change(sessionId, { id, value }) {
      const agentType = agentTypeOf(sessionId);
      const kind = kinds.find((name) => capIds[name] === id);
      const amount = amounts.find((one) => String(one) === value);
      if (!kind || (amount === undefined && value !== none))
        throw new SettingRefused('INVALID_SETTING', 'A cap is none, or one of 1, 2, 5, 10, 20, 50 and 100 dollars.');
      const { [kind]: _before, ...others } = state.caps[agentType] ?? {};
      state.caps[agentType] = { ...others, ...(amount === undefined ? {} : { [kind]: amount }) };
      write();
      changed(sessionId);
      return settingsOf(agentType);
    },
    onChange: (listener) => void (changed = listener),
  };
}

const dollars = (amount: number): string => `$${Number.isInteger(amount) ? amount : amount.toFixed(2)}`;

function read(file: string, onTrouble: CapOptions['onTrouble']): State {
  const empty: State = { caps: {}, levels: {} };
  try {
    const { caps, levels } = JSON.parse(readIfPresent(file) ?? '{}') as Partial<State>;
    return { caps: isTable(caps) ? caps : {}, levels: isTable(levels) ? levels : {} };
  } catch (error) {
    onTrouble('caps not read', reasonOf(error));
    return empty;
  }
}

const isTable = <T>(value: T | undefined): value is T => typeof value === 'object' && value !== null;
