/**
 * The whole daemon, without command line and registration files: give it a relay, a credential, an agent and a folder. Several
 * daemons can share one process, each with its own folder.
 */
import type { FromDaemon } from '@relay/protocol';
import { type Assembled, assemble } from './assembly.ts';
import { settledWithin, systemClock } from './clock.ts';
import { type Daemon, type DaemonOptions, daemonTimings } from './daemon-options.ts';
import { createShownState, isOpen } from './daemon-state.ts';
import { silentLog } from './log.ts';
import type { Stop } from './reconnect.ts';
import { failed } from './task-ends.ts';

export function createDaemon(options: DaemonOptions): Daemon {
  const { clock = systemClock, log = silentLog, onChange } = options;
  const farewellMs = options.timings?.farewellMs ?? daemonTimings.farewellMs;
  const shown = createShownState({ clock, log, about: { server: options.server, device: options.deviceId }, onChange });
  const waiting: (() => void)[] = [];
  let started: Assembled | undefined;
  let stopping: Promise<void> | undefined;
  let over: (stop: Stop) => void = () => undefined;
  const ended = new Promise<Stop>((resolve) => (over = resolve));
  const end = (stop: Stop) => {
    started?.journal.close();
    over(stop);
  };

  const leave = async ({ tasks, connection, journal }: Assembled) => {
    // Results come later: the relay answers each with the next message of its session.
    connection.send(JSON.stringify({ type: 'stopping' } satisfies FromDaemon<'stopping'>));
    await tasks.stop(failed('daemon_stopped'));
    if (isOpen(shown) && journal.owed().length > 0) {
      const received = new Promise<void>((resolve) => connection.confirm(resolve));
      await settledWithin(clock, farewellMs, received);
    }
    await connection.close();
    end({ reason: 'stopped', message: 'The daemon was stopped.' });
  };

  return {
    start() {
      if (started) throw new TypeError('the daemon was already started');
      const { tasks, connection } = (started = assemble(options, {
        shown,
        onOpened() {
          for (const resolve of waiting.splice(0)) resolve();
        },
        onRefused(stop) {
          stopping ??= tasks.stop({ type: 'ERROR', error: stop.message });
          void stopping.then(() => end(stop));
        },
      }));
      tasks.recover();
      connection.start();
    },
    stop() {
      if (!started) {
        over({ reason: 'stopped', message: 'The daemon was stopped.' });
        return Promise.resolve();
      }
      stopping ??= leave(started);
      return stopping;
    },
    abort: () => started?.agent.abort?.(),
    connected() {
      if (isOpen(shown)) return Promise.resolve();
      return new Promise((resolve) => waiting.push(resolve));
    },
    ended,
    state: shown.now,
    counts: () => started?.inbound.counts() ?? { unknown: 0, invalid: 0 },
  };
}
