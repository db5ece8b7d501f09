/** Whether this browser keeps what was read last, for a time without the relay (rules, 14.44). The rest of it is a chunk of its own. */
import { storedPrefix } from '../forget.ts';

const choice = `${storedPrefix}last`;

export const isInstalled = (): boolean =>
  matchMedia('(display-mode: standalone)').matches || (navigator as { standalone?: boolean }).standalone === true;

/** The choice of the person; without one, only where the pages are installed: such a device is theirs. */
export function keepsLast(): boolean {
  try {
    const chosen = localStorage.getItem(choice);
    return chosen === null ? isInstalled() : chosen === 'on';
  } catch {
    return false;
  }
}

export const chooseLast = (on: boolean): void => localStorage.setItem(choice, on ? 'on' : 'off');

export const loadLast = () => import('./last.ts');
