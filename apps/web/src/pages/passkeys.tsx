/** Part of `/account`: lists, adds, renames and removes the passkeys of the person (rules, 8.25). */
import { useState } from 'react';
import type { Passkey } from '../auth/account.ts';
import { passkeysHere } from '../auth/passkeys-here.ts';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { submitting, useAction } from '../ui/action.ts';
import { browserName } from '../ui/browser-name.ts';
import { Confirm } from '../ui/confirm.tsx';
import { Field } from '../ui/field.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Problem } from '../ui/notice.tsx';
import { PasswordAgain, useRecentAction } from '../ui/recent-action.tsx';
import { useResource } from '../ui/resource.ts';
import { Submit } from '../ui/submit.tsx';
import { TimedFact } from '../ui/timed-fact.tsx';
import { visible } from '../ui/visible.ts';

export function Passkeys() {
  const { account } = useRooms();
  const found = useResource('', account.passkeys);
  const here = passkeysHere();
  return (
    <section aria-labelledby="passkeys">
      <h2 id="passkeys">{words.passkeys.title}</h2>
      <p>{words.passkeys.lead}</p>
      <Loaded of={found} what={words.passkeys.loading}>
        {(all) =>
          all.length > 0 && (
            <ul className="cards">
              {all.map((one) => (
                <Row
                  key={one.id}
                  passkey={one}
                  onRenamed={(name) =>
                    found.change((list) => list.map((other) => (other.id === one.id ? { ...other, name } : other)))
                  }
                  onRemoved={() => found.change((list) => list.filter(({ id }) => id !== one.id))}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
      {here === 'yes' ? (
        <AddPasskey onAdded={found.reload} />
      ) : (
        <p className="hint">{words.passkeys.impossible[here]}</p>
      )}
    </section>
  );
}

function AddPasskey({ onAdded }: { onAdded: () => void }) {
  const { account } = useRooms();
  const add = useRecentAction(async () => {
    await account.addPasskey(browserName(navigator.userAgent));
    onAdded();
  });
  return (
    <form onSubmit={submitting(add.run)} className="stacked" method="post">
      {add.again && <PasswordAgain {...add} />}
      <Problem refusal={add.refusal} />
      <div className="actions start">
        <button type="submit" aria-disabled={add.busy}>
          {add.busy ? words.passkeys.adding : words.passkeys.add}
        </button>
      </div>
    </form>
  );
}

interface RowProps {
  passkey: Passkey;
  onRenamed: (name: string) => void;
  onRemoved: () => void;
}

function Row({ passkey, onRenamed, onRemoved }: RowProps) {
  const { account } = useRooms();
  const [doing, setDoing] = useState<'rename' | 'remove'>();
  const [typed, setTyped] = useState(passkey.name);
  const rename = useAction(async () => {
    await account.renamePasskey(passkey.id, typed.trim());
    onRenamed(typed.trim());
    setDoing(undefined);
  });
  const remove = useAction(async () => {
    await account.removePasskey(passkey.id);
    onRemoved();
  });
  const name = passkey.name === '' ? words.passkeys.unnamed : visible(passkey.name);
  return (
    <li className="card">
      <span className="card-title">{name}</span>
      <span className="card-facts">
        <TimedFact text={words.passkeys.added} at={passkey.createdAt} />
        {passkey.lastUsedAt !== undefined && <TimedFact text={words.apps.used} at={passkey.lastUsedAt} />}
        {passkey.synced && <span>{words.passkeys.synced}</span>}
      </span>
      <div className="actions start">
        <button type="button" aria-label={words.passkeys.renameOf(name)} onClick={() => setDoing('rename')}>
          {words.list.rename}
        </button>
        <button
          type="button"
          className="danger"
          aria-label={words.passkeys.removeOf(name)}
          onClick={() => setDoing('remove')}
        >
          {words.notifications.remove}
        </button>
      </div>
      {doing === 'rename' && (
        <form onSubmit={submitting(rename.run)} className="in-line">
          <Field
            label={words.passkeys.name}
            name="passkey-name"
            autoComplete="off"
            required
            autoFocus
            maxLength={100}
            value={typed}
            onValue={setTyped}
          />
          <Submit busy={rename.busy} busyText={words.saving}>
            {words.save}
          </Submit>
        </form>
      )}
      {doing === 'rename' && <Problem refusal={rename.refusal} />}
      {doing === 'remove' && (
        <Confirm
          title={words.notifications.removeTitle(name)}
          action={words.notifications.remove}
          doing={words.passkeys.removing}
          yes={remove}
          onNo={() => setDoing(undefined)}
        >
          <p>{words.passkeys.removeMore}</p>
        </Confirm>
      )}
    </li>
  );
}
