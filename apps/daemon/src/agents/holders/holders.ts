/**
 * The programs that have sessions of the agent open outside of this daemon, and how their terminals close (rules, chapter 24). A process
 * counts only if the record of the agent proves it: names, folders and times of files prove nothing.
 */
import { type Clock, type Ended, type Holders, elapsedOn, pause, systemClock } from '@relay/daemon-kit';
import { homeFolder } from '@relay/machine';
import type { Held } from '@relay/protocol';
import type { DeskMode } from '../../config.ts';
import type { Preset } from '../acp/presets.ts';
import { type ProcessFacts, factsOf, isMarked } from './processes.ts';
import {
  type HolderRecord,
  type RecordReader,
  claudeRecords,
  codexRecords,
  copilotRecords,
  qwenRecords,
} from './records.ts';

interface Holder {
  sessionId: string;
  pid: number;
  start: string | undefined;
  held: Held;
}

interface HoldersOptions {
  preset: Pick<Preset, 'title' | 'holder' | 'programs' | 'resume'> | undefined;
  /** The whole environment of the agent: its variables can move its files. */
  env: NodeJS.ProcessEnv;
  /** NAME=value in the environment of our own processes. */
  marker: string;
  /** `show`: holders are reported, and no program is closed. */
  desk: DeskMode;
  clock?: Clock;
  /** How long a signal has before the next step. Both together are less than the relay waits for an answer. */
  patienceMs?: number;
}

const readers = { claude: claudeRecords, codex: codexRecords, qwen: qwenRecords, copilot: copilotRecords } as const;
/** Two clocks of one machine, and the time from the start of a process to its record. */
const startSlackMs = 5000;
/** A look serves every question within this time. */
const lookMs = 400;

export function holdersOf(options: HoldersOptions): Holders {
  const { preset, env, desk, clock = systemClock, patienceMs = 4500 } = options;
  const read: RecordReader = preset?.holder ? readers[preset.holder](env) : () => [];
  let last: { atMs: number; bySession: ReadonlyMap<string, Holder> } | undefined;

  const fresh = (): ReadonlyMap<string, Holder> => {
    const found = read().flatMap((record) => holderOf(record, options) ?? []);
    const counts = new Map<number, Set<string>>();
    for (const { pid, sessionId } of found) counts.set(pid, (counts.get(pid) ?? new Set()).add(sessionId));
    const bySession = new Map<string, Holder>();
    for (const holder of found) {
      const before = bySession.get(holder.sessionId);
      // A sure holder counts before a likely one, then the newest.
      if (before && (before.held.sure || !holder.held.sure) && before.held.since >= holder.held.since) continue;
      const isShared = (counts.get(holder.pid)?.size ?? 0) > 1;
      const held = isShared ? { ...holder.held, why: 'shared' as const, ends: false } : holder.held;
      bySession.set(holder.sessionId, { ...holder, held });
    }
    last = { atMs: elapsedOn(clock), bySession };
    return bySession;
  };
  const look = () => (last && elapsedOn(clock) - last.atMs < lookMs ? last.bySession : fresh());

  /** The process has left, or another one has its number. */
  const goneWithin = async ({ pid, start }: Holder): Promise<boolean> => {
    const until = elapsedOn(clock) + patienceMs;
    for (let waitMs = 10; ; waitMs = Math.min(2 * waitMs, 100)) {
      const facts = factsOf(pid);
      if (facts?.start !== start || facts === undefined) return true;
      if (elapsedOn(clock) >= until) return false;
      await pause(clock, waitMs);
    }
  };

  const end = async (sessionId: string, stopTurn: boolean): Promise<Ended> => {
    let about: Pick<Ended, 'program' | 'terminal'> = {};
    for (let ended = 0; ; ended++) {
      const holder = fresh().get(sessionId);
      if (!holder) return { result: ended === 0 ? 'not_held' : 'released', ...about };
      const { held } = holder;
      about = { program: held.program, ...(held.terminal === undefined ? {} : { terminal: held.terminal }) };
      if (desk !== 'full')
        return { result: 'foreign', ...about, detail: 'This machine does not let Relay close programs.' };
      if (!held.ends) return { result: held.why === 'shared' ? 'shared' : 'foreign', ...about };
      if (isWorking(held) && !stopTurn) return { result: 'busy', ...about };
      if (ended >= maxHolders) return { result: 'failed', ...about, detail: notEnded(held) };
      // Another process might have the number only if all numbers went round since the look.
      if (!signal(holder, 'SIGINT') || (await goneWithin(holder))) continue;
      const still = fresh().get(sessionId);
      if (still?.pid !== holder.pid || still.start !== holder.start || !still.held.ends) continue;
      if (!signal(holder, 'SIGTERM') || (await goneWithin(holder))) continue;
      return { result: 'failed', ...about, detail: notEnded(held) };
    }
  };

  return {
    look: () => new Map([...look()].map(([sessionId, { held }]) => [sessionId, held])),
    of: (sessionId) => fresh().get(sessionId)?.held,
    end,
    command: (sessionId, cwd) => commandFor(preset?.resume, sessionId, cwd, env),
  };
}

