/** The list of sessions: beside every page, and on a phone the first page. */
import { type ComponentProps, type KeyboardEvent, Suspense, startTransition, useEffect, useRef, useState } from 'react';
import { Search as SearchIcon, SquarePen } from '../ui/icons.tsx';
import type { Session } from '@relay/protocol';
import { Link, useLocation } from 'wouter';
import { loadWords, words } from '../catalogue.ts';
import { keepStored, readStored } from '../forget.ts';
import { newSessionPath, sessionPath, useSessionInPath } from '../ui/address.ts';
import { isComposing } from '../ui/composing.ts';
import { useFrames } from '../rooms.ts';
import { useNamedDevices } from '../ui/device-list.ts';
import { useKeptFocus } from '../ui/kept-focus.ts';
import { Unloaded, loadedLater } from '../ui/loaded-later.tsx';
import { Mark } from '../ui/mark.tsx';
import { Problem } from '../ui/notice.tsx';
import { keyName } from '../palette/hot-keys.ts';
import { share } from './shared-lists.ts';
import { moveIn, useListKeys } from './list-keys.ts';
import { snoozedSessions, useInbox } from '../inbox/use-inbox.ts';
import { useWide } from '../ui/wide.ts';
import { type Grouping, arranged, beginningOf, groupings } from './listed.ts';
import { Groups } from './groups.tsx';
import { Row } from './row.tsx';
import { useSelection } from './selection.ts';
import { FilterLine, Foot, Skeleton, UndoToast } from './side-parts.tsx';
import { useChanges } from './use-changes.ts';
import { useFilter, useListScroll } from './list-view.ts';
import { searchCharacters, useSearch } from './use-search.ts';
import { useSessions } from './use-sessions.ts';

const Nothing = loadedLater(async () => (await import('./nothing.tsx')).Nothing);
const Empty = (props: ComponentProps<typeof Nothing>) => (
  <Suspense>
    <Nothing {...props} />
  </Suspense>
);
const SelectionBar = loadedLater(async () => (await import('./selection-bar.tsx')).SelectionBar, Unloaded);

const LaterLink = loadedLater(async () => (await import('../later/load.ts')).link());
const FilterMenu = loadedLater(async () => (await import('./filter-menu.tsx')).FilterMenu);
const MessageHits = loadedLater(
  async () => (await Promise.all([import('./message-hits.tsx'), loadWords('keys')]))[0].MessageHits,
);

function useGrouping(): [Grouping, (by: Grouping) => void] {
  const [by, setBy] = useState(() => groupings.find((one) => one === readStored('grouping')) ?? 'project');
  const group = (next: Grouping) => {
    setBy(next);
    keepStored('grouping', next);
  };
  return [by, group];
}

/** Whether the person has messages with a time or schedules, as this browser knows: a request would delay each page. */
function useHasLater(sessions: readonly Session[]): boolean {
  const [has, setHas] = useState(() => readStored('later') === 'yes');
  useFrames((frame) => {
    if (frame.type === 'later_changed') setHas(frame.count > 0);
  });
  return has || sessions.some((session) => session.later !== undefined);
}

/** The row that is now where the lost one was. */
function nextRow(root: HTMLElement, index: number): HTMLElement | null {
  const all = root.querySelectorAll('.scroll li');
  const row = all[Math.min(index, all.length - 1)]?.querySelector<HTMLElement>('a[href], input, button');
  return row ?? root.querySelector<HTMLElement>('input[type="search"]');
}

/** More than fit on most screens. */
const screenRows = 16;

/**
 * Whether all rows are drawn, so that the height below is known. The screen comes first: fifty rows take a slow phone half a
 * second.
 */
function useIsDrawn(isReady: boolean): boolean {
  const [isDrawn, setDrawn] = useState(false);
  useEffect(() => {
    if (!isReady) return undefined;
    const timer = setTimeout(() => startTransition(() => setDrawn(true)));
    return () => clearTimeout(timer);
  }, [isReady]);
  return isDrawn;
}

/** The line above the search: the brand, the menu of filters and the link to a new session. */
function Top(menu: ComponentProps<typeof FilterMenu>) {
  return (
    <div className="side-top">
      <Link href="/" className="brand">
        <Mark />
        <span>Relay</span>
      </Link>
      <span className="grow" />
      <Suspense fallback={<span className="button ghost icon" />}>
        <FilterMenu {...menu} />
      </Suspense>
      <Link
        href={newSessionPath(menu.filter.device)}
        className="button ghost icon wide"
        aria-label={words.list.newSession}
        title={words.list.newSessionKey}
      >
        <SquarePen className="i" aria-hidden />
      </Link>
    </div>
  );
}

const noSessions: readonly Session[] = [];

