/** A bus of the contract on Redis: a prefix of its own, so that several share a server. */
import type { TestRedis } from '@relay/testing/redis';
import type { BackplaneOptions } from '../src/backplane.ts';
import type { ContractBus } from './contract.ts';
import { type RedisBackplaneOptions, type RedisBackplane, createRedisBackplane } from '../src/index.ts';

export interface RedisUnderTest {
  readonly url: string;
  flush(): Promise<void>;
  /** Closes every listening connection, on every server. */
  deafen(): Promise<void>;
}

let lastBus = 0;

export function makeRedisBus(
  redis: RedisUnderTest,
  options: Partial<BackplaneOptions & RedisBackplaneOptions> = {},
): Promise<ContractBus & { connect(name: string): Promise<RedisBackplane> }> {
  const members: RedisBackplane[] = [];
  lastBus += 1;
  const prefix = `test-${process.pid}-${lastBus}`;
  return Promise.resolve({
    connect: async (name) => {
      const member = await createRedisBackplane({
        url: redis.url,
        name,
        prefix,
        onError: () => undefined,
        ...options,
      });
      members.push(member);
      return member;
    },
    kill: async (instance) => {
      const member = members.find((candidate) => candidate.instance === instance);
      const witness = members.find((candidate) => candidate !== member);
      member?.vanish();
      // Redis notices a killed process when its connection closes; one more round trip on another connection comes
      // after it.
      if (witness) await witness.health();
    },
    flush: () => redis.flush(),
    interrupt: () => redis.deafen(),
    close: async () => {
      await Promise.all(members.map((member) => member.close()));
    },
  });
}

/** Closes every listening connection of these servers, as a proxy or an operator would. */
export async function deafen(servers: readonly TestRedis[]): Promise<void> {
  await Promise.all(servers.map((server) => server.command('CLIENT', 'KILL', 'TYPE', 'pubsub')));
}
