/** How the list is grouped, and what of it is shown. */
import { useId } from 'react';
import { SlidersHorizontal } from 'lucide-react';
import type { Device } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { type Filter, type Grouping, groupings } from './listed.ts';

interface FilterMenuProps {
  filter: Filter;
  by: Grouping;
  devices: readonly Device[];
  onFilter: (filter: Filter) => void;
  onGroup: (by: Grouping) => void;
}

export function FilterMenu({ filter, by, devices, onFilter, onGroup }: FilterMenuProps) {
  const id = useId();
  return (
    <>
      <button
        type="button"
        className="ghost icon"
        aria-label={words.list.filter}
        title={words.list.filter}
        popoverTarget={id}
      >
        <SlidersHorizontal className="i" aria-hidden />
      </button>
      <div className="menu filter" id={id} popover="auto">
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
      </div>
    </>
  );
}
