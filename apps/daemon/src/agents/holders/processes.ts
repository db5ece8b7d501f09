/** Facts about a process of this machine, from /proc. Other systems only show whether it lives. */
import { readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';

export interface ProcessFacts {
  pid: number;
  /** Clock ticks from the start of the system to the start of the process; undefined outside of Linux. */
  start?: string;
  startedAt?: Date;
  uid: number;
  /** The names it can be known by: of the process, its executable and its script. */
  names: readonly string[];
  /** Its command line, as arguments. */
  words: readonly string[];
  /** Its controlling terminal. */
  terminal?: string;
  /** Whether it sees the same numbers of processes as we do. */
  isNear: boolean;
}

/** Linux reports times of processes in hundredths of a second on every architecture that Node.js runs on. */
const ticksPerSecond = 100;

export function factsOf(pid: number): ProcessFacts | undefined {
  if (!Number.isSafeInteger(pid) || pid < 2 || pid === process.pid) return undefined;
  if (process.platform !== 'linux') return livesHere(pid);
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
    // Field 3 is the first after the name, which can hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, start] = [fields[0] ?? '', fields[19] ?? ''];
    if (state === 'Z' || state === 'X') return undefined;
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    const terminal = terminalOf(Number(fields[4]));
    const startedAt = dateOf(Number(start));
    return {
      pid,
      start,
      ...(startedAt === undefined ? {} : { startedAt }),
      uid: uidOf(pid),
      names: [...new Set([name, ...programsIn(words)])],
      words,
      ...(terminal === undefined ? {} : { terminal }),
      isNear: linkOf(pid, 'ns/pid') === linkOf('self', 'ns/pid'),
    };
  } catch {
    // It has just left, or belongs to another user whose processes are hidden.
    return undefined;
  }
}

/** Whether the process carries this text (NAME=value) in its environment. */
export function isMarked(pid: number, marker: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(marker);
  } catch {
    return false;
  }
}

function livesHere(pid: number): ProcessFacts | undefined {
  try {
    process.kill(pid, 0);
  } catch {
    return undefined;
  }
  return { pid, uid: process.getuid?.() ?? 0, names: [], words: [], isNear: true };
}

const linkOf = (pid: number | 'self', name: string) => readlinkSync(`/proc/${pid}/${name}`);

const uidOf = (pid: number) =>
  Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? Number.NaN);

/** The program, and the script of an interpreter. */
function programsIn([program = '', script = '']: readonly string[]): string[] {
  const name = basename(program);
  return [name, ...(/^(?:node|bun|deno|python[\d.]*)$/.test(name) ? [basename(script)] : [])].filter(Boolean);
}

/** The device number of a terminal as people know it. */
function terminalOf(device: number): string | undefined {
  const [major, minor] = [(device >> 8) & 0xfff, (device & 0xff) | ((device >> 12) & 0xfff00)];
  if (major >= 136 && major <= 143) return `pts/${(major - 136) * 256 + minor}`;
  return major === 4 && minor < 64 ? `tty${minor}` : undefined;
}

function dateOf(ticks: number): Date | undefined {
  const at = new Date(bootMs() + (ticks / ticksPerSecond) * 1000);
  return Number.isNaN(at.getTime()) ? undefined : at;
}

/** Linux computes the file for each reader, which takes a third of a look at fifty programs. */
const bootForMs = 60_000;
let boot: { ms: number; readAtMs: number } | undefined;

function bootMs(): number {
  const now = performance.now();
  if (boot && now - boot.readAtMs < bootForMs) return boot.ms;
  const seconds = Number(/^btime (\d+)/m.exec(readFileSync('/proc/stat', 'latin1'))?.[1] ?? Number.NaN);
  boot = { ms: seconds * 1000, readAtMs: now };
  return boot.ms;
}
