/** `/sign-in`: for these pages, and for programs that sent a person here with a request. */
import { useState } from 'react';
import { Link, Redirect, useLocation } from 'wouter';
import { useHistoryState } from 'wouter/use-browser-location';
import type { GoOn } from '../auth/account.ts';
import { passkeysHere } from '../auth/passkeys-here.ts';
import { isFollowable, safePath } from '../auth/return-to.ts';
import { words } from '../catalogue.ts';
import { chooseLast, keepsLast } from '../offline/kept.ts';
import { useAccessState, useRooms } from '../rooms.ts';
import { Refusal } from '../api/refusal.ts';
import { submitting, useAction } from '../ui/action.ts';
import { useQuery } from '../ui/address.ts';
import { Field, PasswordField } from '../ui/field.tsx';
import { Notice, Problem } from '../ui/notice.tsx';
import { Page } from '../ui/page.tsx';
import { Providers } from '../ui/providers.tsx';
import { useResource } from '../ui/resource.ts';
import { Sentence } from '../ui/sentence.tsx';
import { Submit } from '../ui/submit.tsx';
import { CodeForm } from './code-form.tsx';

export function SignIn() {
  const { access, account } = useRooms();
  const state = useAccessState();
  const query = useQuery();
  const history = useHistoryState<{ ended?: boolean } | null>();
  const [, navigate] = useLocation();
  const status = useResource('', account.status);
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  /** The password was correct; the account also requires a code. */
  const [waits, setWaits] = useState(false);
  const clientId = query.get('client_id') ?? '';
  const app = useResource(clientId, async () => (clientId === '' ? undefined : account.client(clientId)));
  const asking = app.kind === 'ready' ? app.value?.client_name : undefined;
  // The signature proves that the sign-in itself sent the person here, for a waiting program.
  const program = query.has('sig') ? window.location.search.slice(1) : undefined;
  const returnTo = safePath(query.get('return_to'), window.location.origin);

  const forProgram = program === undefined ? {} : { oauth_query: program };

  const goOn = async (next: GoOn) => {
    if (program !== undefined && next.url !== undefined && isFollowable(next.url)) {
      window.location.assign(next.url);
      return;
    }
    await access.open();
    if (access.state.kind === 'trouble') throw access.state.refusal;
    if (access.state.kind !== 'in') throw new Refusal('SIGN_IN_FAILED', '');
    navigate(returnTo, { replace: true });
  };
  const signIn = useAction(async () => {
    const next = await account.signIn({ email: email.trim(), password, ...forProgram });
    if (!next.twoFactorRedirect) return goOn(next);
    setPassword('');
    setWaits(true);
  });
  const giveCode = useAction(async (kind: 'app' | 'recovery', code: string) =>
    goOn(await (kind === 'app' ? account.giveCode : account.giveRecoveryCode)({ code, ...forProgram })),
  );
  const showPasskey = useAction(async () => goOn(await account.signInWithPasskey(forProgram)));
  const again = () => {
    giveCode.clear();
    showPasskey.clear();
    setWaits(false);
  };

  // A signed-in person has nothing to do here, unless a program asks for the password again.
  if (state.kind === 'in' && program === undefined && !signIn.busy && !giveCode.busy && !showPasskey.busy)
    return <Redirect to={returnTo} replace />;

  const withPasskey = (
    <div className="providers">
      <Problem refusal={showPasskey.refusal} />
      {passkeysHere() === 'yes' && (
        <button type="button" aria-disabled={showPasskey.busy} onClick={() => void showPasskey.run()}>
          {words.signIn.passkey}
        </button>
      )}
    </div>
  );
  if (waits)
    return (
      <Page title={words.signIn.secondStep} narrow>
        <CodeForm
          busy={giveCode.busy}
          refusal={giveCode.refusal}
          onCode={(kind, code) => void giveCode.run(kind, code)}
          onAgain={again}
        />
        {withPasskey}
      </Page>
    );
  const contact = status.kind === 'ready' ? status.value.contact : undefined;
  const noSignIn = status.kind === 'failed' && status.refusal.status === 404;
  return (
    <Page title={words.signIn.title} narrow>
      {history?.ended && <Notice>{words.signIn.ended}</Notice>}
      {program !== undefined && <p>{words.signIn.toApp(asking)}</p>}
      {query.get('return_to')?.startsWith('/device?') && <p>{words.signIn.toConnect}</p>}
      {status.kind === 'ready' && !status.value.hasAccounts && <Notice>{words.signIn.noAccounts}</Notice>}
      {noSignIn ? (
        <Problem refusal={new Refusal('NO_SIGN_IN', '')} />
      ) : (
        <form onSubmit={submitting(signIn.run)} method="post">
          <Field
            label={words.signIn.email}
            type="email"
            name="email"
            autoComplete="username"
            required
            maxLength={254}
            value={email}
            onValue={setEmail}
          />
          <PasswordField
            label={words.signIn.password}
            name="password"
            autoComplete="current-password"
            required
            value={password}
            onValue={setPassword}
          />
          <label className="shared-computer">
            <input
              type="checkbox"
              defaultChecked={!keepsLast()}
              onChange={({ target }) => chooseLast(!target.checked)}
            />
            {words.signIn.shared}
          </label>
          <Problem refusal={signIn.refusal} />
          <Submit busy={signIn.busy} busyText={words.signIn.signingIn}>
            {words.signIn.title}
          </Submit>
        </form>
      )}
      {!noSignIn && (
        <p className="hint">
          <Sentence
            text={words.signIn.forgotten}
            operator={contact ? <a href={contact}>{words.signIn.operator}</a> : words.signIn.operator}
          />
        </p>
      )}
      {!noSignIn && withPasskey}
      {status.kind === 'ready' && <Providers providers={status.value.providers} returnTo={returnTo} {...forProgram} />}
      {status.kind === 'ready' && status.value.signUp === 'open' && status.value.hasAccounts && (
        <p>
          <Sentence text={words.signIn.signUp} link={<Link href="/sign-up">{words.signIn.signUpLink}</Link>} />
        </p>
      )}
      {status.kind === 'ready' && status.value.signUp === 'invite' && status.value.hasAccounts && (
        <p className="hint">{words.signIn.invited}</p>
      )}
    </Page>
  );
}
