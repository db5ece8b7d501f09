/** The apps that reach a machine with their own token: lists, adds and revokes them. */
import { Suspense, useState } from 'react';
import type { AcpToken, CreatedAcpToken, Device } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { submitting } from '../ui/action.ts';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import { Copy } from '../ui/copy.tsx';
import { Field } from '../ui/field.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Notice, Problem } from '../ui/notice.tsx';
import { PasswordAgain, ProvidersAgain, useRecentAction } from '../ui/recent-action.tsx';
import { useResource } from '../ui/resource.ts';
import { Sentence } from '../ui/sentence.tsx';
import { loadedLater } from '../ui/loaded-later.tsx';
import { Submit } from '../ui/submit.tsx';
import { Ago } from '../ui/time.tsx';

const QrCode = loadedLater(async () => (await import('../ui/qr-code.tsx')).default);

export function AcpApps({ device }: { device: Device }) {
  const { client } = useRooms();
  const tokens = useResource(device.id, async () => {
    const { tokens } = await client.call('listAcpTokens');
    return tokens.filter(({ deviceId }) => deviceId === device.id);
  });
  const [made, setMade] = useState<CreatedAcpToken>();
  return (
    <section aria-labelledby="acp-apps">
      <h2 id="acp-apps">{words.acpApps.title}</h2>
      <p>{words.acpApps.lead}</p>
      <Loaded of={tokens} what={words.acpApps.loading}>
        {(all) => (
          <ul className="cards">
            {all.map((token) => (
              <Row
                key={token.id}
                token={token}
                onEnded={() => {
                  tokens.change((list) => list.filter(({ id }) => id !== token.id));
                  if (made?.id === token.id) setMade(undefined);
                }}
              />
            ))}
          </ul>
        )}
      </Loaded>
      {made ? (
        <Made token={made} />
      ) : (
        <Make
          device={device}
          onMade={(token) => {
            setMade(token);
            tokens.reload();
          }}
        />
      )}
    </section>
  );
}

function Make({ device, onMade }: { device: Device; onMade: (token: CreatedAcpToken) => void }) {
  const { client } = useRooms();
  const [name, setName] = useState('');
  const make = useRecentAction(async () => {
    onMade(await client.call('createAcpToken', { body: { deviceId: device.id, name: name.trim() } }));
  });
  return (
    <>
      <form onSubmit={submitting(make.run)} method="post" className={make.again ? undefined : 'in-line'}>
        <Field
          label={words.acpApps.name}
          name="acp-app"
          autoComplete="off"
          required
          maxLength={200}
          value={name}
          onValue={setName}
        />
        {make.again && <PasswordAgain {...make} />}
        <Submit busy={make.busy} busyText={words.acpApps.making}>
          {words.acpApps.make}
        </Submit>
      </form>
      <Problem refusal={make.refusal} />
      {make.again && <ProvidersAgain returnTo={`/devices/${device.id}`} />}
    </>
  );
}

/** The address and the token for the app. Shown once. */
function Made({ token: { url, token } }: { token: CreatedAcpToken }) {
  return (
    <>
      <Notice kind="good">{words.acpApps.once}</Notice>
      <p>
        <strong>{words.acpApps.address}</strong>
      </p>
      <Copy text={url} label={words.acpApps.address} />
      <p>
        <strong>{words.acpApps.token}</strong>
      </p>
      <Copy text={token} label={words.acpApps.token} />
      <p className="hint">{words.acpApps.scan}</p>
      <Suspense fallback={null}>
        <QrCode text={`${url}\n${token}`} label={words.acpApps.qr} />
      </Suspense>
    </>
  );
}

function Row({ token, onEnded }: { token: AcpToken; onEnded: () => void }) {
  const { client } = useRooms();
  const name = token.name || words.acpApps.unnamed;
  return (
    <li className="card">
      <span className="card-head">
        <span className="card-title">{name}</span>
        <ConfirmButton
          label={words.deviceKeys.revokeOf(name)}
          title={words.acpApps.endTitle(name)}
          action={words.deviceKeys.revoke}
          doing={words.deviceKeys.revoking}
          onYes={async () => {
            await client.call('revokeAcpToken', { params: { id: token.id } });
            onEnded();
          }}
        >
          <p>{words.acpApps.endMore}</p>
        </ConfirmButton>
      </span>
      <span className="card-facts">
        {!token.scopes.includes('sessions:write') && <span>{words.acpApps.reads}</span>}
        <span>
          {token.usedAt === undefined ? (
            words.acpApps.neverUsed
          ) : (
            <Sentence text={words.acpApps.used} time={<Ago at={token.usedAt} />} />
          )}
        </span>
      </span>
    </li>
  );
}
