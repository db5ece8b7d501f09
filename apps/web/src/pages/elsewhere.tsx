/** The relay was opened under a name that is not its own: cookies and sign-in would not work. */
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { Page } from '../ui/page.tsx';
import { Sentence } from '../ui/sentence.tsx';

export function Elsewhere() {
  const { place } = useRooms();
  const { pathname, search, origin } = window.location;
  const there = `${place.publicUrl}${pathname.startsWith(place.base) ? pathname.slice(place.base.length) : pathname}${search}`;
  return (
    <Page title={words.elsewhere.title} narrow>
      <p>
        <Sentence text={words.elsewhere.at} here={<code>{origin}</code>} there={<code>{place.publicUrl}</code>} />
      </p>
      <p>
        <a className="button primary" href={there}>
          {words.elsewhere.go}
        </a>
      </p>
      <p className="hint">
        <Sentence text={words.elsewhere.operator} setting={<code>PUBLIC_URL</code>} />
      </p>
    </Page>
  );
}
