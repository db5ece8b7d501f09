/** The two forms of `/account`: name and password. */
import { type FormEvent, useState } from 'react';
import { useRooms } from '../rooms.ts';
import { useAction } from '../ui/action.ts';
import { Field, PasswordField } from '../ui/field.tsx';
import { Notice, Problem } from '../ui/notice.tsx';
import { Submit } from '../ui/submit.tsx';

export function ChangeName({ name: known, onRename }: { name: string; onRename: (name: string) => void }) {
  const { account } = useRooms();
  const [name, setName] = useState(known);
  const [saved, setSaved] = useState(false);
  const change = useAction(async () => {
    await account.rename(name.trim());
    onRename(name.trim());
    setSaved(true);
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setSaved(false);
    void change.run();
  };
  return (
    <section aria-labelledby="name">
      <h2 id="name">Name</h2>
      <form onSubmit={submit} className="in-line">
        <Field
          label="Your name"
          name="name"
          autoComplete="name"
          required
          maxLength={100}
          value={name}
          onValue={setName}
        />
        <Submit busy={change.busy} busyText="Saving…">
          Save
        </Submit>
      </form>
      <Problem refusal={change.refusal} />
      {saved && <Notice kind="good">Saved.</Notice>}
    </section>
  );
}

export function ChangePassword({ minPasswordLength, email }: { minPasswordLength: number; email: string }) {
  const { access, account } = useRooms();
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const [saved, setSaved] = useState(false);
  const change = useAction(async () => {
    // All sign-ins end with it, this one too; this browser gets a new one.
    await access.during(() => account.changePassword(current, next));
    setCurrent('');
    setNext('');
    setSaved(true);
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setSaved(false);
    void change.run();
  };
  return (
    <section aria-labelledby="password">
      <h2 id="password">Password</h2>
      <form onSubmit={submit} className="stacked" method="post">
        <input
          className="for-readers"
          tabIndex={-1}
          aria-hidden="true"
          autoComplete="username"
          readOnly
          value={email}
        />
        <PasswordField
          label="Current password"
          name="current-password"
          autoComplete="current-password"
          required
          value={current}
          onValue={setCurrent}
        />
        <PasswordField
          label="New password"
          hint={`At least ${minPasswordLength} characters. All other browsers and apps are signed out.`}
          name="new-password"
          autoComplete="new-password"
          required
          minLength={minPasswordLength}
          value={next}
          onValue={setNext}
        />
        <Problem refusal={change.refusal} />
        {saved && <Notice kind="good">Password changed. All other browsers and apps were signed out.</Notice>}
        <Submit busy={change.busy} busyText="Changing…">
          Change password
        </Submit>
      </form>
    </section>
  );
}
