// Processor time and memory of processes, as the kernel counts them (Linux).
import { readFileSync, readdirSync } from 'node:fs';

/** Processor time of all threads of a process so far, in microseconds; 0 when it has gone. */
export function cpuUs(pid) {
  let nanoseconds = 0;
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      try {
        nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ', 1)[0]);
      } catch {
        // The thread has exited.
      }
    }
  } catch {
    // The process has.
  }
  return nanoseconds / 1000;
}

/**
 * Measures the processor time of groups of processes from now on: `{ pods: pids, redis: pids }` → a function that
 * returns µs of each group. A process that exits keeps the time of the last call.
 */
export function startCpu(groups) {
  const last = new Map();
  const used = (pid) => {
    last.set(pid, Math.max(last.get(pid) ?? 0, cpuUs(pid)));
    return last.get(pid);
  };
  const before = Object.entries(groups).map(([name, pids]) => [name, pids.map((pid) => [pid, used(pid)])]);
  return () =>
    Object.fromEntries(before.map(([name, pids]) => [name, pids.reduce((sum, [pid, at]) => sum + used(pid) - at, 0)]));
}
