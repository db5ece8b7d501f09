/** Part of `/account`: downloading everything the relay stores about a person, and deleting the account. */
import { useState } from 'react';
import { exportTimeoutMs } from '../api/bounds.ts';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { submitting, useAction } from '../ui/action.ts';
import { Field } from '../ui/field.tsx';
import { Problem } from '../ui/notice.tsx';
import { PasswordAgain, ProvidersAgain, useRecentAction } from '../ui/recent-action.tsx';
import { saveFile } from '../ui/save-file.ts';

const confirmation = 'delete my account';

export function ExportData() {
  const { client } = useRooms();
  const load = useAction(async () => {
    const all = await client.call('exportMe', { timeoutMs: exportTimeoutMs });
    saveFile(JSON.stringify(all, null, 2), 'relay-account.json', 'application/json');
  });
  return (
    <section aria-labelledby="your-data">
      <h2 id="your-data">{words.data.title}</h2>
      <p>{words.data.more}</p>
      <Problem refusal={load.refusal} />
      <button type="button" aria-disabled={load.busy} onClick={() => void load.run()}>
        {load.busy ? words.data.collecting : words.data.export}
      </button>
    </section>
  );
}

export function DeleteAccount() {
  const { access, client } = useRooms();
  const [typed, setTyped] = useState('');
  const remove = useRecentAction(() =>
    access.leave(() => client.call('deleteMe', { body: { confirm: confirmation }, timeoutMs: exportTimeoutMs })),
  );
  return (
    <section aria-labelledby="delete-account">
      <h2 id="delete-account">{words.data.delete}</h2>
      <p>{words.data.deleteMore}</p>
      <form onSubmit={submitting(remove.run)} className="stacked" method="post">
        <Field
          label={words.data.type(confirmation)}
          name="confirm"
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          required
          pattern={confirmation}
          title={confirmation}
          value={typed}
          onValue={setTyped}
        />
        {remove.again && <PasswordAgain {...remove} />}
        <Problem refusal={remove.refusal} />
        <button type="submit" className="danger" aria-disabled={remove.busy}>
          {remove.busy ? words.list.removing : words.data.deleteMine}
        </button>
      </form>
      {remove.again && <ProvidersAgain returnTo="/account" />}
    </section>
  );
}
