/**
 * A user who sends one REST request after the other: new sessions, messages, histories, lists, and requests for data of
 * another user. A request that must take effect once is repeated under the same key until it is answered.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Chance } from './chance.ts';
import { type Doors, type Reply, ask, codeOf } from './doors.ts';
import { type Journal, strangersIn } from './journal.ts';

export interface CallerOptions {
  user: string;
  token: string;
  device: string;
  doors: Doors;
  journal: Journal;
  chance: Chance;
  /** The timeout of each request. */
  patienceMs: number;
}

/** A user's requests, all recorded in the journal. */
export interface Caller {
  /** Resolves with undefined if the connection broke before the response. */
  readonly once: (method: string, path: string, body?: object, key?: string) => Promise<Reply | undefined>;
  /** A POST that creates a task, repeated under one key until it is answered. */
  readonly surely: (path: string, body: object) => Promise<Reply | undefined>;
}

export interface RequestsOptions extends CallerOptions {
  /** The longest pause between two requests. */
  everyMs: number;
  /** Sessions of other users, which this user must not find. */
  strangers(): readonly string[];
}

export interface Requests {
  readonly sessions: readonly string[];
  /** Resolves after all pending requests are answered. */
  stop(): Promise<void>;
}

/** The maximum number of attempts at one request, far more than any fault of a test requires. */
const maxAttempts = 400;

export function createCaller(options: CallerOptions): Caller {
  const { user, token, device, doors, journal, chance } = options;

  const once = async (method: string, path: string, body?: object, key?: string): Promise<Reply | undefined> => {
    const request = journal.number('request');
    const { patienceMs } = options;
    journal.note({ what: 'asked', request, user, call: `${method} ${path}`, patienceMs });
    const url = `${doors.api()}${path.replace('REQUEST', `request-${request}`)}`;
    try {
      const reply = await ask(url, method, { token, body, ca: doors.ca, patienceMs, ...(key ? { key } : {}) });
      const { status, text } = reply;
      journal.note({
        what: 'answered',
        request,
        status,
        code: codeOf(text),
        strangers: strangersIn(text, user),
        ...(status < 500 ? {} : { said: text.slice(0, 500) }),
      });
      return reply;
    } catch (error) {
      journal.note({ what: 'cut', request, why: (error as Error).name + ': ' + (error as Error).message });
      return undefined;
    }
  };

  const surely = async (path: string, body: object): Promise<Reply | undefined> => {
    const key = `${user}-${journal.number('key')}`;
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const reply = await once('POST', path, body, key);
      if (reply && reply.status < 300) {
        const { taskId, id, sessionId } = JSON.parse(reply.text) as Record<string, string>;
        const session = (id ?? sessionId)!;
        journal.note({ what: 'accepted', user, device, task: taskId!, session, key });
        return reply;
      }
      // The relay refused for another reason: the queue is full, or the session has no name yet.
      if (reply && reply.status < 500) return reply;
      await delay(chance.between(100, 400));
    }
    throw new Error(`${path} of ${user} was never answered`);
  };

  return { once, surely };
}

export function startRequests(options: RequestsOptions): Requests {
  const { user, device, journal, chance } = options;
  const { once, surely } = createCaller(options);
  const sessions: string[] = [];
  let stopped = false;

  const create = async () => {
    const message = `a job of ${user} ${journal.number('job')}`;
    const reply = await surely('/api/sessions', { deviceId: device, message });
    if (reply && reply.status < 300) sessions.push((JSON.parse(reply.text) as { id: string }).id);
  };
  const at = (session: string) => `/api/sessions/${encodeURIComponent(session)}`;

  const something = async () => {
    const dice = chance.below(100);
    const session = sessions.length > 0 ? chance.pick(sessions.slice(-5)) : undefined;
    if (dice < 25 || session === undefined) return create();
    if (dice < 50) return surely(`${at(session)}/messages`, { content: `more of ${user} ${journal.number('job')}` });
    if (dice < 70) return once('GET', `${at(session)}/messages?limit=10&before=REQUEST`);
    if (dice < 80) return once('GET', `${at(session)}?limit=10&before=REQUEST`);
    if (dice < 87) return once('GET', '/api/sessions?limit=20');
    if (dice < 92) return once('GET', '/api/devices');
    if (dice < 95) return once('POST', `${at(session)}/cancel`);
    const foreign = options.strangers();
    if (foreign.length > 0) return once('GET', at(chance.pick(foreign)));
    return undefined;
  };

  const done = (async () => {
    while (!stopped) {
      await something();
      await delay(chance.between(0, options.everyMs));
    }
  })();
  // The caller of `stop` gets the error.
  done.catch(() => undefined);
  return {
    sessions,
    stop: async () => {
      stopped = true;
      await done;
    },
  };
}
