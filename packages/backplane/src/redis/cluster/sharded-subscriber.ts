/** Sharded channels of one cluster node: channels of one slot share a command, and a slot can move to another node. */
import type { Redis } from 'ioredis';
import { type Channel, Subscriber, type SubscriberEvents } from '../subscriber.ts';
import { partitionIn } from './slots.ts';

const retryMovedMs = 200;

export class ShardedSubscriber extends Subscriber {
  readonly #onMoved: () => void;

  /** `onMoved`: the node redirects a channel to another node. */
  constructor(connection: Redis, events: SubscriberEvents, onMoved: () => void) {
    super(connection, events, 'smessage');
    this.#onMoved = onMoved;
    connection.on('moved', onMoved);
  }

  protected override async sendSubscribe(names: readonly string[]): Promise<void> {
    await this.connection.ssubscribe(...names);
  }

  protected override async sendUnsubscribe(name: string): Promise<void> {
    await this.connection.sunsubscribe(name);
  }

  protected override groupsOf(channels: readonly Channel[]): Channel[][] {
    const groups = new Map<number, Channel[]>();
    for (const channel of channels) {
      const partition = partitionIn(channel.name);
      const group = groups.get(partition);
      if (group) group.push(channel);
      else groups.set(partition, [channel]);
    }
    return [...groups.values()];
  }

  /** The map of the cluster is about to change and takes the channels away; until then this node is asked again. */
  protected override isRecoverable(error: Error, refused: readonly Channel[]): boolean {
    if (!error.message.startsWith('MOVED')) return false;
    this.#onMoved();
    const retry = () => {
      for (const channel of refused) {
        if (channel.live || !this.isWanted(channel)) continue;
        channel.sent = false;
        this.schedule(channel);
      }
    };
    setTimeout(retry, retryMovedMs).unref();
    return true;
  }
}
