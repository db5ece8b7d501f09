/** `/sessions`: conversations, newest first. */
import type { AttentionFrame, Session } from '@relay/protocol';
import { Link, useLocation } from 'wouter';
import { pageSize } from '../api/bounds.ts';
import { useFrames, useRooms } from '../rooms.ts';
import { useAction } from '../ui/action.ts';
import { sessionPath, useQuery } from '../ui/address.ts';
import { useDevices } from '../ui/device-list.ts';
import { Loaded } from '../ui/loaded.tsx';
import { Problem } from '../ui/notice.tsx';
import { Page } from '../ui/page.tsx';
import { useResource } from '../ui/resource.ts';
import { SessionState } from '../ui/status.tsx';
import { Ago } from '../ui/time.tsx';

interface Listed {
  sessions: Session[];
  nextCursor?: string | undefined;
}

interface Filter {
  device: string | undefined;
  archived: boolean;
}

const belongs = (session: Session, { device, archived }: Filter) =>
  session.archived === archived && (device === undefined || session.deviceId === device);

/** What a frame makes of the list. */
function after(list: Listed, frame: AttentionFrame, filter: Filter): Listed {
  if (frame.type === 'session_removed')
    return { ...list, sessions: list.sessions.filter(({ id }) => id !== frame.sessionId) };
  if (frame.type !== 'session_update') return list;
  const { session, previousId } = frame;
  const known = list.sessions.find(({ id }) => id === session.id);
  // Two instances that tell of one session may cross.
  if (known && previousId === undefined && session.updatedAt < known.updatedAt) return list;
  const others = list.sessions.filter(({ id }) => id !== session.id && id !== previousId);
  if (!belongs(session, filter)) return { ...list, sessions: others };
  const sessions = [session, ...others].sort((a, b) => b.updatedAt.localeCompare(a.updatedAt));
  return { ...list, sessions };
}

export function Sessions() {
  const { client } = useRooms();
  const query = useQuery();
  const [, navigate] = useLocation();
  const filter: Filter = { device: query.get('device') ?? undefined, archived: query.has('archived') };
  const devices = useDevices();
  const asked = {
    limit: pageSize,
    ...(filter.device === undefined ? {} : { deviceId: filter.device }),
    archived: filter.archived ? ('true' as const) : ('false' as const),
  };
  const list = useResource<Listed>(JSON.stringify(filter), () => client.call('listSessions', { query: asked }));
  useFrames((frame) => {
    if (frame.type === 'resync' || frame.type === 'sessions_changed') list.reload();
    else list.change((now) => after(now, frame, filter));
  });
  const more = useAction(async (cursor: string) => {
    const next = await client.call('listSessions', { query: { ...asked, cursor } });
    list.change((now) => ({
      sessions: [...now.sessions, ...next.sessions.filter(({ id }) => !now.sessions.some((one) => one.id === id))],
      nextCursor: next.nextCursor,
    }));
  });

  const show = (next: Filter) => {
    const params = new URLSearchParams();
    if (next.device !== undefined) params.set('device', next.device);
    if (next.archived) params.set('archived', '1');
    const text = params.toString();
    navigate(text === '' ? '/sessions' : `/sessions?${text}`, { replace: true });
  };
  const known = devices.kind === 'ready' ? devices.value : [];
  const nameOf = (id: string) => known.find((device) => device.id === id)?.name;
  return (
    <Page
      title="Sessions"
      aside={
        <Link
          href={
            filter.device === undefined
              ? '/sessions/new'
              : `/sessions/new?${new URLSearchParams({ device: filter.device }).toString()}`
          }
          className="button primary"
        >
          New session
        </Link>
      }
    >
      <div className="filters">
        <label>
          Device
          <select
            value={filter.device ?? ''}
            onChange={({ target }) => show({ ...filter, device: target.value === '' ? undefined : target.value })}
          >
            <option value="">All</option>
            {known.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label className="check">
          <input
            type="checkbox"
            checked={filter.archived}
            onChange={({ target }) => show({ ...filter, archived: target.checked })}
          />
          Archived ones
        </label>
      </div>
      <Loaded of={list} what="Loading your sessions …">
        {({ sessions, nextCursor }) => (
          <>
            {sessions.length === 0 && (
              <p role="status">{filter.archived ? 'Nothing is archived.' : 'No sessions yet.'}</p>
            )}
            <ul className="cards">
              {sessions.map((session) => (
                <Row key={session.id} session={session} deviceName={nameOf(session.deviceId)} />
              ))}
            </ul>
            <Problem refusal={more.refusal} />
            {nextCursor !== undefined && (
              <button type="button" aria-disabled={more.busy} onClick={() => void more.run(nextCursor)}>
                {more.busy ? 'Loading …' : 'Show more'}
              </button>
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Row({ session, deviceName }: { session: Session; deviceName: string | undefined }) {
  return (
    <li>
      <Link href={sessionPath(session.id)} className="card">
        <span className="card-head">
          <span className="card-title">{session.title === '' ? 'Untitled' : session.title}</span>
          <SessionState status={session.status} />
        </span>
        {session.lastMessage !== '' && session.lastMessage !== session.title && (
          <span className="card-text">{session.lastMessage}</span>
        )}
        <span className="card-facts">
          <span>{deviceName ?? session.agentType}</span>
          {session.projectPath !== '' && <span>{session.projectPath}</span>}
          <Ago at={session.updatedAt} />
        </span>
      </Link>
    </li>
  );
}
