/** The relay was opened under a name that is not its own: cookies and sign-in would not work. */
import { useRooms } from '../rooms.ts';
import { Page } from '../ui/page.tsx';

export function Elsewhere() {
  const { place } = useRooms();
  const { pathname, search, origin } = window.location;
  const there = `${place.publicUrl}${pathname.startsWith(place.base) ? pathname.slice(place.base.length) : pathname}${search}`;
  return (
    <Page title="Wrong address" narrow>
      <p>
        You’re at <code>{origin}</code>; this relay lives at <code>{place.publicUrl}</code>.
      </p>
      <p>
        <a className="button primary" href={there}>
          Go there
        </a>
      </p>
      <p className="hint">
        If you run this relay and that address is wrong, set <code>PUBLIC_URL</code> and restart it.
      </p>
    </Page>
  );
}