/** Several terminals can have one session open. */
const maxHolders = 5;
const isWorking = ({ state }: Held) => state === 'busy' || state === 'waiting';
const notEnded = ({ terminal }: Held) => `It did not end. Close it in ${terminal ?? 'its terminal'}.`;

/** Sends the signal to this process alone, never to a group. False when it has left. */
function signal({ pid, start }: Holder, name: 'SIGINT' | 'SIGTERM'): boolean {
  if (start === undefined || factsOf(pid)?.start !== start) return false;
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

/** Returns the process of a record, if it is not ours and the record proves it. */
function holderOf(record: HolderRecord, { preset, marker, desk }: HoldersOptions): Holder | undefined {
  const facts = factsOf(record.pid);
  if (!facts || !preset || facts.uid !== process.getuid?.() || !facts.isNear) return undefined;
  const isPreset = facts.start === undefined || facts.names.some((name) => preset.programs?.includes(name) === true);
  const proof = proofOf(record, facts);
  if (!isPreset || proof === 'another' || isMarked(record.pid, marker)) return undefined;
  const sure = proof === 'sure';
  const since = (facts.startedAt ?? record.startedAt ?? new Date(0)).toISOString();
  const why = isServer(facts) ? 'shared' : facts.terminal === undefined && sure ? 'foreign' : undefined;
  return {
    sessionId: record.sessionId,
    pid: record.pid,
    start: facts.start,
    held: {
      state: record.state,
      program: preset.title,
      ...(facts.terminal === undefined ? {} : { terminal: facts.terminal }),
      ...(why === undefined ? {} : { why }),
      ...(record.waits === undefined ? {} : { waits: record.waits.slice(0, 200) }),
      since,
      at: record.at ?? since,
      sure,
      ends: sure && why === undefined && desk === 'full',
    },
  };
}

const isServer = ({ words }: ProcessFacts) => words.includes('app-server');

/** `another`: a later process has the number of the recorded one. */
function proofOf({ start, startedAt, isLock }: HolderRecord, facts: ProcessFacts): 'sure' | 'likely' | 'another' {
  if (facts.start === undefined) return 'likely';
  if (isLock) return 'sure';
  if (start !== undefined) return start === facts.start ? 'sure' : 'another';
  if (startedAt === undefined || facts.startedAt === undefined) return 'likely';
  return Math.abs(startedAt.getTime() - facts.startedAt.getTime()) <= startSlackMs ? 'sure' : 'another';
}

/**
 * The command that continues a session in the agent itself, for a POSIX shell. Undefined for an agent whose command was not tried, and
 * for a folder or id that cannot be shown in one line.
 */
function commandFor(
  words: readonly string[] | undefined,
  sessionId: string,
  cwd: string,
  env: NodeJS.ProcessEnv,
): string | undefined {
  if (!words || /[\0-\x1f\x7f-\x9f]/.test(`${sessionId}${cwd}`)) return undefined;
  const command = words.map((word) => quoted(word.replace('{id}', sessionId))).join(' ');
  return cwd === '' ? command : `cd ${pathOf(cwd, homeFolder(env))} && ${command}`;
}

/** A path below the home begins with `~`, which a shell expands outside of quotes only. */
function pathOf(path: string, home: string): string {
  if (path === home) return '~';
  return path.startsWith(`${home}/`) ? `~/${quoted(path.slice(home.length + 1))}` : quoted(path);
}

const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) && !word.startsWith('-')
    ? word
    : /^--?[\w-]+$/.test(word)
      ? word
      : `'${word.replaceAll("'", String.raw`'\''`)}'`;
