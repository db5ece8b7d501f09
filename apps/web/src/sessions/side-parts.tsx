/** Parts of the list of sessions: the filter that is on, and the foot. */
import type { ReactNode } from 'react';
import { Laptop, Settings, X } from '../ui/icons.tsx';
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

/** A placeholder in the shape of the coming content; shown only after a while. */
export const Skeleton = ({ text }: { text: string }) => (
  <div className="skeleton" role="status">
    <span className="sr">{text}</span>
    {[0, 1, 2, 3, 4, 5].map((index) => (
      <span key={index} className="bone" aria-hidden="true" />
    ))}
  </div>
);

const Online = ({ devices }: { devices: readonly Device[] }) => (
  <span className="faint num cut">
    {words.shell.onlineOf(devices.filter(({ status }) => status === 'online').length, devices.length)}
  </span>
);

export const Foot = ({ devices, children }: { devices: readonly Device[]; children?: ReactNode }) => (
  <div className="foot">
    <Link href="/devices" className="button ghost small">
      <Laptop className="i" aria-hidden /> {words.shell.machines}
      {devices.length > 0 && <Online devices={devices} />}
    </Link>
    {children}
    <span className="grow" />
    <Link href="/account" className="button ghost icon" aria-label={words.shell.settings} title={words.shell.settings}>
      <Settings className="i" aria-hidden />
    </Link>
  </div>
);

/** A change that can be taken back for a while. */
export const UndoToast = ({ text, onUndo }: { text: string; onUndo: () => void }) => (
  <div className="toast" role="status">
    <span className="grow">{text}</span>
    <button type="button" className="small" onClick={onUndo}>
      {words.list.undo}
    </button>
  </div>
);
