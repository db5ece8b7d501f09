/** The relay was opened under a name that is not its own: cookies and sign-in would not work. */
import { useRooms } from '../rooms.ts';
import { Page } from '../ui/page.tsx';

export function Elsewhere() {
  const { place } = useRooms();
  const { pathname, search, origin } = window.location;
  const there = `${place.publicUrl}${pathname.startsWith(place.base) ? pathname.slice(place.base.length) : pathname}${search}`;
  return (
    <Page title="This relay has another address" narrow>
      <p>
        You opened it as <code>{origin}</code>; signing in works at its own address only.
      </p>
      <p>
        <a className="button primary" href={there}>
          Go to {place.publicUrl}
        </a>
      </p>
      <p className="hint">
        If you run this relay and that address is not right, set <code>PUBLIC_URL</code> and start it again.
      </p>
    </Page>
  );
}
