/** The menu of the plus sign, and the files of the message that is being written. A chunk of its own. */
import { type ChangeEvent, type RefObject, useEffect, useId, useRef, useState, useSyncExternalStore } from 'react';
import { createPortal } from 'react-dom';
import type { Device } from '@relay/protocol';
import { sentenceFor } from '../api/words.ts';
import { size, words } from '../catalogue.ts';
import type { Images } from '../conversation/attached.ts';
import { useRooms } from '../rooms.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { Plus, X } from '../ui/icons.tsx';
import { Notice } from '../ui/notice.tsx';
import type { FilesHandle } from './handle.ts';
import { FileText } from './icons.tsx';
import { type Upload, createUploads, fileLimits } from './uploads.ts';
import '../styles/files.css';

/** Images of these kinds and sizes are images of the message. */
const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const imageBytes = 5 * 1024 * 1024;

interface FileTrayProps {
  /** Names the draft. */
  draft: string;
  device: Device;
  /** Undefined if the daemon refuses images. */
  images: Images | undefined;
  handle: RefObject<FilesHandle | null>;
  /** The place of the chips. */
  above: HTMLElement | null;
  /** Writes into the field. */
  onAsk: (sentence: string) => void;
}

export function FileTray({ draft, device, images, handle, above, onAsk }: FileTrayProps) {
  const { client } = useRooms();
  const [uploads] = useState(() => createUploads(client, device.id, draft));
  const list = useSyncExternalStore(uploads.subscribe, uploads.list);
  const [problem, setProblem] = useState<string>();
  const [isAwaited, setAwaited] = useState(false);
  useEffect(() => uploads.close, [uploads]);
  useEffect(() => uploads.rename(draft), [uploads, draft]);

  const add = (files: Iterable<File>) => {
    setProblem(undefined);
    for (const file of files) {
      const all = uploads.list();
      if (images && imageTypes.includes(file.type) && file.size <= imageBytes) images.add([file]);
      else if (file.size > fileLimits.bytes) setProblem(words.files.tooLarge(file.name, size(file.size)));
      else if (all.length >= fileLimits.files) setProblem(words.files.tooMany);
      else if (all.reduce((sum, one) => sum + one.file.size, file.size) > fileLimits.allBytes)
        setProblem(words.files.tooMuch);
      else uploads.add(file);
    }
  };
  useEffect(() => {
    handle.current = {
      add,
      async ready() {
        setAwaited(true);
        try {
          return await uploads.ready();
        } finally {
          setAwaited(false);
        }
      },
      sent: uploads.sent,
    };
    return () => void (handle.current = null);
  });

  const waiting = list.filter(({ isDone }) => !isDone);
  const share =
    list.reduce((sum, { received }) => sum + received, 0) / list.reduce((sum, { file }) => sum + file.size, 1);
  const first = waiting.find(({ refusal }) => !refusal);
  const isOffline = device.status === 'offline';
  return (
    <>
      <PlusMenu hasImages={images !== undefined} onFiles={add} onAsk={() => onAsk(words.files.sentence)} />
      {above &&
        createPortal(
          <>
            {problem !== undefined && <Notice kind="bad">{problem}</Notice>}
            {list.length > 0 && (
              <ul className="file-chips" aria-label={words.files.attached}>
                {list.map((one) => (
                  <Chip
                    key={one.id}
                    upload={one}
                    state={stateOf(one, first, isOffline ? device.name : undefined)}
                    onRemove={() => uploads.remove(one.id)}
                  />
                ))}
              </ul>
            )}
            {isOffline && waiting.length > 0 && <p className="hint">{words.files.keeps}</p>}
            {isAwaited && waiting.length > 0 && (
              <p className="hint" role="status">
                {words.files.sending(list.length, Math.round(share * 100))}
              </p>
            )}
          </>,
          above,
        )}
    </>
  );
}

function stateOf(upload: Upload, first: Upload | undefined, offline: string | undefined): string {
  if (upload.isDone) return '';
  if (upload.refusal) return sentenceFor(upload.refusal);
  if (offline !== undefined) return words.files.waitsFor(offline);
  return upload === first ? '' : words.files.waits;
}

const circle = 2 * Math.PI * 7;

function Chip({ upload, state, onRemove }: { upload: Upload; state: string; onRemove: () => void }) {
  const { name, file, received, isDone, refusal } = upload;
  const share = file.size === 0 ? 1 : received / file.size;
  return (
    <li className={refusal ? 'bad' : ''}>
      <FileText className="i" aria-hidden />
      <span className="cut">{name}</span>
      <span className="faint num">{size(file.size)}</span>
      {state !== '' && <span className="faint">{state}</span>}
      {!isDone && !refusal && state === '' && (
        <svg className="ring" viewBox="0 0 18 18" role="img" aria-label={words.files.percent(Math.round(share * 100))}>
          <circle cx="9" cy="9" r="7" />
          <circle cx="9" cy="9" r="7" strokeDasharray={`${share * circle} ${circle}`} />
        </svg>
      )}
      <IconButton icon={X} label={words.files.remove(name)} onClick={onRemove} />
    </li>
  );
}

interface PlusMenuProps {
  hasImages: boolean;
  onFiles: (files: Iterable<File>) => void;
  onAsk: () => void;
}

function PlusMenu({ hasImages, onFiles, onAsk }: PlusMenuProps) {
  const menu = useRef<HTMLDivElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  const pick = (accept: string, fromCamera: boolean) => () => {
    const { current: field } = input;
    menu.current?.hidePopover();
    if (!field) return;
    field.accept = accept;
    field.toggleAttribute('capture', fromCamera);
    field.click();
  };
  const chosen = ({ target }: ChangeEvent<HTMLInputElement>) => {
    onFiles([...(target.files ?? [])]);
    // A person can choose the same file again.
    target.value = '';
  };
  return (
    <>
      <IconButton icon={Plus} className="add-file" label={words.files.add} title={words.files.add} popoverTarget={id} />
      <input ref={input} type="file" multiple hidden aria-label={words.files.add} onChange={chosen} />
      <div className="menu up start" id={id} popover="auto" ref={menu}>
        {hasImages && (
          <button type="button" onClick={pick(imageTypes.join(','), false)}>
            {words.files.photo}
          </button>
        )}
        {hasImages && (
          <button type="button" className="glass-only" onClick={pick('image/*', true)}>
            {words.files.camera}
          </button>
        )}
        <button type="button" onClick={pick('', false)}>
          {words.files.file}
        </button>
        <button
          type="button"
          onClick={() => {
            menu.current?.hidePopover();
            onAsk();
          }}
        >
          {words.files.ask}
        </button>
        <p className="hint">{words.files.limit}</p>
      </div>
    </>
  );
}
