/** `/setup`, `/invite` and `/sign-up`: a new account, with a link or, where the relay is open, without. */
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { refusalOf } from '../api/refusal.ts';
import { words } from '../catalogue.ts';
import { useAccessState, useRooms } from '../rooms.ts';
import { submitting, useAction } from '../ui/action.ts';
import { Field, PasswordField } from '../ui/field.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Notice, Problem } from '../ui/notice.tsx';
import { Page, WayOn } from '../ui/page.tsx';
import { Providers } from '../ui/providers.tsx';
import { useResource } from '../ui/resource.ts';
import { Sentence } from '../ui/sentence.tsx';
import { Submit } from '../ui/submit.tsx';

type Kind = 'setup' | 'invite' | 'open';

export function CreateAccount({ kind, token }: { kind: Kind; token: string | undefined }) {
  const { account } = useRooms();
  const state = useAccessState();
  const welcome = useResource(`${kind} ${token ?? ''}`, async () => {
    const status = await account.status();
    if (kind === 'open') return { ...status, isUseful: status.signUp === 'open' };
    const isUseful =
      token !== undefined &&
      (await account.checkInvitation(token).then(
        () => true,
        (error: unknown) => {
          if (refusalOf(error).code === 'NOT_FOUND') return false;
          throw error;
        },
      ));
    return { ...status, isUseful };
  });
  return (
    <Page title={words.create.title[kind]} narrow>
      {state.kind === 'in' && (
        <Notice>
          <Sentence text={words.create.alreadyIn} home={<Link href="/">{words.common.home}</Link>} />
        </Notice>
      )}
      <Loaded of={welcome} what={words.create.checking}>
        {({ isUseful, minPasswordLength, providers }) =>
          isUseful ? (
            <>
              <Form token={token} minPasswordLength={minPasswordLength} />
              <Providers providers={providers} returnTo="/" {...(token === undefined ? {} : { invitation: token })} />
            </>
          ) : (
            <>
              <Notice kind="bad">{words.create.useless[kind]}</Notice>
              <WayOn path="/sign-in">{words.signIn.title}</WayOn>
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

function Form({ token, minPasswordLength }: { token: string | undefined; minPasswordLength: number }) {
  const { access, account } = useRooms();
  const [, navigate] = useLocation();
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const create = useAction(async () => {
    await account.signUp({
      name: name.trim(),
      email: email.trim(),
      password,
      ...(token === undefined ? {} : { invitation: token }),
    });
    await access.open();
    if (access.state.kind === 'trouble') throw access.state.refusal;
    navigate('/', { replace: true });
  });
  return (
    <form onSubmit={submitting(create.run)} method="post">
      <Field
        label={words.create.name}
        name="name"
        autoComplete="name"
        required
        maxLength={100}
        value={name}
        onValue={setName}
      />
      <Field
        label={words.signIn.email}
        hint={words.create.emailHint}
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
        hint={words.common.atLeast(minPasswordLength)}
        name="password"
        autoComplete="new-password"
        required
        minLength={minPasswordLength}
        value={password}
        onValue={setPassword}
      />
      <Problem refusal={create.refusal} />
      <Submit busy={create.busy} busyText={words.create.creating}>
        {words.create.create}
      </Submit>
    </form>
  );
}
