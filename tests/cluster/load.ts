/**
 * People who use the relay during faults: each with a daemon, an app and requests. `settle` waits until everything
 * agrees again, and returns the verdict on all events.
 */
import { type Cluster, registerDevice } from '@relay/testing';
import { type AppLife, startAppLife } from './app-life.ts';
import { type Chance, createChance } from './chance.ts';
import { type DaemonLife, startDaemonLife } from './daemon-life.ts';
import { type Doors, direct } from './doors.ts';
import { Journal } from './journal.ts';
import { type Requests, startRequests } from './requests.ts';
import type { Truth } from './truth.ts';
import { until } from './until.ts';
import { type Circumstances, judgeJournal, judgeTruth } from './verdict.ts';

/** Timings of a cluster under load: short, but long enough for a busy machine. */
export const loadTimes: Record<string, string> = {
  PING_INTERVAL_MS: '1000',
  TEST_SILENCE_TIMEOUT_MS: '8000',
  TEST_OFFLINE_GRACE_MS: '1500',
  TEST_LEASE_TTL_MS: '6000',
  TEST_LEASE_REFRESH_MS: '1500',
  TEST_CREDENTIAL_RECHECK_MS: '5000',
  TEST_DAEMON_REPLY_TIMEOUT_MS: '4000',
  TEST_OUTCOME_ASK_MS: '500',
  TEST_OUTBOX_POLL_MS: '1000',
  LOG_LEVEL: 'warn',
};

export interface Person {
  readonly user: string;
  readonly daemon: DaemonLife;
  readonly apps: readonly AppLife[];
  readonly requests: Requests;
}

export interface Load {
  readonly journal: Journal;
  readonly chance: Chance;
  readonly people: readonly Person[];
  /** Records a fault and causes it. */
  readonly fault: (what: string, act: () => unknown) => Promise<void>;
  /** Resolves once new lines of each daemon reach each app of its user. */
  readonly flows: () => Promise<void>;
  /**
   * Call it after all faults: waits until database, leases and daemons agree. Returns the violations and ends the load.
   */
  readonly settle: (circumstances: Circumstances) => Promise<string[]>;
  stop(): Promise<void>;
}

export interface LoadOptions {
  cluster: Cluster;
  truth: Truth;
  seed: number;
  people: number;
  appsEach?: number;
  /** The addresses for peers; any instance by default. */
  doors?: (cluster: Cluster, chance: Chance) => Doors;
  /** The longest pause of a user between two requests. */
  everyMs?: number;
  lineEveryMs?: number;
}

const patienceMs = 30_000;
const silenceMs = 5_000;
const agreementMs = 90_000;

export async function startLoad(options: LoadOptions): Promise<Load> {
  const { cluster, truth, seed } = options;
  const journal = new Journal();
  const chance = createChance(seed);
  const doors = (options.doors ?? direct)(cluster, chance);
  const people: Person[] = [];
  const sessionsOfOthers = (user: string) =>
    people.filter((other) => other.user !== user).flatMap(({ requests }) => requests.sessions.slice(-2));
  for (let n = 0; n < options.people; n += 1) {
    // Names that no other load on this cluster uses.
    const user = `user-${seed * 100 + n}`;
    const registration = await registerDevice(cluster, { user, hostname: 'laptop' });
    const shared = { user, token: cluster.token(user), doors, journal, chance };
    people.push({
      user,
      daemon: startDaemonLife({
        ...{ registration, doors, journal, chance, silenceMs },
        lineEveryMs: options.lineEveryMs ?? 150,
        taskMs: 400,
      }),
      apps: Array.from({ length: options.appsEach ?? 1 }, () => startAppLife({ ...shared, silenceMs })),
      requests: startRequests({
        ...{ ...shared, device: registration.deviceId, patienceMs },
        everyMs: options.everyMs ?? 150,
        strangers: () => sessionsOfOthers(user),
      }),
    });
  }

  const flows = async () => {
    await Promise.all(
      people.map(async ({ user, daemon, apps }) => {
        const spoken: { connection: number; number: number }[] = [];
        await until(`what the daemon of ${user} says reaches its apps`, () => {
          const line = daemon.speak();
          if (line) spoken.push(line);
          return apps.every((app) => spoken.some((said) => app.heard(said)));
        }).catch((error: unknown) => {
          const mine = journal.entries.filter((entry) => 'user' in entry && entry.user === user).slice(-40);
          const seen = mine.map((entry) => JSON.stringify(entry)).join('\n');
          throw new Error(`${(error as Error).message}\n${seen}\n${whatTheySaid(cluster, 3000)}`, { cause: error });
        });
      }),
    );
  };

  const disagreements = async () => {
    const ids = people.map(({ daemon }) => daemon.registration.deviceId);
    const mine = new Set(ids);
    const [tasks, devices, fences] = await Promise.all([truth.tasks(), truth.devices(), truth.fences(ids)]);
    return judgeTruth(
      journal,
      {
        tasks: tasks.filter((row) => mine.has(row.device_id)),
        devices: devices.filter(({ id }) => mine.has(id)),
        fences,
      },
      new Set<string>(),
    );
  };

  const stop = async () => {
    const left = people.splice(0);
    await Promise.all(left.map(({ requests }) => requests.stop()));
    await Promise.all(left.flatMap(({ daemon, apps }) => [daemon.stop(), ...apps.map((app) => app.stop())]));
  };

  return {
    journal,
    chance,
    people,
    fault: async (what, act) => {
      journal.note({ what: 'fault', fault: what });
      await act();
    },
    flows,
    settle: async (circumstances) => {
      let wrong: string[] = [];
      try {
        await Promise.all(people.map(({ requests }) => requests.stop()));
        await until(
          'all daemons are there and have nothing to do',
          () => people.every(({ daemon }) => daemon.connection !== undefined && daemon.running.size === 0),
          agreementMs,
        );
        const agreed = until(
          'database and truth agree',
          async () => (wrong = await disagreements()).length === 0,
          agreementMs,
        );
        await agreed.catch(() => undefined);
        for (const { daemon } of people) daemon.quieten();
        await flows();
      } finally {
        await stop();
      }
      return [...wrong, ...judgeJournal(journal, circumstances)];
    },
    stop,
  };
}

/** The last `characters` of each instance's log, to find the cause of a failure. */
export function whatTheySaid({ apis, gateways }: Cluster, characters = Infinity): string {
  return [...apis, ...gateways].map(({ name, child }) => `${name}:\n${child.output().slice(-characters)}\n`).join('');
}
