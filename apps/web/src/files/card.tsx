/** Files in a conversation. The page saves them, and draws images that hold no script alone. A chunk of its own. */
import { type ReactNode, useState } from 'react';
import type { Item } from '@relay/protocol';
import { Refusal } from '../api/refusal.ts';
import { size, words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { useAction } from '../ui/action.ts';
import { useLastSegment } from '../ui/address.ts';
import { nameOfAgent } from '../ui/agents.ts';
import { useNamedDevices } from '../ui/device-list.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { Notice, Problem } from '../ui/notice.tsx';
import { saveBytes } from '../ui/save-file.ts';
import { Download, FileText, ShareSign, Warning } from './icons.tsx';
import '../styles/files.css';

interface FileShape {
  name: string;
  data: string;
  mime: string;
  bytes: number;
}

const drawn = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const drawnBytes = 5 * 1024 * 1024;
const mostBytes = 26 * 1024 * 1024;
const runs =
  /\.(?:html?|xhtml|svg|m?js|cjs|exe|msi|bat|cmd|ps1|sh|app|dmg|pkg|apk|jar|com|scr|vbs|wsf|lnk|desktop|command|docm|xlsm|pptm|dotm|xltm|xlam)$/i;

/** Reads a part of any shape. */
function shapeOf(part: unknown): FileShape {
  const { name, data, mime, bytes } = (part ?? {}) as Record<string, unknown>;
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  return { name: text(name), data: text(data), mime: text(mime), bytes: Number(bytes) || 0 };
}

const kindOf = (name: string): string => {
  const ending = /\.([a-z0-9]{1,8})$/i.exec(name)?.[1] ?? '';
  return words.files.kind(ending.toLowerCase());
};

/** The bytes of the file, piece by piece. */
function useBytes(uuid: string, data: string) {
  const { client } = useRooms();
  const id = useLastSegment();
  return async (): Promise<Uint8Array<ArrayBuffer>[]> => {
    const parts: Uint8Array<ArrayBuffer>[] = [];
    let total = 0;
    for (let offset: number | undefined = 0; offset !== undefined;) {
      const params = { id, uuid, name: data };
      const piece: { data: string; next?: number } = await client.call('readContent', { params, query: { offset } });
      parts.push(Uint8Array.from(atob(piece.data), (sign) => sign.charCodeAt(0)));
      total += parts.at(-1)!.length;
      if (total > mostBytes) throw new Refusal('FILE_TOO_LARGE', '');
      offset = piece.next !== undefined && piece.next > offset ? piece.next : undefined;
    }
    return parts;
  };
}

const canShare = (): boolean =>
  typeof navigator.canShare === 'function' && window.matchMedia('(pointer: coarse)').matches;

interface FileCardProps {
  uuid: string;
  part: Item['part'];
  /** Draws an image of a kind that holds no script. */
  drawing: (picture: Omit<FileShape, 'name'>) => ReactNode;
}

export function FileCard({ uuid, part, drawing }: FileCardProps) {
  const { name, data, mime, bytes } = shapeOf(part);
  const read = useBytes(uuid, data);
  const id = useLastSegment();
  const device = useNamedDevices().find((one) => id.startsWith(`${one.id}:`));
  const agent = nameOfAgent(id.split(':')[1] ?? '', device);
  const [isGone, setGone] = useState(data === '');
  const get = useAction(async (to: 'save' | 'share') => {
    let parts: Uint8Array<ArrayBuffer>[];
    try {
      parts = await read();
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'CONTENT_NOT_FOUND') throw error;
      return setGone(true);
    }
    const shared = { files: [new File(parts, name, { type: 'application/octet-stream' })] };
    if (to === 'save' || !navigator.canShare(shared)) return saveBytes(parts, name);
    await navigator.share(shared).catch(() => undefined);
  });
  const facts = [kindOf(name), size(bytes), device ? words.files.from(agent, device.name) : ''];
  return (
    <div className="file-card">
      {drawn.includes(mime) && bytes <= drawnBytes && data !== '' && drawing({ data, mime, bytes })}
      <div className="line">
        <span className="sign">
          <FileText className="i" aria-hidden />
        </span>
        <span className="grow">
          <b className="name">
            <bdi>{name}</bdi>
          </b>
          <span className="faint">{facts.filter((fact) => fact !== '').join(' · ')}</span>
        </span>
        {!isGone && canShare() && (
          <IconButton icon={ShareSign} label={words.files.share(name)} onClick={() => void get.run('share')} />
        )}
        {!isGone && (
          <button
            type="button"
            className="small"
            aria-label={words.files.download}
            aria-disabled={get.busy}
            onClick={() => void get.run('save')}
          >
            {get.busy ? <span className="spinner" aria-hidden /> : <Download className="i" aria-hidden />}{' '}
            <span className="label">{words.files.download}</span>
          </button>
        )}
      </div>
      {runs.test(name) && (
        <p className="warn">
          <Warning className="i" aria-hidden /> {words.files.canRun}
        </p>
      )}
      {part.shared === true && <p className="faint">{words.files.shared}</p>}
      {isGone && <Notice>{words.files.gone(device?.name, name)}</Notice>}
      <Problem refusal={get.refusal} />
    </div>
  );
}

const most = 20;

/** The files of a message of a person. */
export function SentFiles({ files }: { files: readonly unknown[] }) {
  return (
    <ul className="file-chips" aria-label={words.files.sent}>
      {files.slice(0, most).map((one, index) => {
        const { name, bytes } = shapeOf(one);
        return (
          <li key={index}>
            <FileText className="i" aria-hidden />
            <span className="cut">
              <bdi>{name}</bdi>
            </span>
            <span className="faint num">{size(bytes)}</span>
          </li>
        );
      })}
    </ul>
  );
}
