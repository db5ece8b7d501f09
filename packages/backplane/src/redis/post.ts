/** Sends mail: to the owner of a device, or to an instance by name. What is long is left at the office and fetched. */
import type { Command } from '../backplane.ts';
import type { CommandPost } from '../commands.ts';
import type { Mail } from '../mail.ts';
import type { Fleet } from './fleet.ts';
import { commandPart, mailText } from './mail.ts';
import { type Names, partitionOf, partitions, tagged } from './names.ts';
import { record } from './records.ts';
import type { Turns } from './turns.ts';

/** Replies longer than this are kept under a key and fetched: the channel of an instance is not for the long. */
const longReply = 32 * 1024;
/** How long a reply waits to be fetched. */
const fetchWithinMs = 10_000;

export interface PostOptions {
  readonly instance: string;
  readonly fleet: Fleet;
  readonly names: Names;
  readonly turns: Turns;
  /** Over the connections for what is long. */
  readonly bulk: Turns;
  isClosed(): boolean;
}

export class Post implements CommandPost {
  readonly #options: PostOptions;

  constructor(options: PostOptions) {
    this.#options = options;
  }

  async toOwner(id: string, command: Omit<Command, 'fence'>, deadline: number): ReturnType<CommandPost['toOwner']> {
    const { instance, turns } = this.#options;
    const { lengths, fields } = commandPart(id, instance, command);
    const partition = partitionOf(command.device);
    const posted = await turns.run(partition, ['w', tagged(partition, command.device), lengths, fields], deadline);
    if (posted === -2) return 'expired';
    if (posted === -1) return 'offline';
    return posted === 0 ? 'owner_gone' : 'posted';
  }

  async toInstance(to: string, mail: Mail): Promise<void> {
    // Commands and evictions are posted by the script, together with what they depend on.
    if (mail.kind === 'command' || mail.kind === 'evicted') return;
    const partition = this.#wayTo(to);
    if (mail.kind !== 'reply' || mail.body.length <= longReply) {
      await this.#publish(partition, to, mailText(mail));
      return;
    }
    const key = tagged(partition, `${this.#options.instance}:${mail.correlation}:${to}`);
    await this.#options.bulk.run(partition, ['v', key, String(fetchWithinMs), mail.body]);
    await this.#publish(partition, to, record('s', mail.correlation, key));
  }

  /** Into the channel that an instance holds in a partition. Who hears it too late knows: ids are used once. */
  async #publish(partition: number, to: string, text: string): Promise<void> {
    // The ACK of a command that was being delivered when this instance went is lost with it.
    if (this.#options.isClosed()) return;
    const channel = this.#options.names.instance(partition, to);
    await this.#options.turns.say(partition, channel, text, (texts) => ({ channel, text: texts.join('') }));
  }

  /** To this instance itself, by the way of everything that is asked of Redis. Resolves to the number of those who heard it. */
  async probe(partition: number, id: string): Promise<number> {
    const { instance, names, turns } = this.#options;
    const channel = names.instance(partition, instance);
    return (await turns.run(partition, ['p', channel, record('p', id)])) as number;
  }

  /** A reply that was left under a key; undefined when it is not there any more. */
  async fetch(key: string): Promise<string | undefined> {
    const partition = Number(/^\{(\d+)\}/.exec(key)?.[1] ?? 0);
    const [body] = (await this.#options.bulk.run(partition, ['g', key])) as [string | null];
    return body ?? undefined;
  }

  /** An instance is heard by every server; its own one comes first, so that what is said to it shares messages. */
  #wayTo(to: string): number {
    const { fleet } = this.#options;
    const own = partitionOf(to);
    for (let n = 0; n < partitions; n++) {
      const partition = (own + n) % partitions;
      if (fleet.nodeOf(partition)?.server.up) return partition;
    }
    return own;
  }
}
