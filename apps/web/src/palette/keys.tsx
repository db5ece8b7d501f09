/** Keys that work on every page, and the two dialogs that they open. */
import { type ComponentType, useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { loadWords } from '../catalogue.ts';
import { useAhead } from '../ui/ahead.ts';
import { useHotKeys } from './hot-keys.ts';
import { type TypedAhead, useTypedAhead } from './typed-ahead.ts';

interface Dialogs {
  Palette: ComponentType<{ typed: TypedAhead; onDone: () => void; onHelp: () => void }>;
  Help: ComponentType<{ onDone: () => void }>;
}
let loading: Promise<Dialogs> | undefined;
/** Chunks of their own, loaded when the page is at rest, or with the first key. */
function loadDialogs(): Promise<Dialogs> {
  loading ??= Promise.all([import('./palette.tsx'), import('./help.tsx'), loadWords('keys')]).then(([{ Palette }, { Help }]) => ({ Palette, Help })); // prettier-ignore
  loading.catch(() => (loading = undefined));
  return loading;
}

/** The second key of two comes within this time. */
const secondMs = 1200;

export function Keys() {
  const [, navigate] = useLocation();
  const [open, setOpen] = useState<{ what: 'palette' | 'help'; nth: number }>();
  const opened = useRef(0);
  const show = (what: 'palette' | 'help') => setOpen({ what, nth: (opened.current += 1) });
  const [dialogs, setDialogs] = useState<Dialogs>();
  const isAhead = useAhead(true);
  const isWanted = open !== undefined;
  useEffect(() => {
    if (isAhead || isWanted) loadDialogs().then(setDialogs, () => setOpen(undefined));
  }, [isAhead, isWanted]);
  const typed = useTypedAhead(dialogs === undefined && open?.what === 'palette', () => setOpen(undefined));
  const leader = useRef(0);
  const afterG = () => Date.now() - leader.current < secondMs;
  const go = (path: string) => {
    leader.current = 0;
    // The page that comes takes the focus.
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    navigate(path);
  };
  useHotKeys({
    n: () => go('/sessions/new'),
    g: () => {
      leader.current = Date.now();
    },
    m: () => (afterG() ? go('/devices') : false),
    s: () => (afterG() ? go('/sessions') : false),
    '?': () => show('help'),
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey) || event.shiftKey || event.altKey)
        return;
      event.preventDefault();
      // Another dialog has to be answered first.
      if (document.querySelector('dialog[open]') === null) show('palette');
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
  if (!dialogs || !open) return null;
  const { Palette, Help } = dialogs;
  // A dialog receives its own close event late: the next dialog can be open already, and stays.
  const onDone = () => setOpen((now) => (now?.nth === open.nth ? undefined : now));
  if (open.what === 'palette')
    return <Palette key={open.nth} typed={typed.current} onDone={onDone} onHelp={() => show('help')} />;
  return <Help key={open.nth} onDone={onDone} />;
}
