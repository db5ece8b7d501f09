/** Slots of Redis Cluster: where partitions are. */
import { partitions } from '../keys.ts';
import type { RedisNodeAddress } from '../url.ts';

/** The answer of CLUSTER SLOTS. */
export type ClusterSlots = [
  from: number,
  to: number,
  master: [host: string, port: number, ...unknown[]],
  ...unknown[],
][];

/** The number in the hash tag of an id, a key or a channel. */
export const partitionIn = (text: string): number => Number.parseInt(text.slice(text.indexOf('{') + 1));

/** The slot of a partition: CRC16 (XMODEM) of the number in its hash tag. */
export function slotOf(partition: number): number {
  let crc = 0;
  for (const byte of Buffer.from(String(partition))) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
    crc &= 0xffff;
  }
  return crc % 16384;
}

/** The master of each partition; undefined for a partition without a master. */
export function mastersOf(slots: ClusterSlots): (RedisNodeAddress | undefined)[] {
  return Array.from({ length: partitions }, (_, partition) => {
    const slot = slotOf(partition);
    const range = slots.find(([from, to]) => from <= slot && slot <= to);
    return range && { host: range[2][0], port: range[2][1] };
  });
}
