/** The current content of a file, and the folders around it, read-only. */
import { type ReactNode, useState } from 'react';
import type { FileList, FilePiece } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { Copy, Folder } from '../ui/icons.tsx';
import { IconButton } from '../ui/icon-button.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { useResource } from '../ui/resource.ts';
import { lineShown } from './diff-lines.tsx';

/** An image as its bytes came. */
export function ImageOf({ piece, label }: { piece: FilePiece; label: string }) {
  const [url] = useState(() => {
    const bytes = Uint8Array.from(atob(piece.data ?? ''), (one) => one.charCodeAt(0));
    return URL.createObjectURL(new Blob([bytes], { type: piece.mime ?? '' }));
  });
  return (
    <figure className="picture">
      <figcaption className="soft">{label}</figcaption>
      <img src={url} alt={label} onLoad={() => URL.revokeObjectURL(url)} />
      <span className="soft num">{words.changes.sizes(undefined, piece.bytes)}</span>
    </figure>
  );
}

export function FilePane({
  sessionId,
  path,
  onMention,
}: {
  sessionId: string;
  path: string;
  onMention: (line?: number) => void;
}) {
  const { client } = useRooms();
  const [wanted, setWanted] = useState(1);
  const file = useResource<FilePiece & { shown: number }>(`${path} ${wanted}`, async () => {
    const params = { id: sessionId };
    let piece = await client.call('readFile', { params, query: { path } });
    for (let n = 1; n < wanted * 4 && piece.next !== undefined; n++) {
      const next = await client.call('readFile', { params, query: { path, offset: piece.next } });
      const { next: _before, ...rest } = piece;
      piece = {
        ...rest,
        text: `${piece.text ?? ''}${next.text ?? ''}`,
        ...(next.next === undefined ? {} : { next: next.next }),
      };
    }
    return { ...piece, shown: piece.next ?? piece.bytes };
  });
  return (
    <Loaded of={file} what={words.changes.loading}>
      {(piece): ReactNode =>
        piece.kind === 'image' ? (
          <ImageOf key={path} piece={piece} label={path} />
        ) : piece.kind !== 'text' ? (
          <p className="pad soft">{words.changes.notText(piece.mime ?? '', piece.bytes)}</p>
        ) : (
          <>
            <p className="pad soft file-head">
              <span className="grow">{words.changes.readOnly}</span>
              <IconButton
                icon={Copy}
                label={words.changes.copy}
                onClick={() => void navigator.clipboard.writeText(piece.text ?? '')}
              />
            </p>
            <div className="diff lines" role="region" aria-label={words.changes.file(path)} tabIndex={0} dir="ltr">
              {(piece.text ?? '')
                .replace(/\n$/, '')
                .split('\n')
                .map((line, index) => (
                  <div key={index} className="ln">
                    <button
                      type="button"
                      className="no num"
                      aria-label={`${words.changes.mention} ${index + 1}`}
                      onClick={() => onMention(index + 1)}
                    >
                      {index + 1}
                    </button>
                    <span />
                    <span>{lineShown(line)}</span>
                  </div>
                ))}
            </div>
            {piece.next !== undefined && (
              <p className="pad">
                {words.changes.first(piece.shown, piece.bytes)}{' '}
                <button type="button" className="small" onClick={() => setWanted(wanted + 1)}>
                  {words.changes.showMore}
                </button>
              </p>
            )}
          </>
        )
      }
    </Loaded>
  );
}

export function Browse({ sessionId, onFile }: { sessionId: string; onFile: (path: string) => void }) {
  const { client } = useRooms();
  const [folder, setFolder] = useState('');
  const [find, setFind] = useState('');
  const found = useResource<FileList>(`${folder}\n${find}`, () =>
    client.call('listFiles', {
      params: { id: sessionId },
      query: find.trim() === '' ? { path: folder } : { find: find.trim() },
    }),
  );
  const parts = folder === '' ? [] : folder.split('/');
  return (
    <div className="browse">
      <input
        type="search"
        aria-label={words.changes.find}
        placeholder={words.changes.find}
        value={find}
        onChange={({ target }) => setFind(target.value)}
      />
      <nav className="crumbs" aria-label={words.changes.root}>
        {['', ...parts].map((part, index) => (
          <button
            key={index}
            type="button"
            className="ghost small"
            onClick={() => setFolder(parts.slice(0, index).join('/'))}
          >
            {part === '' ? words.changes.root : part}
          </button>
        ))}
      </nav>
      <Loaded of={found} what={words.changes.loading}>
        {({ entries, more }) => (
          <>
            {entries.length === 0 && (
              <p className="pad soft">{find === '' ? words.changes.empty : words.changes.noneFound}</p>
            )}
            <ul className="files">
              {entries.map(({ name, path, kind, bytes, changed, hidden }) => (
                <li key={path}>
                  <button
                    type="button"
                    className="ghost"
                    aria-disabled={kind === 'link' || hidden !== undefined}
                    onClick={() => {
                      if (kind === 'folder') setFolder(path);
                      else if (kind === 'file' && hidden === undefined) onFile(path);
                    }}
                  >
                    {kind === 'folder' && <Folder className="i" aria-hidden />}
                    <span className="grow">
                      <b className="cut">{name}</b>
                      {find !== '' && <code className="cut soft">{path}</code>}
                    </span>
                    <span className="soft num">
                      {hidden !== undefined
                        ? words.changes.secret
                        : kind === 'link'
                          ? words.changes.noLink
                          : changed
                            ? words.changes.kind('edit')
                            : ''}{' '}
                      {words.changes.sizes(undefined, bytes)}
                    </span>
                  </button>
                </li>
              ))}
            </ul>
            {more && <p className="pad soft">…</p>}
          </>
        )}
      </Loaded>
    </div>
  );
}
