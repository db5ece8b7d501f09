/** `/devices`: the person's machines. */
import { ChevronRight, Laptop, Plus } from 'lucide-react';
import type { Device } from '@relay/protocol';
import { Link, Redirect } from 'wouter';
import { agentName } from '../catalogue.ts';
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
      title="Machines"
      aside={
        <Link href="/devices/new" className="button">
          <Plus className="i" aria-hidden /> Connect a machine
        </Link>
      }
    >
      <Loaded of={devices} what="Loading machines…">
        {(all) => (
          <ul className="set-list">
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
  const agent = agentName(device.agentType);
  return (
    <li>
      <Link href={devicePath(device.id)} className="li">
        <Laptop className="i" aria-hidden />
        <span className="grow">
          <b>{device.name}</b>
          <span className="d">
            {[agent || device.agentType, device.hostname !== device.name && device.hostname]
              .filter(Boolean)
              .join(' · ')}
            {device.status === 'offline' && (
              <>
                {' '}
                · last seen <Ago at={device.lastSeenAt} />
              </>
            )}
          </span>
          {device.conflict && <span className="d bad">Two machines use this registration</span>}
        </span>
        <DeviceState status={device.status} />
        <ChevronRight className="i" aria-hidden />
      </Link>
    </li>
  );
}
