/** The two forms of `/account`: name and password. */
import { useState } from 'react';
import { words } from '../catalogue.ts';
import { keepingPush } from '../push/browser.ts';
import { useRooms } from '../rooms.ts';
import { submitting, useAction } from '../ui/action.ts';
import { Field, PasswordField } from '../ui/field.tsx';
import { Notice, Problem } from '../ui/notice.tsx';
import { SecondCode } from '../ui/recent-action.tsx';
import { Submit } from '../ui/submit.tsx';

export function ChangeName({ name: current, onRename }: { name: string; onRename: (name: string) => void }) {
  const { account } = useRooms();
  const [name, setName] = useState(current);
  const change = useAction(async () => {
    await account.rename(name.trim());
    onRename(name.trim());
  });
  return (
    <section aria-labelledby="name">
      <h2 id="name">{words.common.name}</h2>
      <form onSubmit={submitting(change.run)} className="in-line">
        <Field
          label={words.settings.yourName}
          name="name"
          autoComplete="name"
          required
          maxLength={100}
          value={name}
          onValue={setName}
        />
        <Submit busy={change.busy} busyText={words.saving}>
          {words.save}
        </Submit>
      </form>
      <Problem refusal={change.refusal} />
      {change.done && <Notice kind="good">{words.common.saved}</Notice>}
    </section>
  );
}

export function ChangePassword({ minPasswordLength, email }: { minPasswordLength: number; email: string }) {
  const { access, account, client, place } = useRooms();
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const [code, setCode] = useState('');
  const [needsCode, setNeedsCode] = useState(false);
  const change = useAction(async () => {
    // It revokes all sign-ins, this one too; this browser gets a new one.
    await keepingPush(client, place, () =>
      access.during(() => account.changePassword(current, next, code || undefined)),
    );
    setNeedsCode(false);
    setCode('');
    setCurrent('');
    setNext('');
  });
  const wantsCode = change.refusal?.code === 'SECOND_FACTOR_REQUIRED';
  if (wantsCode && !needsCode) setNeedsCode(true);
  return (
    <section aria-labelledby="password">
      <h2 id="password">{words.signIn.password}</h2>
      <form onSubmit={submitting(change.run)} className="stacked" method="post">
        <input className="sr" tabIndex={-1} aria-hidden="true" autoComplete="username" readOnly value={email} />
        <PasswordField
          label={words.settings.currentPassword}
          name="current-password"
          autoComplete="current-password"
          required
          value={current}
          onValue={setCurrent}
        />
        <PasswordField
          label={words.settings.newPassword}
          hint={words.settings.newPasswordHint(minPasswordLength)}
          name="new-password"
          autoComplete="new-password"
          required
          minLength={minPasswordLength}
          value={next}
          onValue={setNext}
        />
        {needsCode && <SecondCode code={code} setCode={setCode} />}
        {/* The field says it already. */}
        <Problem refusal={wantsCode ? undefined : change.refusal} />
        {change.done && <Notice kind="good">{words.settings.passwordChanged}</Notice>}
        <Submit busy={change.busy} busyText={words.settings.changing}>
          {words.settings.changePassword}
        </Submit>
      </form>
    </section>
  );
}
