/** Records the pids of live agent processes in a file, so that the next daemon can kill the agents of a killed one. */
import type { Log } from '@relay/daemon-kit';
import { readIfPresent, reasonOf, replaceOwnerFile } from '@relay/machine';

interface PidRecord {
  /** The numbers in the file when it was opened. */
  left: readonly number[];
  write(processes: Iterable<{ pid: number | undefined }>): void;
}

export function pidRecord(file: string | undefined, log: Log): PidRecord {
  return {
    left: file === undefined ? [] : readPids(file),
    write(processes) {
      if (file === undefined) return;
      const pids = [...processes].flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
      try {
        replaceOwnerFile(file, `${JSON.stringify(pids)}\n`);
      } catch (error) {
        log.warn('agent processes not recorded', { why: reasonOf(error) });
      }
    },
  };
}

function readPids(file: string): number[] {
  try {
    const value: unknown = JSON.parse(readIfPresent(file) ?? '[]');
    const isPid = (pid: unknown): pid is number => Number.isInteger(pid) && (pid as number) > 1;
    return Array.isArray(value) ? value.filter(isPid) : [];
  } catch {
    return [];
  }
}
