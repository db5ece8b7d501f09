/** The uuids of items: the same live, in a replay, and read from a native file, as long as the agent names things alike. */
import { randomUUID } from 'node:crypto';
import { foreignUuid } from '@relay/protocol/identity';
import type { MapperOptions } from './mapper-options.ts';

export interface Names {
  /** The name of an item of a message. */
  ofMessage: (role: 'USER' | 'AGENT', messageId: string | undefined, kind: string) => string;
  ofTool: (id: string) => string;
  /** The name of an item without an id of the agent, after the last thing that has one. */
  beside: (kind: string) => string;
  /** The next turn begins: nothing is beside anything yet. */
  forget: () => void;
}

const maxNames = 20_000;
const plainId = (_role: string, id: string, part: number) => (part === 1 ? id : `${id}#${part}`);

export function createNames({
  sessionId,
  idOf = plainId,
  unnamed = randomUUID,
  isTaken = () => false,
}: Pick<MapperOptions, 'sessionId' | 'idOf' | 'unnamed' | 'isTaken'>): Names {
  /** The last thing in this turn with an id of the agent. */
  let beside: string | undefined;
  /** Number of items of a message of the agent so far. */
  const parts = new Map<string, number>();

  const counted = (key: string): number => {
    const count = (parts.get(key) ?? 0) + 1;
    parts.set(key, count);
    const [oldest] = parts.keys();
    if (parts.size > maxNames && oldest !== undefined) parts.delete(oldest);
    return count;
  };

  return {
    ofMessage(role, messageId, kind) {
      if (messageId === undefined) return unnamed();
      for (let before = ''; ;) {
        const name = idOf(role, messageId, counted(`${kind} ${messageId}`));
        beside = kind === 'thought' ? `thought:${name}` : name;
        const uuid = foreignUuid(sessionId, beside);
        // The names of some agents lack parts.
        if (!isTaken(uuid) || name === before) return uuid;
        before = name;
      }
    },
    ofTool(id) {
      for (;;) {
        const count = counted(`tool:${id}`);
        beside = count === 1 ? `tool:${id}` : `tool:${id}#${count}`;
        const uuid = foreignUuid(sessionId, beside);
        if (!isTaken(uuid)) return uuid;
      }
    },
    beside(kind) {
      if (beside === undefined) return unnamed();
      const name = `${kind}:${beside}`;
      for (;;) {
        const count = counted(name);
        const uuid = foreignUuid(sessionId, count === 1 ? name : `${name}#${count}`);
        if (!isTaken(uuid)) return uuid;
      }
    },
    forget: () => (beside = undefined),
  };
}
