/**
 * Stops a process together with everything it started. The program leads its own group (`detached`), so one signal
 * reaches them all; a process that leaves the group (setsid) escapes. Windows has no groups: taskkill walks the tree
 * there.
 */
import { spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { type Clock, elapsedOn, pause } from '@relay/daemon-kit';

export interface KillTimings {
  /** The delay between SIGTERM and SIGKILL. */
  killAfterMs: number;
  /** The time that a killed group has to disappear before the wait gives up. */
  giveUpMs: number;
}

export const killTimings: KillTimings = { killAfterMs: 3000, giveUpMs: 2000 };

/**
 * SIGTERM, then SIGKILL to the rest. Resolves when the group is empty, or when the wait gives up. Signals a number only
 * while its group exists: during that time the system does not reuse it.
 */
export async function endGroup(leader: number, clock: Clock, { killAfterMs, giveUpMs }: KillTimings): Promise<void> {
  if (!signalGroup(leader, 'SIGTERM')) return;
  if (await emptyWithin(leader, clock, killAfterMs)) return;
  if (!signalGroup(leader, 'SIGKILL')) return;
  await emptyWithin(leader, clock, giveUpMs);
}

/** Returns false if no process received the signal. */
export function signalGroup(leader: number, signal: 'SIGTERM' | 'SIGKILL'): boolean {
  if (process.platform === 'win32') {
    spawn('taskkill', ['/pid', String(leader), '/T', '/F'], { stdio: 'ignore', windowsHide: true }).on(
      'error',
      () => undefined,
    );
    return false;
  }
  try {
    process.kill(-leader, signal);
    return true;
  } catch {
    return false;
  }
}

async function emptyWithin(leader: number, clock: Clock, limitMs: number): Promise<boolean> {
  const deadline = elapsedOn(clock) + limitMs;
  for (let waitMs = 5; ; waitMs = Math.min(waitMs * 2, 100)) {
    if (!lives(leader)) return true;
    if (elapsedOn(clock) >= deadline) return false;
    await pause(clock, waitMs);
  }
}

function lives(leader: number): boolean {
  try {
    process.kill(-leader, 0);
  } catch {
    return false;
  }
  // A container whose first process reaps no children keeps dead processes in their group as zombies forever.
  return process.platform !== 'linux' || membersOf(leader).some(({ state }) => state !== 'Z' && state !== 'X');
}

/** Linux only: the processes of a group. */
function membersOf(leader: number): { pid: number; state: string }[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
      // pid (command, can hold any text) state ppid pgrp
      const [state = '', , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return Number(group) === leader ? [{ pid: Number(name), state }] : [];
    } catch {
      return [];
    }
  });
}

/**
 * Kills a group that a crashed daemon left behind, but only if one of its members carries `marker` (NAME=value) in its
 * environment: another program might have taken the number. Linux only; elsewhere nothing proves whose group it is.
 */
export function killLeftOver(leader: number, marker: string): boolean {
  if (process.platform !== 'linux') return false;
  const ours = membersOf(leader).some(({ pid }) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(marker);
    } catch {
      return false;
    }
  });
  return ours && signalGroup(leader, 'SIGKILL');
}
