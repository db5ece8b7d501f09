/** ⌘K: goes to a session, a machine or a page by a few letters of its name. A combobox as the ARIA practices have it. */
import { type KeyboardEvent, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { Search } from '../ui/icons.tsx';
import { useLocation } from 'wouter';
import { words as catalogue } from '../catalogue.ts';
import { keyName } from './hot-keys.ts';
import { useSharedLists } from '../sessions/shared-lists.ts';
import { noFilter } from '../sessions/listed.ts';
import { Marked } from '../sessions/marked.tsx';
import { searchCharacters, useSearch } from '../sessions/use-search.ts';
import { isComposing } from '../ui/composing.ts';
import { type Result, resultsFor } from './results.tsx';
import type { TypedAhead } from './typed-ahead.ts';
import '../styles/palette.css';

interface PaletteProps {
  /** The text typed before the palette was loaded. */
  typed: TypedAhead;
  onDone: () => void;
  onHelp: () => void;
}

export function Palette({ typed, onDone, onHelp }: PaletteProps) {
  const [, navigate] = useLocation();
  const shared = useSharedLists();
  const [text, setText] = useState(typed.text);
  const [chosen, setChosen] = useState(0);
  const [isEntered, setEntered] = useState(typed.isEntered);
  const [openedMs] = useState(() => Date.now());
  const search = useSearch(text, noFilter, shared.sessions, shared.devices);
  const groups = resultsFor({
    text: search.words,
    sessions: search.sessions,
    devices: shared.devices,
    nowMs: openedMs,
  });
  const all = groups.flatMap(({ results }) => results);
  const at = Math.min(chosen, all.length - 1);
  const dialog = useRef<HTMLDialogElement>(null);
  const listId = useId();
  const idOf = (index: number) => `${listId}-${index}`;
  // Before anything else is typed: letters right after the key go into the field.
  useLayoutEffect(() => {
    dialog.current?.showModal();
  }, []);
  useEffect(() => {
    dialog.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [at, text]);

  const run = ({ to }: Pick<Result, 'to'>) => {
    dialog.current?.close();
    if (typeof to === 'object' && 'does' in to) return onHelp();
    const path = typeof to === 'string' ? to : '/sessions/new';
    // Where the person is already, the focus is back where it was. Another page takes it.
    if (path === window.location.pathname && typeof to === 'string') return undefined;
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    return navigate(path, typeof to === 'string' ? {} : { state: to });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event.nativeEvent)) return;
    const { key } = event;
    if (key === 'ArrowDown') setChosen(at + 1 < all.length ? at + 1 : 0);
    else if (key === 'ArrowUp') setChosen(at > 0 ? at - 1 : Math.max(0, all.length - 1));
    else if (key === 'Enter' && (event.metaKey || event.ctrlKey)) run({ to: { message: search.words } });
    else if (key === 'Enter') setEntered(true);
    else return;
    event.preventDefault();
  };
  useEffect(() => {
    // Enter waits for the list: another session can be the first result then.
    if (!isEntered || shared.isLoading) return;
    setEntered(false);
    if (all[at]) run(all[at]);
  }, [isEntered, shared.isLoading]);
  let index = -1;
  return (
    <dialog ref={dialog} className="pal" aria-label={catalogue.keys.goTo} onClose={onDone}>
      <div className="pin">
        <Search className="i" aria-hidden />
        <input
          type="text"
          role="combobox"
          aria-label={catalogue.keys.field}
          aria-expanded={all.length > 0}
          aria-controls={listId}
          aria-autocomplete="list"
          aria-activedescendant={at >= 0 ? idOf(at) : undefined}
          placeholder={catalogue.keys.hint}
          maxLength={searchCharacters}
          autoComplete="off"
          autoCorrect="off"
          autoCapitalize="none"
          spellCheck={false}
          enterKeyHint="go"
          autoFocus
          value={text}
          onChange={({ target }) => {
            setText(target.value);
            setChosen(0);
            setEntered(false);
          }}
          onKeyDown={onKeyDown}
        />
        <kbd className="k wide">Esc</kbd>
        <button type="button" className="ghost narrow" onClick={() => dialog.current?.close()}>
          {catalogue.cancel}
        </button>
      </div>
      <div id={listId} role="listbox" aria-label={catalogue.keys.results} className="pal-list">
        {groups.map((group, place) => (
          <div key={group.name} role="group" aria-labelledby={`${listId}-group-${place}`}>
            <p className="sec" role="presentation" id={`${listId}-group-${place}`}>
              {group.name}
            </p>
            {group.results.map((result) => {
              index += 1;
              const own = index;
              return (
                <div
                  key={result.key}
                  id={idOf(own)}
                  className="res"
                  role="option"
                  aria-selected={own === at}
                  onPointerMove={() => own !== at && setChosen(own)}
                  onClick={() => run(result)}
                >
                  {result.icon}
                  <span className="grow">
                    <b className="cut">
                      <Marked text={result.name} words={search.words} />
                    </b>
                    {result.detail !== undefined && result.detail !== '' && (
                      <span className="d cut">
                        <Marked text={result.detail} words={search.words} />
                      </span>
                    )}
                  </span>
                  {result.time !== undefined && <time>{result.time}</time>}
                  {result.key === 'new with' && <kbd className="k wide">{keyName('Mod')} Enter</kbd>}
                </div>
              );
            })}
          </div>
        ))}
      </div>
      {search.kind === 'failed' && (
        <p className="pal-note" role="status">
          {catalogue.keys.failed}
        </p>
      )}
      <p className="sr" role="status">
        {search.kind === 'searching' ? catalogue.list.searching : catalogue.keys.found(all.length)}
      </p>
    </dialog>
  );
}
