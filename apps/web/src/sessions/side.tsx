/** The list of sessions: beside every page, and on a phone the first page. */
import { type UIEvent, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Inbox, Laptop, Search, Settings, SquarePen } from 'lucide-react';
import type { Device, Session } from '@relay/protocol';
import { Link, useLocation } from 'wouter';
import { dayOf, words } from '../catalogue.ts';
import { storedPrefix } from '../forget.ts';
import { useRooms } from '../rooms.ts';
import { useLastSegment, useQuery } from '../ui/address.ts';
import { useDevices } from '../ui/device-list.ts';
import { folderOf } from '../ui/folder.ts';
import { Mark } from '../ui/mark.tsx';
import { Problem } from '../ui/notice.tsx';
import { AskCard } from './ask-card.tsx';
import { countNeeds } from './attention.ts';
import { FilterMenu } from './filter-menu.tsx';
import { useLater } from './later.ts';
import { type Filter, type Group, type Grouping, arranged, groupings, matches, needsYou } from './listed.ts';
import { Row, titleOf } from './row.tsx';
import { useSessions } from './use-sessions.ts';

const groupingKey = `${storedPrefix}grouping`;
function storedGrouping(): Grouping {
  try {
    const stored = localStorage.getItem(groupingKey);
    return groupings.find((one) => one === stored) ?? 'project';
  } catch {
    return 'project';
  }
}

/** More is loaded when less than this is below. */
const aheadPx = 600;

export function Side({ isHome }: { isHome: boolean }) {
  const { client } = useRooms();
  const query = useQuery();
  const [location, navigate] = useLocation();
  const [kept, setKept] = useState<Filter>({ device: undefined, archived: false });
  const filter: Filter = isHome ? { device: query.get('device') ?? undefined, archived: query.has('archived') } : kept;
  if (filter.device !== kept.device || filter.archived !== kept.archived) setKept(filter);
  const [by, setBy] = useState(storedGrouping);
  const [search, setSearch] = useState('');
  const { list, more } = useSessions(filter);
  const found = useDevices();
  const devices = found.kind === 'ready' ? found.value : [];
  const later = useLater();
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const last = useLastSegment();
  const openId = location.startsWith('/sessions/') ? last : undefined;

  const all = list.kind === 'ready' ? list.value.sessions : [];
  const needing = all.filter(needsYou).length;
  useEffect(() => countNeeds(needing), [needing]);
  useEffect(() => () => countNeeds(0), []);

  const deviceOf = (id: string) => devices.find((device) => device.id === id);
  const wanted = search.trim();
  const shown = all.filter(
    (one) => !hidden.has(one.id) && (wanted === '' || matches(one, deviceOf(one.deviceId), wanted)),
  );
  const { needs, groups } = arranged(shown, filter, by);

  const show = (next: Filter) => {
    const params = new URLSearchParams();
    if (next.device !== undefined) params.set('device', next.device);
    if (next.archived) params.set('archived', '1');
    const text = params.toString();
    setKept(next);
    if (isHome) navigate(text === '' ? '/sessions' : `/sessions?${text}`, { replace: true });
  };
  const group = (next: Grouping) => {
    setBy(next);
    try {
      localStorage.setItem(groupingKey, next);
    } catch {
      // Until the page is loaded again.
    }
  };

  const withdraw = useCallback(
    (session: Session, text: string, work: () => Promise<unknown>) => {
      const back = () => setHidden((now) => new Set([...now].filter((id) => id !== session.id)));
      setHidden((now) => new Set([...now, session.id]));
      later.plan(
        text,
        () =>
          void work()
            .catch(() => undefined)
            .finally(back),
        back,
      );
    },
    [later],
  );
  const onArchive = (session: Session) => {
    const work = () =>
      client.call('updateSession', { params: { id: session.id }, body: { archived: !session.archived } });
    if (session.archived) void work().catch(() => undefined);
    else withdraw(session, words.list.archivedNow(titleOf(session)), work);
  };
  const onDelete = (session: Session) =>
    withdraw(session, words.list.removed(titleOf(session)), () =>
      client.call('deleteSession', { params: { id: session.id } }),
    );

  // A list that was out of sight is where it was when it comes back.
  const box = useRef<HTMLDivElement>(null);
  const scrolled = useRef(0);
  useLayoutEffect(() => {
    if (isHome && box.current) box.current.scrollTop = scrolled.current;
  }, [isHome]);
  const hasMore = list.kind === 'ready' && list.value.nextCursor !== undefined;
  const { busy, refusal, run } = more;
  const look = useCallback(() => {
    const { current } = box;
    if (!current || current.clientHeight === 0 || !hasMore || busy || refusal) return;
    if (current.scrollHeight - current.clientHeight - current.scrollTop < aheadPx) void run();
  }, [hasMore, busy, refusal, run]);
  useEffect(look, [look, shown.length]);
  const onScroll = ({ currentTarget }: UIEvent<HTMLDivElement>) => {
    if (currentTarget.clientHeight > 0) scrolled.current = currentTarget.scrollTop;
    look();
  };

  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      field.current?.focus();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);

  const row = (session: Session) => (
    <Row
      key={session.id}
      session={session}
      device={deviceOf(session.deviceId)}
      isOpen={session.id === openId}
      onArchive={onArchive}
      onDelete={onDelete}
    />
  );
  const newPath = filter.device === undefined ? '/sessions/new' : `/sessions/new?device=${encodeURIComponent(filter.device)}`; // prettier-ignore
  return (
    <div
      className="side"
      {...(isHome ? { role: 'main', id: 'main' } : { role: 'navigation' })}
      aria-label={words.list.title}
    >
      <div className="side-top">
        <Link href="/" className="brand">
          <Mark />
          <span>Relay</span>
        </Link>
        <span className="grow" />
        <FilterMenu filter={filter} by={by} devices={devices} onFilter={show} onGroup={group} />
        <Link
          href={newPath}
          className="button ghost icon wide"
          aria-label={words.list.newSession}
          title={words.list.newSession}
        >
          <SquarePen className="i" aria-hidden />
        </Link>
      </div>
      <label className="find">
        <Search className="i" aria-hidden />
        <input
          ref={field}
          type="search"
          aria-label={words.list.search}
          placeholder={words.list.search}
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
      </label>
      <div className="scroll" ref={box} onScroll={onScroll}>
        {list.kind === 'loading' && <Skeleton />}
        {list.kind === 'failed' && <Problem refusal={list.refusal} onRetry={list.reload} />}
        {needs.length > 0 && (
          <section>
            <div className="sec">
              <h2>{words.list.needsYou}</h2>
              <span className="n">{needs.length}</span>
            </div>
            <ul>
              {needs.map((session) =>
                session.id === openId ? (
                  row(session)
                ) : (
                  <AskCard
                    key={`${session.id} ${session.prompt?.id ?? ''}`}
                    session={session}
                    device={deviceOf(session.deviceId)}
                  />
                ),
              )}
            </ul>
          </section>
        )}
        {groups.map((one) => (
          <section key={one.key}>
            <GroupHead group={one} by={by} device={one.deviceId === undefined ? undefined : deviceOf(one.deviceId)} />
            <ul>{one.sessions.map(row)}</ul>
          </section>
        ))}
        {list.kind === 'ready' && shown.length === 0 && (
          <Nothing
            isSearch={wanted !== ''}
            isArchive={filter.archived}
            hasMachine={devices.length > 0}
            onClear={() => setSearch('')}
          />
        )}
        <Problem refusal={more.refusal} onRetry={() => void more.run()} />
      </div>
      {later.text !== undefined && (
        <div className="toast" role="status">
          <span className="grow cut">{later.text}</span>
          <button type="button" className="small" onClick={later.undo}>
            {words.list.undo}
          </button>
        </div>
      )}
      <div className="foot">
        <Link href="/devices" className="button ghost small">
          <Laptop className="i" aria-hidden /> {words.shell.machines}
          {devices.length > 0 && <Online devices={devices} />}
        </Link>
        <span className="grow" />
        <Link
          href="/account"
          className="button ghost icon"
          aria-label={words.shell.settings}
          title={words.shell.settings}
        >
          <Settings className="i" aria-hidden />
        </Link>
      </div>
    </div>
  );
}

