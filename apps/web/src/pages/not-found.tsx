/** No such page. */
import { Link } from 'wouter';
import { Page } from '../ui/page.tsx';

export function NotFound() {
  return (
    <Page title="Page not found" narrow>
      <p>Check the address, or go back to your sessions.</p>
      <p>
        <Link href="/" className="button">
          Home
        </Link>
      </p>
    </Page>
  );
}
