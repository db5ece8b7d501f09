/** Where the sign-in sends people whom it cannot help. Shows the code only: any other text could come from anywhere. */
import { Link } from 'wouter';
import { useQuery } from '../ui/address.ts';
import { Page } from '../ui/page.tsx';

const sentences = new Map(
  Object.entries({
    invalid_client:
      'The program that sent you here is not known to this relay. Update it, or ask whoever gave it to you.',
    invalid_redirect:
      'The program that sent you here wants an answer at an address that is not its own. Do not use it.',
    invalid_redirect_uri:
      'The program that sent you here wants an answer at an address that is not its own. Do not use it.',
    invalid_scope: 'The program that sent you here asks for something that does not exist. Update it.',
    account_not_linked:
      'There is an account here with this e-mail address and a password. Sign in with those; the two are never joined by address.',
    email_not_found:
      'That service did not tell your e-mail address, which an account needs. Let it, or sign in another way.',
    FORBIDDEN: 'You have no account here, and creating one needs an invitation. Ask somebody who has an account.',
    state_mismatch: 'This sign-in was begun in another browser, or is too old. Begin again here.',
    state_not_found: 'This sign-in was begun in another browser, or is too old. Begin again here.',
    access_denied: 'You did not allow it, so nothing was changed.',
  }),
);

export function ErrorPage() {
  const code = useQuery().get('error') ?? '';
  return (
    <Page title="The sign-in did not work" narrow>
      <p>{sentences.get(code) ?? 'Go back to the program or page where you began, and try once more.'}</p>
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
