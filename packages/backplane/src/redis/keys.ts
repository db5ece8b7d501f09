/**
 * Names of keys and channels: `<prefix>:<letter>:{<partition>}<name>`. The braces are a hash tag of Redis Cluster: everything
 * that belongs to one name is on one node, and 64 partitions spread the names over the nodes.
 *
 * Letters of keys: `l` lease, `t` top of a history, `h` its entries, `b` the sum of their sizes, `s` the instances that subscribe to a
 * user, `o` key of `once`, `n` newest version of a state, `v` value, `k` counter. Channels: `i` instance, `u` user, `c` control.
 *
 * Two values belong to no person and no device: `installation`, the id of the only installation that uses this Redis
 * (`packages/backplane/src/installation.ts`), and `timeline`, the highest mark of its database (`apps/gateway/src/fleet/timeline.ts`).
 */

export const partitions = 64;

/** The same for a name in every instance of every version. */
export function partitionOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let n = 0; n < name.length; n++) hash = Math.imul(hash ^ name.charCodeAt(n), 0x01000193);
  // The low bits alone depend on the low bits of the characters only.
  return ((hash >>> 0) ^ (hash >>> 15)) & (partitions - 1);
}

/** The id of a name in operations, which put the prefix and the letter before it. `text`: the id is in the partition of `name`. */
export const idOf = (name: string, text = name): string => `{${partitionOf(name)}}${text}`;

/** An id in the partition of `scope`. Ids of different scopes never collide. */
export const scopedId = (scope: string, text = ''): string => idOf(scope, `${scope.length}:${scope}${text}`);

export interface Keys {
  /** The beginning of every key and channel, the colon included. */
  readonly prefix: string;
  /**
   * Channel of an instance. In a cluster each partition has its own, because a script must publish in the slot of its
   * keys; elsewhere the partition does not matter.
   */
  instance(instance: string, partition?: number): string;
  user(user: string): string;
  /** The channel that all instances subscribe to. */
  readonly control: string;
}

/** @throws TypeError for a prefix that would move the hash tag */
export function createKeys(prefix: string, sharded: boolean): Keys {
  if (!/^[\w.-]{1,64}$/.test(prefix))
    throw new TypeError('the prefix of the backplane is made of letters, digits, _ . -');
  return {
    prefix: `${prefix}:`,
    instance: (instance, partition = 0) => `${prefix}:i:${sharded ? `{${partition}}` : ''}${instance}`,
    user: (user) => `${prefix}:u:${idOf(user)}`,
    control: `${prefix}:c:{0}control`,
  };
}

/** The time in an offset, in ms since 1970; undefined for offsets of releases that wrote no time. */
export function timeOfOffset(offset: string): number | undefined {
  const text = offset.slice(offset.lastIndexOf('.') + 1, -1);
  return text.length >= 8 ? parseInt(text, 36) : undefined;
}
