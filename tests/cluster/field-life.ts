/**
 * A person with one field daemon, a watching app, and a conversation with a message every two seconds. The daemon drops
 * its events while it is disconnected, and never repeats them. The journal has everything.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Session } from '@relay/protocol';
import {
  type Cluster,
  type FieldDaemon,
  type FieldTask,
  type Habits,
  type TestDaemon,
  startFieldDaemon,
} from '@relay/testing';
import { type AppLife, startAppLife } from './app-life.ts';
import type { Chance } from './chance.ts';
import type { Doors } from './doors.ts';
import type { Journal } from './journal.ts';
import { createCaller } from './requests.ts';

export interface FieldLife {
  readonly user: string;
  readonly kind: string;
  readonly daemon: FieldDaemon;
  readonly app: AppLife;
  /** Its sessions, by their first ids. */
  readonly sessions: readonly string[];
  /**
   * Stops new messages except one per session, which continues after an unknown delivery; from now on, turns end with
   * an answer.
   */
  quieten(): Promise<void>;
  /** Answers open questions, and continues after an unknown delivery, for which earlier messages wait. */
  reply(): Promise<void>;
  stop(): Promise<void>;
}

export interface FieldLifeOptions {
  cluster: Cluster;
  doors: Doors;
  user: string;
  kind: string;
  habits: Habits;
  journal: Journal;
  chance: Chance;
  /** The mean interval of messages in a conversation. */
  everyMs: number;
  /** The duration of the longest turn. */
  turnMs: number;
}

const patienceMs = 30_000;
const reportEveryMs = 1000;
/** The mean number of messages before the person begins another session. */
const messagesPerSession = 12;

export async function startFieldLife(options: FieldLifeOptions): Promise<FieldLife> {
  const { cluster, doors, user, kind, habits, journal, chance } = options;
  const token = cluster.token(user);
  const gateways = [{ url: doors.gateway() }];
  const daemon = await startFieldDaemon({ ...cluster, gateways }, { user, habits, again: { afterMs: 200 } });
  const { deviceId: device } = daemon;
  const numbers = new WeakMap<TestDaemon, number>();
  const connection = () => {
    const { connection: open } = daemon;
    if (!open) return 0;
    if (!numbers.has(open)) numbers.set(open, journal.number('connection'));
    return numbers.get(open)!;
  };
  let quiet = false;
  let stopped = false;

  const turn = async (task: FieldTask) => {
    journal.note({ what: 'written', user, device, connection: connection(), task: task.id });
    const number = journal.number('turn');
    const words = (what: string) => `the ${what} ${number} of ${user}`;
    const hidden = habits.hidesItsSessions === true;
    const keep = (what: 'answer' | 'question' | 'error') => {
      if (!habits.noHistory) journal.note({ what: 'kept', user, task: task.id, kind: what, text: words(what), hidden });
    };
    await delay(chance.between(50, options.turnMs / 2));
    const steps = chance.below(3) === 0;
    if (steps) daemon.say(task, words('step'));
    await delay(chance.between(50, options.turnMs / 2));
    const dice = quiet ? 99 : chance.below(100);
    if (dice >= 15) {
      keep('answer');
      daemon.finish(task, words('answer'));
    } else if (dice >= 5) {
      keep('question');
      daemon.say(task, words('question'));
      daemon.ask(task, words('question'), 'yes', 'no');
    } else {
      keep('error');
      daemon.say(task, words('error'));
      daemon.fail(task, 'the agent gave up');
    }
  };
  void (async () => {
    while (!stopped) {
      const task = await daemon.nextTask();
      if (!stopped) void turn(task);
    }
  })();
  const reports = setInterval(() => daemon.report(), reportEveryMs);

  const app = startAppLife({ user, token, doors, journal, chance, silenceMs: 8000 });
  const { once, surely } = createCaller({ user, token, device, doors, journal, chance, patienceMs });
  const sessions: string[] = [];
  const at = (session: string) => `/api/sessions/${encodeURIComponent(session)}`;
  const create = async () => {
    const message = `a job of ${user} ${journal.number('job')}`;
    const reply = await surely('/api/sessions', { deviceId: device, message });
    if (reply && reply.status < 300) sessions.push((JSON.parse(reply.text) as { id: string }).id);
  };
  const send = (session: string) =>
    surely(`${at(session)}/messages`, { content: `more of ${user} ${journal.number('job')}` });

  const talking = (async () => {
    await delay(chance.between(0, options.everyMs));
    while (!quiet) {
      const session = sessions.at(-1);
      if (session === undefined || chance.below(messagesPerSession) === 0) {
        await create();
        if (chance.below(2) === 0) await once('POST', '/api/watched-sessions', { sessionId: sessions.at(-1) });
      } else {
        const reply = await send(session);
        // The first task completed before the daemon named the session, and no report has listed it: the person begins
        // another.
        if (reply && reply.status === 409 && reply.text.includes('SESSION_NOT_RESOLVED')) await create();
      }
      await delay(chance.between(options.everyMs / 2, options.everyMs * 1.5));
    }
  })();
  // The caller of `stop` gets the error.
  talking.catch(() => undefined);

  return {
    user,
    kind,
    daemon,
    app,
    sessions,
    quieten: async () => {
      quiet = true;
      await talking;
      for (const session of sessions) await send(session);
    },
    reply: async () => {
      // The list needs no daemon, whereas a history request to an unresponsive daemon would delay all other answers
      // until its timeout.
      const answer = await once('GET', '/api/sessions?limit=100');
      if (answer?.status !== 200) return;
      const { sessions: all } = JSON.parse(answer.text) as { sessions: Session[] };
      for (const { id, status, lastTask } of all)
        if (status === 'waiting' || lastTask?.code === 'DELIVERY_UNKNOWN') await send(id);
    },
    stop: async () => {
      stopped = quiet = true;
      clearInterval(reports);
      await talking.catch(() => undefined);
      await Promise.all([daemon.stop(), app.stop()]);
    },
  };
}
