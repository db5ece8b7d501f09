// Terminals of a person: windows of a tmux server of its own, each with a fresh shell; and the facts about their processes.
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';

/** Polls until `look` returns a value that is neither undefined, null nor false. Throws with `reason` after `patienceMs`. */
export async function until(look, reason, patienceMs = 60_000) {
  for (const end = Date.now() + patienceMs; ;) {
    const found = await look();
    if (found !== undefined && found !== null && found !== false) return found;
    if (Date.now() > end)
      throw new Error(`not within ${patienceMs / 1000} s: ${typeof reason === 'function' ? reason() : reason}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Fields of /proc/<pid>/stat that follow the name, which can hold anything; undefined for a process that has exited. */
function statOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state, parent, group, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' ? undefined : { parent: Number(parent), group: Number(group), start: rest[16] };
  } catch {
    return undefined;
  }
}
export const lives = (pid) => statOf(pid) !== undefined;
/** Clock ticks from the start of the system to the start of the process. */
export const startOf = (pid) => statOf(pid)?.start;

const processes = () =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const stat = statOf(name);
      return stat ? [{ pid: Number(name), ...stat }] : [];
    });

/** The processes that this process started, directly or not. */
export function descendantsOf(pid) {
  const all = processes();
  const found = [];
  for (const wanted = [pid]; wanted.length > 0;) {
    const parent = wanted.pop();
    for (const child of all) if (child.parent === parent) wanted.push(found[found.push(child.pid) - 1]);
  }
  return found;
}

const isMarked = (pid) => {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').includes('RELAY_DAEMON_AGENT=');
  } catch {
    return false;
  }
};

/**
 * Watches every signal that this process sends, until `restore`. `sent` has the signals that `mayEnd` permits, `foreign` all others
 * except for those to the daemon's own agents.
 */
export function watchSignals(mayEnd) {
  const kill = process.kill;
  const watched = { foreign: [], sent: [], restore: () => void (process.kill = kill) };
  process.kill = (pid, signal = 'SIGTERM') => {
    if (signal !== 0) {
      const receivers = pid > 0 ? [pid] : processes().flatMap((one) => (one.group === -pid ? [one.pid] : []));
      for (const receiver of receivers) {
        if (pid > 0 && mayEnd(receiver)) watched.sent.push(signal);
        else if (lives(receiver) && !isMarked(receiver)) watched.foreign.push(`${signal} to ${pid}`);
      }
    }
    return kill.call(process, pid, signal);
  };
  return watched;
}

/** Kills the programs whose file lies below this folder. */
export function endProgramsBelow(folder) {
  for (const { pid } of processes()) {
    try {
      if (readlinkSync(`/proc/${pid}/exe`).startsWith(`${folder}/`)) process.kill(pid, 'SIGKILL');
    } catch {
      // It has exited, or belongs to another user.
    }
  }
}

let servers = 0;
/** A person's terminals with this environment. `close` closes all of them. */
export function terminals(env) {
  const socket = `relay-terminals-${process.pid}-${++servers}`;
  const tmux = (...args) =>
    execFileSync('tmux', ['-L', socket, '-f', '/dev/null', ...args], {
      env: { ...env, TERM: 'xterm-256color', LANG: 'C.UTF-8' },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  return {
    /** Opens a window in this folder. */
    open(folder, command = 'exec bash --norc --noprofile') {
      const [pane, session, shell] = tmux(
        ...['new-session', '-d', '-x', '140', '-y', '50', '-c', folder],
        ...['-P', '-F', '#{pane_id} #{session_id} #{pane_pid}', command],
      )
        .trim()
        .split(' ');
      const pid = Number(shell);
      return {
        /** The process of its shell. */
        pid,
        programs: () => descendantsOf(pid),
        screen: () => tmux('capture-pane', '-p', '-J', '-S', '-500', '-t', pane),
        type: (text) => tmux('send-keys', '-l', '-t', pane, text),
        press: (...keys) => tmux('send-keys', '-t', pane, ...keys),
        /** As a person closes a window: its processes get SIGHUP. */
        close() {
          try {
            tmux('kill-session', '-t', session);
          } catch {
            // Its shell has exited.
          }
        },
      };
    },
    close() {
      try {
        tmux('kill-server');
      } catch {
        // The server has exited with its last window.
      }
    },
  };
}
