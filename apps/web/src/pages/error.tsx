/** Where the sign-in sends people whom it cannot help. Shows the code only: any other text could come from anywhere. */
import { Link } from 'wouter';
import { useQuery } from '../ui/address.ts';
import { Page } from '../ui/page.tsx';

const sentences: Readonly<Record<string, string>> = {
  invalid_client:
    'The program that sent you here is not known to this relay. Update it, or ask whoever gave it to you.',
  invalid_redirect: 'The program that sent you here wants an answer at an address that is not its own. Do not use it.',
  invalid_redirect_uri:
    'The program that sent you here wants an answer at an address that is not its own. Do not use it.',
  invalid_scope: 'The program that sent you here asks for something that does not exist. Update it.',
  access_denied: 'You did not allow it, so nothing was changed.',
};

export function ErrorPage() {
  const code = useQuery().get('error') ?? '';
  return (
    <Page title="The sign-in did not work" narrow>
      <p>{sentences[code] ?? 'Go back to the program or page where you began, and try once more.'}</p>
      {/^[a-z_]{1,64}$/i.test(code) && (
        <p className="hint">
          Code: <code>{code}</code>
        </p>
      )}
      <p>
        <Link href="/" className="button">
          To the start
        </Link>
      </p>
    </Page>
  );
}
