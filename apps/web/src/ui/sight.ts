/** Whether the page is in sight, and when that changes. */

export const isInSight = (): boolean => document.visibilityState === 'visible';

/** Returns the way to stop listening. */
export function onSight(listener: () => void): () => void {
  document.addEventListener('visibilitychange', listener);
  return () => document.removeEventListener('visibilitychange', listener);
}
