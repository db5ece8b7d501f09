/** `/devices/:id`: one machine, its name, its connections, and its removal. */
import { useState } from 'react';
import type { ConnectionList, Device } from '@relay/protocol';
import { Link, useLocation } from 'wouter';
import { Refusal } from '../api/refusal.ts';
import { spanOf, words } from '../catalogue.ts';
import { useFrames, useRooms } from '../rooms.ts';
import { submitting, useAction } from '../ui/action.ts';
import { newSessionPath, useLastSegment } from '../ui/address.ts';
import { agentsOf } from '../ui/agents.ts';
import { productName } from './product-name.ts';
import { Copy } from '../ui/copy.tsx';
import { daemonCommands } from '../ui/daemon-commands.ts';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import { useDevices } from '../ui/device-list.ts';
import { Field } from '../ui/field.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Notice, Problem } from '../ui/notice.tsx';
import { Page, WayOn } from '../ui/page.tsx';
import { useResource } from '../ui/resource.ts';
import { Sentence } from '../ui/sentence.tsx';
import { DeviceState } from '../ui/status.tsx';
import { Submit } from '../ui/submit.tsx';
import { Ago, fullTime } from '../ui/time.tsx';
import { AcpApps } from './acp-apps.tsx';

export function DevicePage() {
  const id = useLastSegment();
  const devices = useDevices();
  const device = devices.kind === 'ready' ? devices.value.find((one) => one.id === id) : undefined;
  if (!device)
    return (
      <Page title={words.list.machine} key="none">
        <Loaded of={devices} what={words.machine.loading}>
          {() => (
            <>
              <Problem refusal={new Refusal('DEVICE_NOT_FOUND', '')} />
              <WayOn path="/devices">{words.machine.all}</WayOn>
            </>
          )}
        </Loaded>
      </Page>
    );
  return (
    <Found
      key={id}
      device={device}
      onChange={(changed) => devices.change((all) => all.map((one) => (one.id === id ? changed : one)))}
      onRemoved={() => devices.change((all) => all.filter((one) => one.id !== id))}
    />
  );
}

interface FoundProps {
  device: Device;
  onChange: (device: Device) => void;
  onRemoved: () => void;
}

function Found({ device, onChange, onRemoved }: FoundProps) {
  const { client, place } = useRooms();
  const connections = useResource(device.id, async () => {
    const { connections } = await client.call('listConnections', { params: { id: device.id } });
    return connections;
  });
  useFrames((frame) => {
    if (frame.type === 'resync' || (frame.type === 'device_status' && frame.deviceId === device.id))
      connections.reload();
  });
  const agents = agentsOf(device);
  return (
    <Page
      title={device.name}
      aside={<DeviceState status={device.status} />}
      back={{ path: '/devices', name: words.shell.machines }}
    >
      {device.conflict && (
        <Notice kind="bad">
          <p>
            <Sentence
              text={words.machine.conflict(namesOf(device.conflict.machines))}
              command={<code>{daemonCommands.register(place.publicUrl)} --force</code>}
            />
          </p>
        </Notice>
      )}
      <dl className="facts">
        <dt>{agents.length > 1 ? words.machine.agents : words.machine.agent}</dt>
        <dd>
          {agents.map((agent) => (
            <span key={agent.agentType} className="fact">
              {productName(agent)}
              {agent.version !== undefined && <span className="hint"> {agent.version}</span>}
            </span>
          ))}
        </dd>
        <dt>{words.machine.hostName}</dt>
        <dd>{device.hostname}</dd>
        <State device={device} last={connections.kind === 'ready' ? connections.value[0] : undefined} />
      </dl>
      <div className="actions start">
        <Link href={newSessionPath(device.id)} className="button primary">
          {words.list.newSession}
        </Link>
        <Link href={`/sessions?${new URLSearchParams({ device: device.id }).toString()}`} className="button">
          {words.machine.sessionsOn(device.name)}
        </Link>
        <Test device={device} />
      </div>
      <Rename device={device} onChange={onChange} />
      <section aria-labelledby="connections">
        <h2 id="connections">{words.machine.connections}</h2>
        <Loaded of={connections} what={words.machine.loadingConnections}>
          {(all) => <Connections all={all} />}
        </Loaded>
      </section>
      <AcpApps device={device} />
      <Remove device={device} onRemoved={onRemoved} />
    </Page>
  );
}

