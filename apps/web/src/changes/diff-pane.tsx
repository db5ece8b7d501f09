/** One file: its lines that differ, or both pictures, or why there is nothing to see. */
import { type ReactNode, useEffect, useRef } from 'react';
import type { Change, ChangeScope, FileDiff, Session } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { Loaded } from '../ui/loaded.tsx';
import { useResource } from '../ui/resource.ts';
import type { Comment } from './comments.ts';
import { DiffLines } from './diff-lines.tsx';
import { ImageOf } from './file-pane.tsx';
import { isPicture } from './icons.tsx';
import { useReadingPlace } from './reading-place.ts';
import { type Compared, readDiff } from './use-changes.ts';

interface DiffPaneProps {
  session: Session;
  scope: ChangeScope;
  turn: string | undefined;
  path: string;
  version: number;
  comments: readonly Comment[];
  compared: Compared | undefined;
  change: Change | undefined;
  onAdd: (comment: Comment) => void;
  onRemove: (comment: Comment) => void;
  /** Called with each loaded difference. */
  onLoaded: (diff: FileDiff) => void;
}

const reasons = (): Readonly<Record<string, string>> => ({
  secret: words.changes.hiddenFile,
  large: words.changes.fileTooLarge,
  outside: words.changes.isOutside,
  missing: words.changes.missing,
});

export function DiffPane({
  session,
  scope,
  turn,
  path,
  version,
  comments,
  compared,
  change,
  onAdd,
  onRemove,
  onLoaded,
}: DiffPaneProps) {
  const { client } = useRooms();
  const isSecret = change?.hidden === 'secret';
  const edited = compared?.edits?.find((one) => one.change.path === path);
  const notePlace = useRef(() => {});
  const diff = useResource<FileDiff>(`${path} ${scope} ${edited === undefined}`, async () => {
    if (edited) return { path, change: edited.change, hunks: edited.hunks };
    if (isSecret && change) return { path, change, hunks: [] };
    const read = await readDiff(client, session.id, { path, scope, ...(scope === 'turn' ? { turn } : {}) });
    notePlace.current();
    return read;
  });
  const { reload } = diff;
  const loaded = diff.kind === 'ready' ? diff.value : undefined;
  const content = useRef<HTMLDivElement>(null);
  const note = useReadingPlace(content, loaded);
  useEffect(() => void (notePlace.current = note), [note]);
  useEffect(() => {
    if (loaded) onLoaded(loaded);
  }, [loaded, onLoaded]);
  const isFirst = useRef(true);
  useEffect(() => {
    if (isFirst.current) isFirst.current = false;
    else reload();
  }, [version, reload]);
  return (
    <div ref={content}>
      <Loaded of={diff} what={words.changes.loading}>
        {(file): ReactNode => {
          const why = reasons()[file.change.hidden ?? ''];
          const isMoved = file.change.change === 'move';
          return (
            <>
              {file.includesEarlier && <p className="pad soft">{words.changes.includesEarlier}</p>}
              {why !== undefined && <p className="pad soft">{why}</p>}
              {file.change.binary && <Pictures session={session} scope={scope} change={file.change} />}
              {why === undefined && !file.change.binary && file.hunks.length === 0 && (
                <p className="pad soft">{isMoved ? words.changes.moved : words.changes.noLines}</p>
              )}
              <DiffLines
                {...{ path, comments, onAdd, onRemove }}
                hunks={file.hunks}
                readLines={
                  edited || file.change.change === 'delete'
                    ? undefined
                    : async () => {
                        const { text = '', next } = await client.call('readFile', {
                          params: { id: session.id },
                          query: { path },
                        });
                        if (next !== undefined) throw new Error('The file has more than one piece.');
                        return text.replace(/\n$/, '').split('\n');
                      }
                }
              />
            </>
          );
        }}
      </Loaded>
    </div>
  );
}

/** Both pictures of a change, as far as there are two. */
function Pictures({ session, scope, change }: { session: Session; scope: ChangeScope; change: Change }) {
  const { client } = useRooms();
  const { path } = change;
  const sides = useResource(`${path} ${scope}`, async () => {
    const read = (side: 'now' | 'before') =>
      client.call('readFile', { params: { id: session.id }, query: { path, side, scope } }).catch(() => undefined);
    if (!isPicture(path)) return [];
    const [before, now] = await Promise.all([change.change === 'add' ? undefined : read('before'), change.change === 'delete' ? undefined : read('now')]); // prettier-ignore
    return [
      { label: words.changes.before, piece: before },
      { label: words.changes.after, piece: now },
    ];
  });
  return (
    <Loaded of={sides} what={words.changes.loading}>
      {(both) => {
        const shown = both.flatMap(({ label, piece }) => (piece?.kind === 'image' ? [{ label, piece }] : []));
        if (shown.length === 0)
          return (
            <p className="pad soft">
              {words.changes.binary} {words.changes.sizes(change.was, change.bytes)}
            </p>
          );
        return (
          <div className="pictures">
            {shown.map(({ label, piece }) => (
              <ImageOf key={label} piece={piece} label={label} />
            ))}
          </div>
        );
      }}
    </Loaded>
  );
}
