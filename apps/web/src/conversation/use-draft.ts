/** The text of a composer: a draft comes back after a reload and is removed when sent. */
import { useCallback, useEffect, useRef, useState } from 'react';
import type { Client } from '@relay/client';
import { carryDraft, draftOf, keepDraft } from './drafts.ts';

const restMs = 300;
/** Tabs of this browser follow each other, so that they neither overwrite nor repeat a draft. */
const channelName = 'relay.drafts';

interface KeptDraft {
  session: string;
  text: string;
}

/** On the channel of the page, which does not get it back. A person can leave the page before its text is kept: then its channel is closed. */
function publish(draft: KeptDraft, open: BroadcastChannel | undefined): void {
  const channel = open ?? new BroadcastChannel(channelName);
  channel.postMessage(draft);
  if (!open) channel.close();
}

/** For `idOf`: the current id of a session that had this id before. */
export const idToday =
  (client: Client) =>
  async (earlier: string): Promise<string> =>
    (await client.call('readSession', { params: { id: earlier }, query: { limit: 1 } })).id;

/**
 * `session`: the storage key of the text. `first`: the text without a draft. `idOf`: returns a session's current id for an earlier one.
 * `forget`: removes the stored text; the field keeps its own.
 */
export function useDraft(
  session: string,
  first = '',
  idOf?: (earlier: string) => Promise<string>,
): [text: string, setText: (text: string | ((now: string) => string)) => void, forget: () => void] {
  const [text, setText] = useState(first);
  const now = useRef(first);
  const typed = useRef(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const keptUnder = useRef(session);
  const newestIdOf = useRef(idOf);
  /** Texts on their way to the database: the last one is carried when the page is left before it is there. */
  const underway = useRef<string[]>([]);
  const store = useCallback(
    async (value: string) => {
      underway.current.push(value);
      await keepDraft(session, value);
      underway.current.shift();
    },
    [session],
  );
  const tabs = useRef<BroadcastChannel>(undefined);
  const keep = useCallback(() => {
    clearTimeout(timer.current);
    timer.current = undefined;
    void store(now.current);
    publish({ session, text: now.current }, tabs.current);
  }, [session, store]);
  useEffect(() => {
    const channel = new BroadcastChannel(channelName);
    tabs.current = channel;
    channel.onmessage = ({ data }: MessageEvent<KeptDraft>) => {
      // A text that was typed here a moment ago is newer, and the other tabs get it next.
      if (data.session !== session || timer.current !== undefined) return;
      typed.current = true;
      now.current = data.text;
      setText(data.text);
    };
    return () => {
      tabs.current = undefined;
      channel.close();
    };
  }, [session]);
  useEffect(() => {
    const before = keptUnder.current;
    keptUnder.current = session;
    // The agent has named the session: the text moves along.
    if (before !== session && now.current !== '') {
      void keepDraft(before, '');
      void store(now.current);
    }
  }, [session, store]);
  useEffect(() => {
    let isCurrent = true;
    void draftOf(session, newestIdOf.current).then((draft) => {
      if (!isCurrent || typed.current || draft === '') return;
      now.current = draft;
      setText(draft);
    });
    const onHide = () => {
      const last = timer.current === undefined ? underway.current.at(-1) : now.current;
      if (last !== undefined) carryDraft(session, last);
    };
    window.addEventListener('pagehide', onHide);
    return () => {
      isCurrent = false;
      window.removeEventListener('pagehide', onHide);
      if (timer.current !== undefined) keep();
    };
  }, [session, keep]);
  const change = useCallback(
    (next: string | ((now: string) => string)) => {
      const value = typeof next === 'string' ? next : next(now.current);
      typed.current = true;
      if (value === now.current) return;
      now.current = value;
      setText(value);
      clearTimeout(timer.current);
      // Sent, or emptied: at once.
      if (value === '') keep();
      else timer.current = setTimeout(keep, restMs);
    },
    [keep],
  );
  const forget = useCallback(() => {
    now.current = '';
    keep();
  }, [keep]);
  return [text, change, forget];
}
