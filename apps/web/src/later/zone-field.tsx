/** The zone of a time. The zone of the browser stays in view beside another one. */
import { useState } from 'react';
import { words } from '../catalogue.ts';
import { zoneHere } from './times.ts';

export function ZoneField({ zone, onZone }: { zone: string; onZone: (zone: string) => void }) {
  const here = zoneHere();
  const [isOpen, setOpen] = useState(zone !== here);
  return (
    <>
      {isOpen && (
        <label>
          {words.later.timeZone}
          <select value={zone} onChange={({ target }) => onZone(target.value)}>
            {[...new Set([here, zone, ...Intl.supportedValuesOf('timeZone')])].map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
      )}
      {(!isOpen || zone !== here) && (
        <p className="fine">
          {words.later.zone(here)}{' '}
          {!isOpen && (
            <button type="button" className="link" onClick={() => setOpen(true)}>
              {words.later.changeZone}
            </button>
          )}
        </p>
      )}
    </>
  );
}
