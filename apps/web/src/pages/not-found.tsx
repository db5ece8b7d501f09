/** No such page. */
import { words } from '../catalogue.ts';
import { Page, WayOn } from '../ui/page.tsx';

export function NotFound() {
  return (
    <Page title={words.notFound.title} narrow>
      <p>{words.notFound.more}</p>
      <WayOn path="/">{words.common.home}</WayOn>
    </Page>
  );
}
