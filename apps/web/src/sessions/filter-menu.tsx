/** Grouping and filters of the list, and actions on many sessions at once. */
import { Suspense, useId, useRef, useState } from 'react';
import { SlidersHorizontal } from '../ui/later-icons.tsx';
import type { Device } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { Unloaded, loadedLater } from '../ui/loaded-later.tsx';
import { type Filter, type Grouping, groupings, queryOf, statuses } from './listed.ts';

const DeleteArchived = loadedLater(async () => (await import('./delete-archived.tsx')).DeleteArchived, Unloaded);

interface FilterMenuProps {
  filter: Filter;
  by: Grouping;
  devices: readonly Device[];
  onFilter: (filter: Filter) => void;
  onGroup: (by: Grouping) => void;
  /** Undefined while there is nothing to select. */
  onSelect: (() => void) | undefined;
}

export function FilterMenu({ filter, by, devices, onFilter, onGroup, onSelect }: FilterMenuProps) {
  const id = useId();
  const menu = useRef<HTMLDivElement>(null);
  const [emptying, setEmptying] = useState(false);
  const choose = (what: () => void) => () => {
    menu.current?.hidePopover();
    what();
  };
  return (
    <>
      <IconButton icon={SlidersHorizontal} label={words.list.filter} title={words.list.filter} popoverTarget={id} />
      <div className="menu filter" id={id} popover="auto" ref={menu}>
        <fieldset>
          <legend>{words.list.groupBy}</legend>
          {groupings.map((one) => (
            <label key={one} className="pick-line">
              <input type="radio" name={`by ${id}`} checked={one === by} onChange={() => onGroup(one)} />
              {words.list.by[one]}
            </label>
          ))}
        </fieldset>
        <fieldset>
          <legend>{words.list.show}</legend>
          <label className="pick-line">
            <input
              type="checkbox"
              checked={filter.archived}
              onChange={({ target }) => onFilter({ ...filter, archived: target.checked })}
            />
            {words.list.archivedOnes}
          </label>
          <label className="field">
            {words.list.status}
            <select
              value={filter.status ?? ''}
              onChange={({ target }) => onFilter({ ...filter, status: statuses.find((one) => one === target.value) })}
            >
              <option value="">{words.list.allStates}</option>
              {statuses.map((one) => (
                <option key={one} value={one}>
                  {words.list.state[one]}
                </option>
              ))}
            </select>
          </label>
          <label className="field">
            {words.list.machine}
            <select
              value={filter.device ?? ''}
              onChange={({ target }) => onFilter({ ...filter, device: target.value === '' ? undefined : target.value })}
            >
              <option value="">{words.list.allMachines}</option>
              {devices.map(({ id: one, name }) => (
                <option key={one} value={one}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        </fieldset>
        {onSelect && (
          <div className="many">
            <button type="button" className="small" onClick={choose(onSelect)}>
              {words.list.selectMany}
            </button>
            {filter.archived && (
              <button type="button" className="small danger" onClick={choose(() => setEmptying(true))}>
                {words.list.deleteArchived}
              </button>
            )}
          </div>
        )}
      </div>
      {emptying && (
        <Suspense>
          <DeleteArchived query={queryOf(filter)} onDone={() => setEmptying(false)} />
        </Suspense>
      )}
    </>
  );
}
