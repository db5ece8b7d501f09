/** `/devices`: the person's machines. */
import type { Device } from '@relay/protocol';
import { Link, Redirect } from 'wouter';
import { devicePath } from '../ui/address.ts';
import { onlineFirst, useDevices } from '../ui/device-list.ts';
import { Loaded } from '../ui/loaded.tsx';
import { Page } from '../ui/page.tsx';
import { DeviceState } from '../ui/status.tsx';
import { Ago } from '../ui/time.tsx';

export function Devices() {
  const devices = useDevices();
  if (devices.kind === 'ready' && devices.value.length === 0) return <Redirect to="/devices/new" replace />;
  return (
    <Page
      title="Devices"
      aside={
        <Link href="/devices/new" className="button">
          Connect a machine
        </Link>
      }
    >
      <Loaded of={devices} what="Loading your devices …">
        {(all) => (
          <ul className="cards">
            {onlineFirst(all).map((device) => (
              <Row key={device.id} device={device} />
            ))}
          </ul>
        )}
      </Loaded>
    </Page>
  );
}

function Row({ device }: { device: Device }) {
  return (
    <li>
      <Link href={devicePath(device.id)} className="card">
        <span className="card-head">
          <span className="card-title">{device.name}</span>
          <DeviceState status={device.status} />
        </span>
        <span className="card-facts">
          {device.conflict && <span>Two machines use this registration</span>}
          <span>{device.agentType}</span>
          {device.hostname !== device.name && <span>{device.hostname}</span>}
          {device.status === 'offline' && (
            <span>
              last seen <Ago at={device.lastSeenAt} />
            </span>
          )}
        </span>
      </Link>
    </li>
  );
}
