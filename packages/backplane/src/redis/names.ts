/**
 * What keys and channels are called: `<prefix>:<letter>:{<partition>}<name>`. The braces are a hash tag of Redis Cluster: all
 * that belongs to one name lives on one node, and 64 partitions spread the names over the nodes.
 */

export const partitions = 64;

/** Always the same for a name, in every instance of every version. */
export function partitionOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let n = 0; n < name.length; n++) hash = Math.imul(hash ^ name.charCodeAt(n), 0x01000193);
  // The low bits alone depend on the low bits of the characters only.
  return ((hash >>> 0) ^ (hash >>> 15)) & (partitions - 1);
}

/** The name with its tag, as scripts get it: they only put the prefix and the letter before it. */
export const tagged = (partition: number, name: string): string => `{${partition}}${name}`;

export interface Names {
  /** What every key and channel begins with, the colon included. */
  readonly prefix: string;
  /**
   * Channel of an instance. In a cluster it has one per partition, because a script may only publish in the slot of its
   * keys; elsewhere the partition does not matter.
   */
  instance(partition: number, instance: string): string;
  user(user: string): string;
  /** Heard by everybody; `controlPartition` holds it. */
  readonly control: string;
}

export const controlPartition = 0;

/** @throws TypeError for a prefix that would move the hash tag */
export function createNames(prefix: string, sharded: boolean): Names {
  if (!/^[\w.-]{1,64}$/.test(prefix))
    throw new TypeError('the prefix of the backplane is made of letters, digits, _ . -');
  return {
    prefix: `${prefix}:`,
    instance: (partition, instance) => `${prefix}:i:${sharded ? tagged(partition, instance) : instance}`,
    user: (user) => `${prefix}:u:${tagged(partitionOf(user), user)}`,
    control: `${prefix}:c:${tagged(controlPartition, 'control')}`,
  };
}

/** The slot of Redis Cluster in which a partition lies: CRC16 (XMODEM) of its tag. */
export function slotOf(partition: number): number {
  let crc = 0;
  for (const byte of Buffer.from(String(partition))) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
    crc &= 0xffff;
  }
  return crc % 16384;
}