const Online = ({ devices }: { devices: readonly Device[] }) => (
  <span className="faint num">
    {words.shell.onlineOf(devices.filter(({ status }) => status === 'online').length, devices.length)}
  </span>
);

function GroupHead({ group, by, device }: { group: Group; by: Grouping; device: Device | undefined }) {
  const first = group.sessions[0]!;
  const name =
    by === 'day'
      ? dayOf(first.updatedAt) || words.list.otherDay
      : by === 'machine'
        ? (device?.name ?? first.agentType)
        : folderOf(first.projectPath) || words.list.noProject;
  const isOffline = device?.status === 'offline';
  return (
    <div className="sec">
      <h2 className="cut" title={by === 'project' ? first.projectPath : undefined}>
        {name}
      </h2>
      <span className="grow" />
      {by === 'project' && device && (
        <span className="faint cut">{isOffline ? words.list.offline(device.name) : device.name}</span>
      )}
      {by === 'machine' && isOffline && <span className="faint">{words.offline}</span>}
    </div>
  );
}

interface NothingProps {
  isSearch: boolean;
  isArchive: boolean;
  hasMachine: boolean;
  onClear: () => void;
}
function Nothing({ isSearch, isArchive, hasMachine, onClear }: NothingProps) {
  const title = isSearch ? words.list.noResult : isArchive ? words.list.noneArchived : words.list.none;
  return (
    <div className="empty s" role="status">
      <Inbox className="i" aria-hidden />
      <h2>{title}</h2>
      {isSearch ? (
        <button type="button" className="small" onClick={onClear}>
          {words.list.clearSearch}
        </button>
      ) : (
        !isArchive && <p className="soft">{hasMachine ? words.list.noneMore : words.list.noneYet}</p>
      )}
    </div>
  );
}

/** In the shape of what comes; shown only when it takes a while. */
const Skeleton = () => (
  <div className="skeleton" role="status">
    <span className="sr">{words.list.loading}</span>
    {[0, 1, 2, 3, 4, 5].map((index) => (
      <span key={index} className="bone" aria-hidden="true" />
    ))}
  </div>
);
