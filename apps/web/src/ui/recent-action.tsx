/** Something that takes a sign-in of the last 15 minutes (rules, 8.12). After an older one the password is asked for in place. */
import { useState } from 'react';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { type Action, useAction } from './action.ts';
import { PasswordField } from './field.tsx';
import { Providers } from './providers.tsx';
import { useResource } from './resource.ts';

interface RecentAction<Args extends unknown[]> extends Action<Args> {
  /** The password is needed; then `PasswordAgain` is shown, and `run` confirms it first. */
  again: boolean;
  password: string;
  setPassword: (password: string) => void;
}

export function useRecentAction<Args extends unknown[]>(work: (...args: Args) => Promise<unknown>): RecentAction<Args> {
  const { account } = useRooms();
  const [password, setPassword] = useState('');
  const [again, setAgain] = useState(false);
  const action = useAction(async (...args: Args) => {
    if (again && password !== '') await account.confirm(password);
    await work(...args);
  });
  const isOld = action.refusal?.code === 'SIGN_IN_NOT_RECENT';
  if (isOld && !again) setAgain(true);
  // The field says it already.
  const refusal = isOld && password === '' ? undefined : action.refusal;
  return { ...action, refusal, again, password, setPassword };
}

/** Belongs into the form that runs the action. */
export function PasswordAgain({ password, setPassword }: Pick<RecentAction<never[]>, 'password' | 'setPassword'>) {
  return (
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
  );
}

/** For people without a password here. They come back to `returnTo`, or to what `oauth_query` asked. */
export function ProvidersAgain(props: { returnTo: string; oauth_query?: string }) {
  const { account } = useRooms();
  const status = useResource('', account.status);
  return status.kind === 'ready' ? <Providers providers={status.value.providers} {...props} /> : null;
}
