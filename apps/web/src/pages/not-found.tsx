/** No such page. */
import { Link } from 'wouter';
import { Page } from '../ui/page.tsx';

export function NotFound() {
  return (
    <Page title="There is no such page" narrow>
      <p>The address may be mistyped, or the page may have moved.</p>
      <p>
        <Link href="/" className="button">
          To the start
        </Link>
      </p>
    </Page>
  );
}
