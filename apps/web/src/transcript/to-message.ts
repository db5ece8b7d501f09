/** Leads to the message that the address names (`#uuid`): loads older pages until it is there, brings it into view and marks it for a moment. */
import type { RefObject } from 'react';
import type { Virtualizer } from '@tanstack/react-virtual';
import type { TranscriptRow } from './rows.ts';

const maxPages = 100;
const framesUntilDrawn = 30;

/** The address whose message was shown, or looked for on this many pages. */
let seen = { address: '', pages: 0 };

const has = (row: TranscriptRow, uuid: string): boolean =>
  row.kind === 'item' ? row.item.uuid === uuid : 'calls' in row && row.calls.some((call) => call.uuid === uuid);

/** Called again with each change of the rows. */
export function toMessage(
  rows: readonly TranscriptRow[],
  virtualizer: Virtualizer<HTMLDivElement, HTMLDivElement>,
  atEnd: RefObject<boolean>,
  log: RefObject<HTMLElement | null>,
  older: (() => void) | undefined,
): void {
  const { href: address, hash } = window.location;
  if (seen.address !== address) seen = { address, pages: 0 };
  if (rows.length === 0 || seen.pages > maxPages) return;
  const uuid = decodeURIComponent(hash.slice(1));
  const index = rows.findIndex((row) => has(row, uuid));
  if (index === -1) {
    seen.pages++;
    return older?.();
  }
  seen.pages = Infinity;
  atEnd.current = false;
  virtualizer.scrollToIndex(index, { align: 'center' });
  mark(`[data-key="${CSS.escape(rows[index]!.key)}"]`, log, framesUntilDrawn);
}

/** The row is drawn after the log has scrolled to it. */
function mark(selector: string, log: RefObject<HTMLElement | null>, tries: number): void {
  requestAnimationFrame(() => {
    const row = log.current?.querySelector<HTMLElement>(selector);
    if (!row) return void (tries > 0 && mark(selector, log, tries - 1));
    row.tabIndex = -1;
    row.focus({ preventScroll: true });
    const colour = getComputedStyle(row).getPropertyValue('--need-bg');
    row.animate([{ backgroundColor: colour }, { backgroundColor: 'transparent' }], 3000);
  });
}
