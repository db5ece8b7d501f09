/** Contents that items name and do not hold: images, and whole outputs of tools. Fetched piece by piece, a few of them remembered. */
import { createContext, useContext, useEffect, useMemo, useState } from 'react';
import type { Client } from '@relay/client';
import { refusalOf } from '../api/refusal.ts';
import { useRooms } from '../rooms.ts';

/** The bytes under this name of an item. Rejects when they cannot be fetched. */
type Contents = (uuid: string, name: string) => Promise<Uint8Array<ArrayBuffer>>;

/** An image, the largest content, has five pieces; a server that never stops must not fill the memory. */
const mostPieces = 8;
const mostRemembered = 16;

function createContents(client: Pick<Client, 'call'>, sessionId: string): Contents {
  const cache = new Map<string, ReturnType<Contents>>();
  const fetched: Contents = async (uuid, name) => {
    const pieces: Uint8Array<ArrayBuffer>[] = [];
    let next: number | undefined = 0;
    while (next !== undefined && pieces.length < mostPieces) {
      const offset: number = next;
      const params = { id: sessionId, uuid, name };
      const piece = await client.call('readContent', { params, query: { offset } });
      pieces.push(Uint8Array.from(atob(piece.data), (sign) => sign.charCodeAt(0)));
      next = piece.next !== undefined && piece.next > offset ? piece.next : undefined;
    }
    const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
    let at = 0;
    for (const piece of pieces) {
      whole.set(piece, at);
      at += piece.length;
    }
    return whole;
  };
  return (uuid, name) => {
    const key = `${uuid} ${name}`;
    const found = cache.get(key) ?? fetched(uuid, name);
    cache.delete(key);
    cache.set(key, found);
    found.catch(() => cache.get(key) === found && cache.delete(key));
    const [oldest] = cache.keys();
    if (cache.size > mostRemembered && oldest !== undefined) cache.delete(oldest);
    return found;
  };
}

export const ContentsContext = createContext<Contents | undefined>(undefined);

/** The contents of a session, while the page shows it. */
export function useSessionContents(sessionId: string): Contents {
  const { client } = useRooms();
  return useMemo(() => createContents(client, sessionId), [client, sessionId]);
}

/** Kinds that a browser draws and that hold no script. */
const drawn = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** Returns the address of an image once it is loaded; undefined before, and if the page cannot show it. */
export function useImage(uuid: string, name: string, mime: string): string | undefined {
  const contents = useContext(ContentsContext);
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    if (!contents || name === '' || !drawn.has(mime)) return;
    let made: string | undefined;
    let isGone = false;
    contents(uuid, name).then(
      (bytes) => {
        if (isGone) return;
        made = URL.createObjectURL(new Blob([bytes], { type: mime }));
        setAddress(made);
      },
      () => undefined,
    );
    return () => {
      isGone = true;
      setAddress(undefined);
      if (made !== undefined) URL.revokeObjectURL(made);
    };
  }, [contents, uuid, name, mime]);
  return address;
}

export interface WholeText {
  text: string | undefined;
  state: 'none' | 'loading' | 'failed' | 'gone';
  load: () => void;
}

/** A text that is fetched when a person asks for it. */
export function useWholeText(uuid: string, name: string | undefined): WholeText | undefined {
  const contents = useContext(ContentsContext);
  const [text, setText] = useState<string>();
  const [state, setState] = useState<WholeText['state']>('none');
  if (!contents || name === undefined || name === '') return undefined;
  const load = () => {
    if (state === 'loading') return;
    setState('loading');
    contents(uuid, name).then(
      (bytes) => {
        setText(new TextDecoder().decode(bytes));
        setState('none');
      },
      (error: unknown) => {
        const { code } = refusalOf(error);
        setState(code === 'CONTENT_NOT_FOUND' || code === 'NOT_SUPPORTED_BY_DEVICE' ? 'gone' : 'failed');
      },
    );
  };
  return { text, state, load };
}
