/** An action that requires a sign-in of the last 15 minutes (rules, 8.12). After an older sign-in the page asks for the password in place. */
import { useState } from 'react';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { type Action, useAction } from './action.ts';
import { Field, PasswordField } from './field.tsx';
import { Providers } from './providers.tsx';
import { useResource } from './resource.ts';

interface RecentAction<Args extends unknown[]> extends Action<Args> {
  /** The password is needed; then `PasswordAgain` is shown, and `run` confirms it first. */
  again: boolean;
  password: string;
  setPassword: (password: string) => void;
  /** The account has a second step: a code is needed too. */
  needsCode: boolean;
  code: string;
  setCode: (code: string) => void;
}

export function useRecentAction<Args extends unknown[]>(work: (...args: Args) => Promise<unknown>): RecentAction<Args> {
  const { account } = useRooms();
  const [password, setPassword] = useState('');
  const [again, setAgain] = useState(false);
  const [code, setCode] = useState('');
  const [needsCode, setNeedsCode] = useState(false);
  const action = useAction(async (...args: Args) => {
    if (again && password !== '') await account.confirm(password, code === '' ? undefined : code);
    await work(...args);
  });
  const isOld = action.refusal?.code === 'SIGN_IN_NOT_RECENT';
  if (isOld && !again) setAgain(true);
  const wantsCode = again && action.refusal?.code === 'SECOND_FACTOR_REQUIRED';
  if (wantsCode && !needsCode) setNeedsCode(true);
  // The field shows the hint already.
  const refusal = (isOld && password === '') || (wantsCode && code === '') ? undefined : action.refusal;
  return { ...action, refusal, again, password, setPassword, needsCode, code, setCode };
}

/** Belongs into the form that runs the action. */
type Again = Pick<RecentAction<never[]>, 'password' | 'setPassword' | 'needsCode' | 'code' | 'setCode'>;

export function PasswordAgain({ password, setPassword, needsCode, code, setCode }: Again) {
  return (
    <>
      <PasswordField
        label={words.common.yourPassword}
        hint={words.common.notRecent}
        name="password-again"
        autoComplete="current-password"
        required
        autoFocus
        value={password}
        onValue={setPassword}
      />
      {needsCode && <SecondCode code={code} setCode={setCode} />}
    </>
  );
}

/** The code of the second step, beside the password. */
export function SecondCode({ code, setCode }: Pick<Again, 'code' | 'setCode'>) {
  return (
    <Field
      label={words.common.yourCode}
      hint={words.common.codeHint}
      name="code-again"
      autoComplete="one-time-code"
      required
      maxLength={32}
      value={code}
      onValue={setCode}
    />
  );
}

/** Signs people in again who have no password here. They return to `returnTo`, or to the request in `oauth_query`. */
export function ProvidersAgain(props: { returnTo: string; oauth_query?: string }) {
  const { account } = useRooms();
  const status = useResource('', account.status);
  return status.kind === 'ready' ? <Providers providers={status.value.providers} {...props} /> : null;
}
