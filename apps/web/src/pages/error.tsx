/** Where the sign-in sends people whom it cannot help. Shows the code only: any other text could come from anywhere. */
import { Link } from 'wouter';
import { useQuery } from '../ui/address.ts';
import { Page } from '../ui/page.tsx';

const sentences = new Map(
  Object.entries({
    invalid_client:
      'The app that sent you here isn’t known to this relay. Update it, or ask the person who gave it to you.',
    invalid_redirect: 'The app that sent you here asks for an answer at an address that isn’t its own. Don’t use it.',
    invalid_redirect_uri:
      'The app that sent you here asks for an answer at an address that isn’t its own. Don’t use it.',
    invalid_scope: 'The app that sent you here asks for something that doesn’t exist. Update it.',
    account_not_linked:
      'An account with this email and a password exists. Sign in with the password; accounts are never joined by address.',
    email_not_found: 'That service didn’t share your email, which an account needs. Allow it, or sign in another way.',
    FORBIDDEN: 'You don’t have an account here, and a new one needs an invitation. Ask someone with an account.',
    state_mismatch: 'This sign-in started in another browser or is too old. Start again here.',
    state_not_found: 'This sign-in started in another browser or is too old. Start again here.',
    access_denied: 'You didn’t allow it, so nothing has changed.',
  }),
);

export function ErrorPage() {
  const code = useQuery().get('error') ?? '';
  return (
    <Page title="Sign-in didn’t work" narrow>
      <p>{sentences.get(code) ?? 'Go back to the app or page where you started and try again.'}</p>
      {/^[a-z_]{1,64}$/i.test(code) && (
        <p className="hint">
          Code: <code>{code}</code>
        </p>
      )}
      <p>
        <Link href="/" className="button">
          Home
        </Link>
      </p>
    </Page>
  );
}
