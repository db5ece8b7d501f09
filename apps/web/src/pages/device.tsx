/** `/devices/:id`: one machine, its name, its connections, and its end. */
import { type FormEvent, useState } from 'react';
import type { ConnectionList, Device } from '@relay/protocol';
import { Link, useLocation } from 'wouter';
import { Refusal } from '../api/refusal.ts';
import { useFrames, useRooms } from '../rooms.ts';
import { useAction } from '../ui/action.ts';
import { useLastSegment } from '../ui/address.ts';
import { Confirm } from '../ui/confirm.tsx';
import { useDevices } from '../ui/device-list.ts';
import { Field } from '../ui/field.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Notice, Problem } from '../ui/notice.tsx';
import { Page } from '../ui/page.tsx';
import { useResource } from '../ui/resource.ts';
import { DeviceState } from '../ui/status.tsx';
import { Submit } from '../ui/submit.tsx';
import { Ago, fullTime } from '../ui/time.tsx';

export function DevicePage() {
  const id = useLastSegment();
  const devices = useDevices();
  const device = devices.kind === 'ready' ? devices.value.find((one) => one.id === id) : undefined;
  if (!device)
    return (
      <Page title="Device" key="none">
        <Loaded of={devices} what="Loading the device …">
          {() => (
            <>
              <Problem refusal={new Refusal('DEVICE_NOT_FOUND', '')} />
              <p>
                <Link href="/devices" className="button">
                  To your devices
                </Link>
              </p>
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
    />
  );
}

function Found({ device, onChange }: { device: Device; onChange: (device: Device) => void }) {
  const { client } = useRooms();
  const connections = useResource(device.id, async () => {
    const { connections } = await client.call('listConnections', { params: { id: device.id } });
    return connections;
  });
  useFrames((frame) => {
    if (frame.type === 'resync' || (frame.type === 'device_status' && frame.deviceId === device.id))
      connections.reload();
  });
  return (
    <Page title={device.name} aside={<DeviceState status={device.status} />}>
      {device.conflict && (
        <Notice kind="bad">
          <p>
            Two machines use this registration and take turns being disconnected{namesOf(device.conflict.machines)}.
            Register one of them again: run &quot;npx relay-daemon register --force&quot; there.
          </p>
        </Notice>
      )}
      <dl className="facts">
        <dt>Agent</dt>
        <dd>{device.agentType}</dd>
        <dt>Machine</dt>
        <dd>{device.hostname}</dd>
        <dt>Last seen</dt>
        <dd>{device.status === 'online' ? 'now' : <Ago at={device.lastSeenAt} />}</dd>
      </dl>
      <div className="actions start">
        <Link
          href={`/sessions/new?${new URLSearchParams({ device: device.id }).toString()}`}
          className="button primary"
        >
          New session
        </Link>
        <Link href={`/sessions?${new URLSearchParams({ device: device.id }).toString()}`} className="button">
          Its sessions
        </Link>
      </div>
      <Rename device={device} onChange={onChange} />
      <section aria-labelledby="connections">
        <h2 id="connections">Connections</h2>
        <Loaded of={connections} what="Loading its connections …">
          {(all) => <Connections all={all} />}
        </Loaded>
      </section>
      <Remove device={device} />
    </Page>
  );
}

/** Where they can be told apart. */
function namesOf(machines: NonNullable<Device['conflict']>['machines']): string {
  const names = [...new Set(machines.map(({ hostname, address }) => [hostname, address].filter(Boolean).join(', ')))];
  return names.length > 1 ? ` (${names.join(' · ')})` : '';
}

function Rename({ device, onChange }: { device: Device; onChange: (device: Device) => void }) {
  const { client } = useRooms();
  const [name, setName] = useState(device.name);
  const [saved, setSaved] = useState(false);
  const rename = useAction(async () => {
    onChange(await client.call('updateDevice', { params: { id: device.id }, body: { name: name.trim() } }));
    setSaved(true);
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setSaved(false);
    void rename.run();
  };
  return (
    <section aria-labelledby="rename">
      <h2 id="rename">Name</h2>
      <form onSubmit={submit} className="in-line">
        <Field
          label="Name of this device"
          name="device-name"
          autoComplete="off"
          required
          maxLength={200}
          value={name}
          onValue={setName}
        />
        <Submit busy={rename.busy} busyText="Saving …">
          Rename
        </Submit>
      </form>
      <Problem refusal={rename.refusal} />
      {saved && <Notice kind="good">Saved.</Notice>}
    </section>
  );
}

type Connection = ConnectionList['connections'][number];

function endOf({ disconnectedAt, closeCode, reason }: Connection): string {
  if (disconnectedAt === undefined) return 'connected';
  const why = [reason, closeCode].filter((part) => part !== undefined && part !== '').join(', ');
  return `until ${fullTime(disconnectedAt)}${why === '' ? '' : ` (${why})`}`;
}

function Connections({ all }: { all: Connection[] }) {
  if (all.length === 0) return <p>It was never connected. Start its daemon on that machine: npx relay-daemon up</p>;
  return (
    <ol className="history">
      {all.map((connection) => (
        <li key={`${connection.connectedAt} ${connection.instance}`}>
          <span>{fullTime(connection.connectedAt)}</span>
          <span className="hint">
            {endOf(connection)}
            {connection.daemonVersion !== '' && ` · daemon ${connection.daemonVersion}`}
          </span>
        </li>
      ))}
    </ol>
  );
}

function Remove({ device }: { device: Device }) {
  const { client } = useRooms();
  const [, navigate] = useLocation();
  const [asking, setAsking] = useState(false);
  const remove = useAction(async () => {
    await client.call('deleteDevice', { params: { id: device.id } });
    navigate('/devices', { replace: true });
  });
  return (
    <section aria-labelledby="remove">
      <h2 id="remove">Remove</h2>
      <p>It is disconnected at once, and its sessions leave your list. What is on the machine stays there.</p>
      <button type="button" className="danger" onClick={() => setAsking(true)}>
        Remove this device
      </button>
      {asking && (
        <Confirm
          title={`Remove ${device.name}?`}
          action="Remove"
          busy={remove.busy}
          refusal={remove.refusal}
          onYes={() => void remove.run()}
          onNo={() => setAsking(false)}
        >
          <p>To use it again, it must be registered and approved anew.</p>
        </Confirm>
      )}
    </section>
  );
}
