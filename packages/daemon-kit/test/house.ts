/** A relay double with daemons, in one process; `clear` stops everything in order. */
import { type Agent, type DaemonOptions, type Step, createDaemon, parseScript, scriptedAgent } from '../src/index.ts';
import { temporaryFolders } from '@relay/testing/folders';
import { type RelayDouble, startRelayDouble } from '../src/conformance/relay-double.ts';

export function house() {
  const folders = temporaryFolders();
  let undo: (() => Promise<void>)[] = [];
  return {
    folder: () => folders.make(),
    async relay(options: { autoPong?: boolean; declares?: readonly string[] } = {}): Promise<RelayDouble> {
      const relay = await startRelayDouble(options);
      undo.push(() => relay.close());
      return relay;
    },
    /** A started daemon. Reconnects fast, so that outages in tests are short. */
    daemon(relay: RelayDouble, agent: Agent, options: Partial<DaemonOptions> = {}) {
      const daemon = createDaemon({
        server: relay.url,
        deviceId: 'device-1',
        refreshToken: 'rly_drt_secret',
        agentType: 'scripted',
        daemonVersion: '1.0.0',
        agent,
        storeDir: options.storeDir ?? folders.make(),
        ...options,
        timings: { initialDelayMs: 20, maxDelayMs: 100, ...options.timings },
      });
      undo.push(() => daemon.stop());
      daemon.start();
      return daemon;
    },
    later(clean: () => Promise<void>) {
      undo.push(clean);
    },
    async clear() {
      const steps = undo.reverse();
      undo = [];
      const failures: unknown[] = [];
      for (const step of steps) await step().catch((error: unknown) => failures.push(error));
      folders.remove();
      if (failures.length > 0) throw failures[0];
    },
  };
}

/** An agent that plays the given turns. */
export const playing = (...turns: (Step[] | { match: string; steps: Step[] })[]): Agent =>
  scriptedAgent(parseScript({ turns }));

/** An agent that echoes every message. */
export const echo = (): Agent => playing([{ type: 'complete', text: 'You said: {message}' }]);
