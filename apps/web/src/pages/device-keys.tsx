/** Part of `/devices` and `/devices/new`: keys that let machines register unattended (rules, 7.13). */
import { useId, useState } from 'react';
import type { DeviceKey } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { submitting } from '../ui/action.ts';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import { Copy } from '../ui/copy.tsx';
import { daemonCommands } from '../ui/daemon-commands.ts';
import { Field } from '../ui/field.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Notice, Problem } from '../ui/notice.tsx';
import { PasswordAgain, ProvidersAgain, useRecentAction } from '../ui/recent-action.tsx';
import { useResource } from '../ui/resource.ts';
import { Submit } from '../ui/submit.tsx';
import { fullTime } from '../ui/time.tsx';
import { visible } from '../ui/visible.ts';

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const lives = [10 * minute, hour, day, 7 * day, 30 * day] as const;

export function DeviceKeys() {
  const { client, place } = useRooms();
  const keys = useResource('', async () => (await client.call('listDeviceKeys')).keys);
  const [making, setMaking] = useState(false);
  /** Shown once. */
  const [made, setMade] = useState<string>();
  return (
    <section aria-labelledby="keys">
      <h2 id="keys">{words.deviceKeys.title}</h2>
      <p>{words.deviceKeys.lead}</p>
      {made !== undefined && (
        <>
          <Notice kind="good">{words.deviceKeys.once}</Notice>
          <Copy text={daemonCommands.install(place, made)} label={words.deviceKeys.command} />
        </>
      )}
      <Loaded of={keys} what={words.deviceKeys.loading}>
        {(all) =>
          all.length > 0 && (
            <ul className="cards">
              {all.map((key) => (
                <Row
                  key={key.id}
                  item={key}
                  onRevoked={() => keys.change((list) => list.filter(({ id }) => id !== key.id))}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
      {making ? (
        <MakeKey
          onMade={({ key, ...created }) => {
            setMade(key);
            setMaking(false);
            keys.change((list) => [created, ...list.filter(({ id }) => id !== created.id)]);
          }}
          onNo={() => setMaking(false)}
        />
      ) : (
        <button
          type="button"
          onClick={() => {
            setMade(undefined);
            setMaking(true);
          }}
        >
          {words.deviceKeys.make}
        </button>
      )}
    </section>
  );
}

function MakeKey({ onMade, onNo }: { onMade: (made: DeviceKey & { key: string }) => void; onNo: () => void }) {
  const { client } = useRooms();
  const id = useId();
  const [name, setName] = useState('');
  const [life, setLife] = useState<number>(lives[0]);
  const [uses, setUses] = useState('1');
  const make = useRecentAction(async () => {
    const body = { ttlSeconds: life, uses: Number(uses), ...(name.trim() === '' ? {} : { name: name.trim() }) };
    onMade(await client.call('createDeviceKey', { body }));
  });
  return (
    <form onSubmit={submitting(make.run)} className="stacked" method="post">
      <Field
        label={words.deviceKeys.name}
        hint={words.deviceKeys.nameHint}
        name="key-name"
        autoComplete="off"
        maxLength={100}
        autoFocus
        value={name}
        onValue={setName}
      />
      <div className="field">
        <label htmlFor={id}>{words.deviceKeys.life}</label>
        <select id={id} value={life} onChange={({ target }) => setLife(Number(target.value))}>
          {lives.map((seconds) => (
            <option key={seconds} value={seconds}>
              {words.deviceKeys.lifeOf(seconds)}
            </option>
          ))}
        </select>
      </div>
      <Field
        label={words.deviceKeys.uses}
        name="uses"
        type="number"
        inputMode="numeric"
        min={1}
        max={1000}
        required
        value={uses}
        onValue={setUses}
      />
      {make.again && <PasswordAgain {...make} />}
      <Problem refusal={make.refusal} />
      <div className="actions start">
        <Submit busy={make.busy} busyText={words.deviceKeys.making}>
          {words.deviceKeys.make}
        </Submit>
        <button type="button" onClick={onNo}>
          {words.cancel}
        </button>
      </div>
      {make.again && <ProvidersAgain returnTo="/devices" />}
    </form>
  );
}

function Row({ item, onRevoked }: { item: DeviceKey; onRevoked: () => void }) {
  const { client } = useRooms();
  const name = item.name === '' ? words.deviceKeys.unnamed : visible(item.name);
  return (
    <li className="card">
      <span className="card-head">
        <span className="card-title">{name}</span>
        <ConfirmButton
          label={words.deviceKeys.revokeOf(name)}
          title={words.deviceKeys.revokeTitle(name)}
          action={words.deviceKeys.revoke}
          doing={words.deviceKeys.revoking}
          onYes={async () => {
            await client.call('revokeDeviceKey', { params: { id: item.id } });
            onRevoked();
          }}
        >
          <p>{words.deviceKeys.revokeMore}</p>
        </ConfirmButton>
      </span>
      <span className="card-facts">
        {item.used >= item.uses && <span className="chip">{words.deviceKeys.usedUp}</span>}
        <span>{words.deviceKeys.used(item.used, item.uses)}</span>
        <span>{words.deviceKeys.until(fullTime(item.expiresAt))}</span>
      </span>
    </li>
  );
}
