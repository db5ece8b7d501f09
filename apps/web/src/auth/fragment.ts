/** Secrets of links stand behind `#`. They are read once, and leave the address bar at once. */
export function takeToken(window: Window): string | undefined {
  const token = new URLSearchParams(window.location.hash.slice(1)).get('token') ?? undefined;
  if (window.location.hash !== '') {
    const { pathname, search } = window.location;
    window.history.replaceState(window.history.state, '', `${pathname}${search}`);
  }
  return token;
}
