/** Where a person goes after signing in. Only inside of these pages: an address from outside is never followed. */

/** `path` if it leads to one of our pages, else `/`. */
export function safePath(path: string | null | undefined, origin: string): string {
  if (!path?.startsWith('/') || path.startsWith('//') || path.includes('\\')) return '/';
  let url: URL;
  try {
    url = new URL(path, origin);
  } catch {
    return '/';
  }
  if (url.origin !== origin || /^\/(sign-in|sign-up|setup|invite|callback)(\/|$)/.test(url.pathname)) return '/';
  return `${url.pathname}${url.search}`;
}

/** The sign-in page, which leads back to `path`. */
export const signInPath = (path: string): string =>
  path === '/' ? '/sign-in' : `/sign-in?${new URLSearchParams({ return_to: path }).toString()}`;

/** A page of a program that waits for a code: http, https, or the scheme of an app. Never a script. */
export function isFollowable(address: string): boolean {
  try {
    return !['javascript:', 'data:', 'blob:', 'file:', 'vbscript:'].includes(new URL(address).protocol);
  } catch {
    return false;
  }
}
