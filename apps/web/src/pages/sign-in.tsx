/** `/sign-in`: for these pages, and for programs that sent a person here with a request of theirs. */
import { type FormEvent, useState } from 'react';
import { Link, Redirect, useLocation } from 'wouter';
import { useHistoryState } from 'wouter/use-browser-location';
import { isFollowable, safePath } from '../auth/return-to.ts';
import { useAccessState, useRooms } from '../rooms.ts';
import { Refusal } from '../api/refusal.ts';
import { useAction } from '../ui/action.ts';
import { useQuery } from '../ui/address.ts';
import { Field, PasswordField } from '../ui/field.tsx';
import { Notice, Problem } from '../ui/notice.tsx';
import { Page } from '../ui/page.tsx';
import { Providers } from '../ui/providers.tsx';
import { useResource } from '../ui/resource.ts';
import { Submit } from '../ui/submit.tsx';

export function SignIn() {
  const { access, account } = useRooms();
  const state = useAccessState();
  const query = useQuery();
  const history = useHistoryState<{ ended?: boolean } | null>();
  const [, navigate] = useLocation();
  const status = useResource('', account.status);
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const clientId = query.get('client_id') ?? '';
  const app = useResource(clientId, async () => (clientId === '' ? undefined : account.client(clientId)));
  const asking = (app.kind === 'ready' && app.value?.client_name) || 'the app that sent you here';
  // The signature says that the sign-in itself sent the person here, for a program that waits.
  const program = query.has('sig') ? window.location.search.slice(1) : undefined;
  const returnTo = safePath(query.get('return_to'), window.location.origin);

  const signIn = useAction(async () => {
    const next = await account.signIn({
      email: email.trim(),
      password,
      ...(program === undefined ? {} : { oauth_query: program }),
    });
    if (program !== undefined && next.url !== undefined && isFollowable(next.url)) {
      window.location.assign(next.url);
      return;
    }
    await access.open();
    if (access.state.kind === 'trouble') throw access.state.refusal;
    if (access.state.kind !== 'in') throw new Refusal('SIGN_IN_FAILED', '');
    navigate(returnTo, { replace: true });
  });

  // A signed-in person has nothing to do here, unless a program asks for the password again.
  if (state.kind === 'in' && program === undefined && !signIn.busy) return <Redirect to={returnTo} replace />;

  const submit = (event: FormEvent) => {
    event.preventDefault();
    void signIn.run();
  };
  const noSignIn = status.kind === 'failed' && status.refusal.status === 404;
  return (
    <Page title="Sign in" narrow>
      {history?.ended && <Notice>You were signed out. Sign in to continue.</Notice>}
      {program !== undefined && <p>Sign in to continue to {asking}.</p>}
      {query.get('return_to')?.startsWith('/device?') && <p>Sign in to connect your machine.</p>}
      {status.kind === 'ready' && !status.value.hasAccounts && (
        <Notice>No accounts yet. Open the setup link shown in the terminal where Relay runs.</Notice>
      )}
      {noSignIn ? (
        <Problem refusal={new Refusal('NO_SIGN_IN', '')} />
      ) : (
        <form onSubmit={submit} method="post">
          <Field
            label="Email"
            type="email"
            name="email"
            autoComplete="username"
            required
            maxLength={254}
            value={email}
            onValue={setEmail}
          />
          <PasswordField
            label="Password"
            name="password"
            autoComplete="current-password"
            required
            value={password}
            onValue={setPassword}
          />
          <Problem refusal={signIn.refusal} />
          <Submit busy={signIn.busy} busyText="Signing in…">
            Sign in
          </Submit>
        </form>
      )}
      {status.kind === 'ready' && (
        <Providers
          providers={status.value.providers}
          returnTo={returnTo}
          {...(program === undefined ? {} : { oauth_query: program })}
        />
      )}
      {status.kind === 'ready' && status.value.signUp === 'open' && status.value.hasAccounts && (
        <p>
          New here? <Link href="/sign-up">Create an account</Link>
        </p>
      )}
      {status.kind === 'ready' && status.value.signUp === 'invite' && status.value.hasAccounts && (
        <p className="hint">New here? Ask someone with an account for an invitation.</p>
      )}
    </Page>
  );
}
