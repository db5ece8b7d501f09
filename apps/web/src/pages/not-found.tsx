/** No such page. */
import { Link } from 'wouter';
import { words } from '../catalogue.ts';
import { Page } from '../ui/page.tsx';

export function NotFound() {
  return (
    <Page title={words.notFound.title} narrow>
      <p>{words.notFound.more}</p>
      <p>
        <Link href="/" className="button">
          {words.common.home}
        </Link>
      </p>
    </Page>
  );
}
