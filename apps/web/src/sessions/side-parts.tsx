/** Parts of the list of sessions: the filter that is on, the foot, and what is there when no session is. */
import type { ReactNode } from 'react';
import { Inbox, Laptop, SearchX, Settings, X } from '../ui/icons.tsx';
import type { Device } from '@relay/protocol';
import { Link } from 'wouter';
import { words } from '../catalogue.ts';
import { type Filter, noFilter } from './listed.ts';

/** A filter is never silent. */
export function FilterLine({
  filter,
  device,
  onClear,
}: {
  filter: Filter;
  device: Device | undefined;
  onClear: (filter: Filter) => void;
}) {
  const shown = [
    filter.archived ? words.list.archivedOnes : undefined,
    filter.status === undefined ? undefined : words.list.state[filter.status],
    filter.device === undefined ? undefined : (device?.name ?? words.list.oneMachine),
  ].filter((part) => part !== undefined);
  if (shown.length === 0) return null;
  return (
    <div className="filtered">
      <span className="cut grow">{shown.join(' · ')}</span>
      <button
        type="button"
        className="ghost small"
        aria-label={words.list.clearFilter}
        onClick={() => onClear(noFilter)}
      >
        <X className="i" aria-hidden /> {words.list.clear}
      </button>
    </div>
  );
}

interface NothingProps {
  /** Looked for; empty while nothing is. */
  search: string;
  filter: Filter;
  hasMachine: boolean;
  onClear: () => void;
}

export function Nothing({ search, filter, hasMachine, onClear }: NothingProps): ReactNode {
  const isFiltered = filter.archived || filter.status !== undefined || filter.device !== undefined;
  if (search !== '')
    return (
      <div className="empty s" role="status">
        <SearchX className="i" aria-hidden />
        <h2>{words.list.noResult}</h2>
        <p className="soft">{words.list.noResultMore(search.length > 60 ? `${search.slice(0, 60)}…` : search)}</p>
        <button type="button" className="small" onClick={onClear}>
          {words.list.clearSearch}
        </button>
      </div>
    );
  return (
    <div className="empty s" role="status">
      <Inbox className="i" aria-hidden />
      <h2>{filter.archived ? words.list.noneArchived : isFiltered ? words.list.noneLikeThis : words.list.none}</h2>
      {!isFiltered && <p className="soft">{hasMachine ? words.list.noneMore : words.list.noneYet}</p>}
    </div>
  );
}

/** In the shape of what comes; shown only when it takes a while. */
export const Skeleton = ({ text }: { text: string }) => (
  <div className="skeleton" role="status">
    <span className="sr">{text}</span>
    {[0, 1, 2, 3, 4, 5].map((index) => (
      <span key={index} className="bone" aria-hidden="true" />
    ))}
  </div>
);

const Online = ({ devices }: { devices: readonly Device[] }) => (
  <span className="faint num">
    {words.shell.onlineOf(devices.filter(({ status }) => status === 'online').length, devices.length)}
  </span>
);

export const Foot = ({ devices }: { devices: readonly Device[] }) => (
  <div className="foot">
    <Link href="/devices" className="button ghost small">
      <Laptop className="i" aria-hidden /> {words.shell.machines}
      {devices.length > 0 && <Online devices={devices} />}
    </Link>
    <span className="grow" />
    <Link href="/account" className="button ghost icon" aria-label={words.shell.settings} title={words.shell.settings}>
      <Settings className="i" aria-hidden />
    </Link>
  </div>
);

/** A change that can be taken back for a while. */
export const UndoToast = ({ text, onUndo }: { text: string; onUndo: () => void }) => (
  <div className="toast" role="status">
    <span className="grow cut">{text}</span>
    <button type="button" className="small" onClick={onUndo}>
      {words.list.undo}
    </button>
  </div>
);
