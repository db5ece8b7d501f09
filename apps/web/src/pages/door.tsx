/** One chunk: pages that most people see only once. */
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { useQuery } from '../ui/address.ts';
import { Page, WayOn } from '../ui/page.tsx';
import { Sentence } from '../ui/sentence.tsx';

export { Consent } from './consent.tsx';
export { CreateAccount } from './create-account.tsx';
export { SignIn } from './sign-in.tsx';

/** The relay was opened under a name that is not its own: cookies and sign-in would not work. */
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

/** The sign-in sends people here if it cannot help them. Shows the code only: any other text could come from anywhere. */
export function ErrorPage() {
  const code = useQuery().get('error') ?? '';
  const sentence = new Map(Object.entries(words.failedSignIn.byCode)).get(code);
  return (
    <Page title={words.failedSignIn.title} narrow>
      <p>{sentence ?? words.failedSignIn.unknown}</p>
      {/^[a-z_]{1,64}$/i.test(code) && (
        <p className="hint">
          <Sentence text={words.failedSignIn.code} code={<code>{code}</code>} />
        </p>
      )}
      <WayOn path="/">{words.common.home}</WayOn>
    </Page>
  );
}
