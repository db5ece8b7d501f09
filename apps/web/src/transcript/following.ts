/** The log follows its last row until a person moves up. Rows that grow, shrink or get their height late do not stop it. */

/** The box of the log, in pixels. */
export interface Box {
  scrollTop: number;
  scrollHeight: number;
  clientHeight: number;
}

/** A log that is nearer than this counts as at the bottom. */
export const endPx = 80;

export const distanceToEnd = ({ scrollTop, scrollHeight, clientHeight }: Box): number =>
  scrollHeight - clientHeight - scrollTop;

/**
 * `before`: the box at the scroll event before this one. `isTouched`: a person used a wheel, a finger, a key or the bar just now. Rows that grow and
 * rows that shrink between two events look like a move, so a move without a touch counts only where no size changed.
 */
export function follows(wasFollowing: boolean, before: Box, now: Box, isTouched: boolean): boolean {
  if (distanceToEnd(now) < endPx) return true;
  const lost = Math.max(0, before.scrollHeight - now.scrollHeight);
  const opened = Math.max(0, now.clientHeight - before.clientHeight);
  const isUp = before.scrollTop - now.scrollTop > lost + opened + 1;
  const isSameSize = before.scrollHeight === now.scrollHeight && before.clientHeight === now.clientHeight;
  return wasFollowing && !(isUp && (isTouched || isSameSize));
}
