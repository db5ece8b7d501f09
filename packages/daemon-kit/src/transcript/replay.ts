/**
 * Turns an agent's live or stored record of a session into items, by the mapper of live turns: with the same uuids, in the same
 * order. An item without an agent id, and without a neighbour that has one, is named after its place and its text.
 */
import { createHash } from 'node:crypto';
import { type Item, itemAfter, transcriptLimits } from '@relay/protocol';
import { foreignUuid } from '@relay/protocol/identity';
import { type Keep, isImage } from '../contents.ts';
import { isClosed } from '../session-file.ts';
import type { Fields } from './content.ts';
import { createMapper } from './mapper.ts';
import type { MapperOptions } from './mapper-options.ts';

/** An earlier update of ACP, live or stored. */
export interface PastUpdate {
  update: Fields;
  /** When it happened, ISO 8601. */
  at: string;
  /** Its place in the source, in bytes; grows by more than the items that an update makes. Absent: unknown. */
  place?: number;
}

export type ReplaySettings = Pick<MapperOptions, 'sessionId' | 'cwd' | 'idOf' | 'detail' | 'thoughts'>;

const unnamedMark = '?';

/** Contents that the items of a replay name and do not hold, by the uuid of the item: kept with the items that are stored. */
export type Replayed = Map<string, (keep: Keep) => void>;

/**
 * `open`: the last turn still runs. Its texts are complete, because a source has whole messages; the first call that can still
 * change, and everything after it, is left out. `contents` receives content that the items reference but do not hold.
 */
export function replayed(
  updates: Iterable<PastUpdate>,
  settings: ReplaySettings,
  open: boolean,
  contents: Replayed = new Map(),
): Item[] {
  const items = new Map<string, Item>();
  let unnamed = 0;
  let seq = 0;
  const kept = new Map<string, { mime: string; base64: string } | { text: string }>();
  const mapper = createMapper({
    ...settings,
    replay: true,
    keep: {
      image: (uuid, mime, base64) => isImage(mime, base64) && Boolean(kept.set(uuid, { mime, base64 })),
      output(uuid, text, begins) {
        const before = kept.get(uuid);
        const printed = begins || !before || !('text' in before) ? '' : before.text;
        if (printed.length < transcriptLimits.keptOutputBytes) kept.set(uuid, { text: printed + text });
      },
    },
    now: () => 0,
    unnamed: () => `${unnamedMark}${unnamed++}`,
  });
  const apply = (changes: ReturnType<typeof mapper.update>, at: string, place: number) => {
    for (const change of changes) {
      const uuid = change.op === 'put' ? change.item.uuid : change.uuid;
      const current = items.get(uuid);
      if (change.op === 'put' && !current) seq = Math.max(seq + 1, place + 1);
      const op = change.op === 'put' ? { op: change.op, item: { ...change.item, timestamp: at, seq } } : change;
      const item = itemAfter(current, op);
      if (item) items.set(uuid, item);
    }
    mapper.takeTexts();
  };
  let last = '';
  for (const { update, at, place = 0 } of updates) {
    last = at;
    apply(mapper.update(update, at), at, place);
  }
  apply(open ? mapper.closeText() : mapper.close('ended'), last, 0);
  const all = named([...items.values()], settings.sessionId);
  for (const [index, { uuid }] of [...items.values()].entries()) {
    const [content, name] = [kept.get(uuid), all[index]?.uuid ?? uuid];
    if (content)
      contents.set(name, (keep) =>
        'text' in content ? keep.output(name, content.text, true) : keep.image(name, content.mime, content.base64),
      );
  }
  const changing = all.findIndex((item) => !isClosed(item));
  return changing < 0 ? all : all.slice(0, changing);
}

/** Gives uuids to unnamed items; messages stay unchanged, so that stored messages keep their uuids. */
function named(items: readonly Item[], sessionId: string): Item[] {
  const names = new Map<string, string>();
  let messages = 0;
  for (const [index, { uuid, role, content, part }] of items.entries()) {
    const isMessage = part.kind === 'user' || part.kind === 'text';
    const place = isMessage ? messages++ : index;
    if (!uuid.startsWith(unnamedMark)) continue;
    const hash = createHash('sha256').update(`${sessionId}\n${content}`).digest('hex').slice(0, 16);
    names.set(uuid, foreignUuid(sessionId, isMessage ? `${place} ${hash}` : `${part.kind} ${role} ${place} ${hash}`));
  }
  const nameOf = (uuid: string) => names.get(uuid) ?? uuid;
  return items.map((item) => ({
    ...item,
    uuid: nameOf(item.uuid),
    ...(item.turn === undefined ? {} : { turn: nameOf(item.turn) }),
  }));
}
