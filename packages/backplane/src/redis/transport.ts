/** Sends commands and their answers: to the owner of a device, or to an instance by name. */
import type { CommandTransport } from '../command-exchange.ts';
import type { Command } from '../commands.ts';
import type { CommandAnswer } from '../instance-message.ts';
import type { Batcher } from './batcher.ts';
import { idOf } from './keys.ts';
import type { Topology } from './topology.ts';
import { encodeFields, encodeRecord } from './wire.ts';

/** Characters. Longer replies are kept under a key and fetched over a connection of their own. */
const longReply = 32 * 1024;
/** How long a reply waits to be fetched. */
const fetchWithinMs = 10_000;

interface TransportOptions {
  readonly instance: string;
  readonly topology: Topology;
  readonly batcher: Batcher;
  /** Over the connections for long values. */
  readonly longValues: Batcher;
  readonly isClosed: () => boolean;
}

export class RedisTransport implements CommandTransport {
  readonly #options: TransportOptions;

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  toOwner(id: string, command: Omit<Command, 'fence'>, deadline: number): ReturnType<CommandTransport['toOwner']> {
    const { device, correlation = '', body } = command;
    const part = encodeFields([id, this.#options.instance, device, correlation, body]);
    return this.#options.batcher.run('route', { id: idOf(device), deadline: { at: deadline }, ...part });
  }

  async toInstance(to: string, answer: CommandAnswer): Promise<void> {
    const { batcher, longValues, instance, topology, isClosed } = this.#options;
    const channel = topology.channelTo(to);
    let record = encodeRecord(answer);
    if (answer.kind === 'reply' && answer.body.length > longReply) {
      const { correlation, body } = answer;
      // Keep the id in the partition of the channel.
      const id = `${/\{\d+\}/.exec(channel)?.[0] ?? ''}${instance}:${correlation}:${to}`;
      await longValues.run('put', { id, value: body, ttl: fetchWithinMs });
      record = encodeRecord({ kind: 'keptReply', correlation, id });
    }
    // The acknowledgement of a command that was being delivered when this instance closed is lost with it.
    if (!isClosed()) await batcher.publish(channel, record);
  }

  /** A reply that was kept under a key; undefined when it has expired. */
  fetch(id: string): Promise<string | undefined> {
    return this.#options.longValues.run('take', { id });
  }
}
