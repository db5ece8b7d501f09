/** The folder where an agent works: typed, a recent one, or browsed on the machine (an editable combobox of the ARIA APG). */
import { type KeyboardEvent, type RefObject, useEffect, useId, useRef, useState } from 'react';
import { Folder } from '../ui/icons.tsx';
import { CornerLeftUp, History } from '../ui/later-icons.tsx';
import type { Device, FolderList } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { isComposing } from '../ui/composing.ts';
import { folderOf } from '../ui/folder.ts';
import { useResource } from '../ui/resource.ts';
import '../styles/folder-field.css';

interface FolderFieldProps {
  device: Device;
  value: string;
  onValue: (path: string) => void;
}

interface Option {
  kind: 'recent' | 'up' | 'inside';
  name: string;
  path: string;
}

/** The number of recent folders shown as buttons. */
const shown = 5;
const bare = (path: string) => (path.length > 1 ? path.replace(/[\\/]+$/, '') : path);
/** Splits the text at the last slash. */
const parts = (text: string) => {
  const rest = /[^\\/]*$/.exec(text)![0];
  return { around: bare(text.slice(0, text.length - rest.length)), rest };
};
const begins = (name: string, rest: string) => name.toLocaleLowerCase().startsWith(rest.toLocaleLowerCase());

const icons = { recent: History, up: CornerLeftUp, inside: Folder };

/** All of the list is in sight, also when a keyboard leaves less room; and in it the option that is chosen with keys. */
function useInSight(list: RefObject<HTMLElement | null>, length: number, at: number): void {
  useEffect(() => {
    const show = () => list.current?.scrollIntoView({ block: 'nearest' });
    show();
    visualViewport?.addEventListener('resize', show);
    return () => visualViewport?.removeEventListener('resize', show);
  }, [list, length]);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [list, at]);
}

/** Waits for the click: closing when the focus leaves would move the element under the pointer in the middle of the press. */
function useClickElsewhere(box: RefObject<HTMLElement | null>, isOpen: boolean, close: () => void): void {
  useEffect(() => {
    if (!isOpen) return undefined;
    const onClick = ({ target }: MouseEvent) => {
      if (target instanceof Node && !box.current?.contains(target)) close();
    };
    // Captured, because an option that is chosen leaves the list.
    window.addEventListener('click', onClick, true);
    return () => window.removeEventListener('click', onClick, true);
  });
}

export function FolderField({ device, value, onValue }: FolderFieldProps) {
  const { client } = useRooms();
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const pops = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  /** The folder that was chosen from the list, and is looked into. */
  const [inside, setInside] = useState<string>();
  const { around, rest } = inside === undefined ? parts(value) : { around: inside, rest: '' };
  const browses = isOpen && device.status === 'online' && device.capabilities.includes('browse');
  const key = `${device.id} ${browses ? `in ${around}` : 'recent'}`;
  // If folders cannot be listed, the person types one.
  const found = useResource<FolderList & { key: string }>(key, async () => {
    const query = browses ? { path: around } : {};
    return { key, ...(await client.call('listFolders', { params: { id: device.id }, query })) };
  });
  const list = found.kind === 'ready' ? found.value : undefined;
  const isOfDevice = list?.key.startsWith(`${device.id} `) === true;
  const recent = isOfDevice ? list.recent : [];
  const browsed = browses && list?.key === key ? list.browsed : undefined;
  const options: Option[] = [
    ...recent
      .filter(({ path }) => inside === undefined && path !== value && path.includes(value))
      .slice(0, shown)
      .map(({ path }): Option => ({ kind: 'recent', name: path, path })),
    ...(browsed?.parent === undefined ? [] : [{ kind: 'up', name: words.start.up, path: browsed.parent } as const]),
    ...(browsed?.folders ?? [])
      .filter(({ name }) => begins(name, rest))
      .map(({ name, path }): Option => ({ kind: 'inside', name, path })),
  ];
  const isShown = isOpen && options.length > 0;
  const at = isShown ? Math.min(active, options.length - 1) : -1;
  useInSight(pops, isShown ? options.length : 0, at);
  useClickElsewhere(box, isOpen, () => setOpen(false));

  const choose = ({ path, kind }: Option) => {
    onValue(path);
    setActive(-1);
    setInside(path);
    // A recent one is where the person wants to be.
    if (kind === 'recent') setOpen(false);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event.nativeEvent)) return;
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      if (!isOpen) return setOpen(true);
      return setActive((at + step + options.length + (at < 0 && step < 0 ? 1 : 0)) % Math.max(options.length, 1));
    }
    const option = options[at];
    if (event.key === 'Enter' && option) {
      event.preventDefault();
      event.stopPropagation();
      choose(option);
    }
    if (event.key === 'Tab') setOpen(false);
    if (event.key === 'Escape' && isOpen) {
      event.preventDefault();
      event.stopPropagation();
      setOpen(false);
    }
  };
  const first = recent.slice(0, shown);
  const isTwice = (path: string) => first.filter((one) => folderOf(one.path) === folderOf(path)).length > 1;
  return (
    <div className="field folder-field">
      <label htmlFor={id}>{words.start.folder}</label>
      <div className="combo" ref={box}>
        <input
          id={id}
          name="project-path"
          className="mono"
          role="combobox"
          aria-autocomplete="list"
          aria-expanded={isShown}
          aria-controls={`${id}-list`}
          aria-describedby={`${id}-hint`}
          {...(at >= 0 ? { 'aria-activedescendant': `${id}-${at}` } : {})}
          autoComplete="off"
          autoCapitalize="none"
          autoCorrect="off"
          spellCheck={false}
          maxLength={4096}
          value={value}
          onChange={({ target }) => {
            onValue(target.value);
            setInside(undefined);
            setActive(-1);
            setOpen(true);
          }}
          onClick={() => setOpen(true)}
          onKeyDown={onKeyDown}
        />
        {isShown && (
          // The field keeps the focus.
          <div className="pops" ref={pops} onMouseDown={(event) => event.preventDefault()}>
            <div id={`${id}-list`} role="listbox" aria-label={words.start.folders}>
              {options.map((option, index) => {
                const Icon = icons[option.kind];
                return (
                  <div
                    key={`${option.kind} ${option.path}`}
                    id={`${id}-${index}`}
                    className="option"
                    role="option"
                    aria-selected={index === at}
                    title={option.path}
                    onClick={() => choose(option)}
                  >
                    <Icon className="i" aria-hidden />
                    <span className="cut" dir="auto">
                      {option.name}
                    </span>
                  </div>
                );
              })}
            </div>
            {browsed?.more && <p className="hint">{words.start.more}</p>}
          </div>
        )}
      </div>
      <p className="hint" id={`${id}-hint`}>
        {words.start.folderHint}
      </p>
      {first.length > 0 && (
        <div className="chips folders" role="group" aria-label={words.recentFolders}>
          {first.map(({ path }) => (
            <button
              key={path}
              type="button"
              className="small"
              title={path}
              aria-pressed={path === value}
              onClick={() => {
                onValue(path === value ? '' : path);
                setInside(undefined);
              }}
            >
              <Folder className="i" aria-hidden />
              <span className="cut">{isTwice(path) ? path : folderOf(path) || path}</span>
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
