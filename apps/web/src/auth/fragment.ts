/** Returns the token that a link carries after `#`, and removes it from the address bar. Other fragments name a message of the page and stay. */
export function takeToken(window: Window): string | undefined {
  const token = new URLSearchParams(window.location.hash.slice(1)).get('token') ?? undefined;
  if (token !== undefined) {
    const { pathname, search } = window.location;
    window.history.replaceState(window.history.state, '', `${pathname}${search}`);
  }
  return token;
}