/** A round trip to its daemon. */
function Test({ device }: { device: Device }) {
  const { client } = useRooms();
  const [ms, setMs] = useState<number>();
  const test = useAction(async () => {
    setMs(undefined);
    setMs((await client.call('pingDevice', { params: { id: device.id } })).ms);
  });
  return (
    <>
      <button type="button" aria-disabled={test.busy} onClick={() => void test.run()}>
        {test.busy ? words.machine.testing : words.machine.test}
      </button>
      <span role="status">{ms !== undefined && words.machine.answered(ms)}</span>
      <Problem refusal={test.refusal} />
    </>
  );
}

/** The names of machines with one registration, if they differ. */
function namesOf(machines: NonNullable<Device['conflict']>['machines']): string {
  const names = [...new Set(machines.map(({ hostname, address }) => [hostname, address].filter(Boolean).join(', ')))];
  return names.length > 1 ? names.join(' · ') : '';
}

function Rename({ device, onChange }: { device: Device; onChange: (device: Device) => void }) {
  const { client } = useRooms();
  const [name, setName] = useState(device.name);
  const rename = useAction(async () => {
    onChange(await client.call('updateDevice', { params: { id: device.id }, body: { name: name.trim() } }));
  });
  return (
    <section>
      <form onSubmit={submitting(rename.run)} className="in-line">
        <Field
          label={words.machine.ofThis}
          name="device-name"
          autoComplete="off"
          required
          maxLength={200}
          value={name}
          onValue={setName}
        />
        <Submit busy={rename.busy} busyText={words.saving}>
          {words.list.rename}
        </Submit>
      </form>
      <Problem refusal={rename.refusal} />
      {rename.done && <Notice kind="good">{words.common.saved}</Notice>}
    </section>
  );
}

type Connection = ConnectionList['connections'][number];

/** Why the connection closed, in plain language. */
const whys: Readonly<Record<number, 'stopped' | 'slept' | 'replaced'>> = {
  1000: 'stopped',
  1001: 'stopped',
  4408: 'slept',
  4409: 'replaced',
};
const whyOf = ({ closeCode }: Connection): string => words.machine[whys[closeCode ?? 0] ?? 'lost'];

/** Since when the device is online; or since when it is away, and why. */
function State({ device, last }: { device: Device; last: Connection | undefined }) {
  if (device.status === 'online' && last)
    return (
      <>
        <dt>{words.machine.onlineSince}</dt>
        <dd>{fullTime(last.connectedAt)}</dd>
      </>
    );
  return (
    <>
      <dt>{words.machine.offlineSince}</dt>
      <dd>
        {last?.disconnectedAt === undefined ? (
          <Ago at={device.lastSeenAt} />
        ) : (
          [fullTime(last.disconnectedAt), whyOf(last)].join(' · ')
        )}
      </dd>
    </>
  );
}

function Connections({ all }: { all: Connection[] }) {
  if (all.length === 0)
    return (
      <>
        <p>{words.machine.never}</p>
        <Copy text={daemonCommands.start} label={words.connect.startCommand} />
      </>
    );
  return (
    <ol className="set-list">
      {all.map((connection) => (
        <li key={`${connection.connectedAt} ${connection.instance}`} className="li">
          <span className="grow">
            <b>{connection.disconnectedAt === undefined ? words.machine.connected : whyOf(connection)}</b>
            <span className="d">
              {connection.disconnectedAt === undefined
                ? words.machine.since(connection.connectedAt)
                : spanOf(connection.connectedAt, connection.disconnectedAt)}
            </span>
          </span>
          {connection.daemonVersion !== '' && (
            <span className="hint">{words.machine.daemon(connection.daemonVersion)}</span>
          )}
        </li>
      ))}
    </ol>
  );
}

function Remove({ device, onRemoved }: Pick<FoundProps, 'device' | 'onRemoved'>) {
  const { client } = useRooms();
  const [, navigate] = useLocation();
  return (
    <section aria-labelledby="remove">
      <h2 id="remove">{words.machine.remove}</h2>
      <p>{words.machine.removeMore}</p>
      <ConfirmButton
        text={words.machine.removeThis}
        title={words.machine.removeTitle(device.name)}
        action={words.machine.remove}
        doing={words.machine.removing}
        onYes={async () => {
          await client.call('deleteDevice', { params: { id: device.id } });
          navigate('/devices', { replace: true });
          onRemoved();
        }}
      >
        <p>{words.machine.removeMore}</p>
        <p>{words.machine.removeAgain}</p>
      </ConfirmButton>
    </section>
  );
}
