/** Tools for fault tests: an api and gateways on a Redis that is about to fail, and readers that notice gaps. */
import { createEar, until } from './contract/harness.ts';
import {
  type RedisBackplane,
  type Backplane,
  type Command,
  type BackplaneOptions,
  type RedisBackplaneOptions,
  type Following,
  follow,
  createRedisBackplane,
} from '../src/index.ts';

/** Permitted error codes: whatever happens to Redis, a call succeeds or fails with one of these. */
export const namedCodes = ['OFFLINE', 'TIMEOUT', 'CLOSED', 'OVERLOADED', 'UNAVAILABLE'];

/** The outcome of the call: its value, or its error code. */
export async function endOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    (value) => value,
    (error: unknown) => (error instanceof Error && 'code' in error ? error.code : error),
  );
}

export function createTroupe(defaults: Omit<RedisBackplaneOptions, 'name'>) {
  const members: RedisBackplane[] = [];
  return {
    join: async (name: string, options: Partial<BackplaneOptions & RedisBackplaneOptions> = {}) => {
      const member = await createRedisBackplane({
        prefix: `fault-${process.pid}-${Math.random().toString(36).slice(2)}`,
        onError: () => undefined,
        reconnectMs: 100,
        ...defaults,
        name,
        ...options,
      });
      members.push(member);
      return member;
    },
    leave: async () => void (await Promise.all(members.splice(0).map((member) => member.close()))),
  };
}

/** Acknowledges every command, remembers it, and answers requests with their own text. */
export function obey(gateway: Backplane) {
  const commands = createEar<Command>();
  gateway.onCommand((command) => {
    commands.add(command);
    if (command.correlation !== undefined)
      void gateway.reply(command.replyTo!, command.correlation, command.body).catch(() => undefined);
    return true;
  });
  return commands;
}

export const isHealthy = async (backplane: Backplane): Promise<boolean> => (await backplane.health()).ok;

export const healthy = (...backplanes: readonly Backplane[]): Promise<void> =>
  until('all are healthy', async () => (await Promise.all(backplanes.map(isHealthy))).every((ok) => ok));

/** Reads the frames of a user, which are numbers in order, and notes every number that is missing without a word. */
export async function readNumbers(backplane: Backplane, user: string) {
  const wrong: string[] = [];
  let last = -1;
  let gaps = 0;
  let gapped = false;
  const following: Following = await follow(backplane, user, {
    onFrame: ({ body, hot }) => {
      if (hot) return;
      const number = Number.parseInt(body, 10);
      if (gapped ? number <= last : number !== last + 1) wrong.push(`${number} after ${last}`);
      last = number;
      gapped = false;
    },
    onGap: () => {
      gaps += 1;
      gapped = true;
    },
  });
  await following.resume();
  return { wrong, last: () => last, gaps: () => gaps, stop: () => following.stop() };
}

/**
 * Appends numbers from `number` on until every reader receives the same one. A gap reported during this covers the
 * earlier numbers:
 * the reader resyncs, and that includes them.
 */
export async function reach(
  readers: readonly Awaited<ReturnType<typeof readNumbers>>[],
  say: (number: number) => Promise<unknown>,
  number: number,
): Promise<void> {
  for (let next = number; ; next++) {
    const told = readers.map((reader) => reader.gaps());
    await say(next);
    await until('the readers get it, or a gap', () =>
      readers.every((reader, n) => reader.last() === next || reader.gaps() > told[n]!),
    );
    if (readers.every((reader) => reader.last() === next)) return;
  }
}
