/** The sessions of the list in their groups: sessions that need the person, pinned sessions, the rest. */
import { type ReactNode, Suspense } from 'react';
import { Laptop, Pin } from '../ui/icons.tsx';
import type { Device, InboxItem, Session } from '@relay/protocol';
import { dayOf, words } from '../catalogue.ts';
import { ItemCard } from '../inbox/lazy.ts';
import { folderOf } from '../ui/folder.ts';
import { AskCard } from './ask-card.tsx';
import type { Arranged, Group, Grouping } from './listed.ts';

interface GroupsProps {
  arranged: Arranged;
  /** The open items of the inbox, which begin the list together with questions; undefined: the page shows them elsewhere. */
  needs: readonly InboxItem[] | undefined;
  by: Grouping;
  /** The session that is on the page. */
  openId: string | undefined;
  deviceOf: (id: string) => Device | undefined;
  row: (session: Session) => ReactNode;
}

export function Groups({
  arranged: { needs: asking, pinned, groups },
  needs: items,
  by,
  openId,
  deviceOf,
  row,
}: GroupsProps) {
  const others = items?.filter(({ kind }) => kind === 'failure' || kind === 'unknown' || kind === 'device') ?? [];
  const needs = items === undefined ? [] : asking;
  const itemOf = ({ id, prompt }: Session) =>
    items?.find((item) => item.kind === 'question' && item.sessionId === id && item.prompt?.id === prompt?.id);
  return (
    <>
      {needs.length + others.length > 0 && (
        <section>
          <NeedsHead count={needs.length + others.length} />
          <ul>
            {needs.map((session, index) =>
              session.id === openId ? (
                row(session)
              ) : (
                <AskCard
                  key={`${session.id} ${session.prompt?.id ?? ''}`}
                  isLine={index >= wholeCards}
                  session={session}
                  item={itemOf(session)}
                  device={deviceOf(session.deviceId)}
                />
              ),
            )}
            <Suspense fallback={null}>
              {others.map((item) => (
                <ItemCard key={item.id} item={item} />
              ))}
            </Suspense>
          </ul>
        </section>
      )}
      {pinned.length > 0 && (
        <section>
          <PinnedHead />
          <ul>{pinned.map(row)}</ul>
        </section>
      )}
      {groups.map((one) => (
        <section key={one.key}>
          <GroupHead group={one} by={by} device={one.deviceId === undefined ? undefined : deviceOf(one.deviceId)} />
          <ul>{one.sessions.map(row)}</ul>
        </section>
      ))}
    </>
  );
}

/** Further questions are a line each: the list has room for sessions, too. */
const wholeCards = 2;

const NeedsHead = ({ count }: { count: number }) => (
  <div className="sec">
    <h2>{words.list.needsYou}</h2>
    <span className="n">{count}</span>
  </div>
);

const PinnedHead = () => (
  <div className="sec">
    <Pin className="i" aria-hidden />
    <h2>{words.list.pinned}</h2>
  </div>
);

/** A session without a folder belongs to its machine. */
function GroupHead({ group, by, device }: { group: Group; by: Grouping; device: Device | undefined }) {
  const first = group.sessions[0]!;
  const folder = by === 'project' ? folderOf(first.projectPath) : '';
  const machine = device?.name ?? words.list.machine;
  const isOffline = device?.status === 'offline';
  if (by === 'day')
    return (
      <div className="sec">
        <h2 className="cut">{dayOf(first.updatedAt) || words.list.otherDay}</h2>
      </div>
    );
  return (
    <div className="sec">
      {folder === '' && <Laptop className="i" aria-hidden />}
      <h2 className="cut" title={folder === '' ? undefined : first.projectPath}>
        {folder === '' ? machine : folder}
      </h2>
      <span className="grow" />
      {folder !== '' && device && (
        <span className="faint cut">{isOffline ? words.list.offline(device.name) : device.name}</span>
      )}
      {folder === '' && isOffline && <span className="faint">{words.offline}</span>}
    </div>
  );
}