export function Side({ isHome }: { isHome: boolean }) {
  const [, navigate] = useLocation();
  const [filter, show] = useFilter(isHome);
  const [by, group] = useGrouping();
  const [text, setText] = useState('');
  const { list, more } = useSessions(filter);
  const devices = useNamedDevices();
  const all = list.kind === 'ready' ? list.value.sessions : noSessions;
  const search = useSearch(text, filter, all, devices);
  const changes = useChanges();
  const { later } = changes;
  const hasLater = useHasLater(all);
  const openId = useSessionInPath() || undefined;
  const inbox = useInbox();
  const isWide = useWide();

  const isLoading = list.kind === 'loading';
  useEffect(() => share({ sessions: all, devices, isLoading }), [all, devices, isLoading]);
  useEffect(() => () => share(undefined), []);

  const deviceOf = (id: string | undefined) => devices.find((device) => device.id === id);
  const isSearch = search.kind !== 'off';
  const shown = search.sessions.filter(({ id }) => !changes.hidden.has(id));
  const inGroups = arranged(shown, filter, by, snoozedSessions(inbox));
  const selectable = [...inGroups.pinned, ...inGroups.groups.flatMap(({ sessions }) => sessions)];
  const selection = useSelection(selectable.map(({ id }) => id));

  const root = useRef<HTMLDivElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLInputElement>(null);
  useKeptFocus(root, nextRow);
  const isDrawn = useIsDrawn(list.kind === 'ready');
  const hasMore = isDrawn && (isSearch ? search.hasMore : list.kind === 'ready' && list.value.nextCursor !== undefined);
  const pages = isSearch ? search.more : more;
  const onScroll = useListScroll(box, isHome, shown.length, hasMore, pages);

  useListKeys(root, field, openId, shown, changes);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && selection.isOn && !event.defaultPrevented) selection.end();
  };
  const clear = () => {
    setText('');
    field.current?.focus();
  };

  const laterLink = hasLater && isDrawn && (
    <Suspense>
      <LaterLink isRow={!isWide} />
    </Suspense>
  );
  const row = (session: Session) => (
    <Row
      key={session.id}
      session={session}
      device={deviceOf(session.deviceId)}
      isOpen={session.id === openId}
      search={search.words}
      selection={selection}
      changes={changes}
    />
  );
  return (
    <div
      className="side"
      ref={root}
      {...(isHome ? { role: 'main', id: 'main' } : { role: 'navigation' })}
      aria-label={words.shell.sessions}
      onKeyDown={onKeyDown}
    >
      {selection.isOn ? (
        <Suspense>
          <SelectionBar selection={selection} sessions={selectable} changes={changes} />
        </Suspense>
      ) : (
        <>
          <Top
            filter={filter}
            by={by}
            devices={devices}
            onFilter={show}
            onGroup={group}
            onSelect={selectable.length === 0 ? undefined : () => selection.only([])}
          />
          <label className="find">
            <SearchIcon className="i" aria-hidden />
            <input
              ref={field}
              type="search"
              aria-label={words.list.search}
              placeholder={words.list.search}
              maxLength={searchCharacters}
              autoComplete="off"
              value={text}
              onChange={({ target }) => setText(target.value)}
              onKeyDown={({ key, nativeEvent }) => {
                const first = shown[0];
                if (isComposing(nativeEvent)) return;
                if (key === 'ArrowDown') moveIn(root.current, 1);
                if (key === 'Enter' && isSearch && first) navigate(sessionPath(first.id));
              }}
            />
            <kbd className="k" aria-hidden="true">
              {keyName('Mod')} K
            </kbd>
          </label>
        </>
      )}
      <FilterLine filter={filter} device={deviceOf(filter.device)} onClear={show} />
      {!isWide && laterLink}
      <div className="scroll" ref={box} onScroll={onScroll}>
        {list.kind === 'loading' && <Skeleton text={words.list.loading} />}
        {list.kind === 'failed' && <Problem refusal={list.refusal} onRetry={list.reload} />}
        <Problem refusal={search.refusal} onRetry={search.retry} />
        <Problem refusal={changes.refusal} />
        <Groups
          arranged={isDrawn ? inGroups : beginningOf(inGroups, screenRows)}
          // A wide start page already shows all waiting items.
          needs={isHome && isWide ? undefined : inbox.items}
          by={by}
          openId={openId}
          deviceOf={deviceOf}
          row={row}
        />
        {(search.kind === 'searching' || search.hasMore) && shown.length === 0 && (
          <Skeleton text={words.list.searching} />
        )}
        {list.kind === 'ready' &&
          (search.kind === 'off' || search.kind === 'found') &&
          shown.length === 0 &&
          !search.hasMore && (
            <Empty search={search.words} filter={filter} hasMachine={devices.length > 0} onClear={clear} />
          )}
        {isSearch && (
          <Suspense>
            <MessageHits text={search.words} devices={devices} only={filter.device} />
          </Suspense>
        )}
        {search.kind === 'found' && shown.length > 0 && (
          <p className="sr" role="status">
            {words.list.found(shown.length)}
          </p>
        )}
        <Problem refusal={pages.refusal} onRetry={() => void pages.run()} />
      </div>
      {later.text !== undefined && <UndoToast text={later.text} onUndo={later.undo} />}
      <Foot devices={devices}>{isWide && laterLink}</Foot>
    </div>
  );
}
