/** `/devices`: the person's machines. */
import { ChevronRight, Laptop, Plus } from '../ui/icons.tsx';
import type { Device } from '@relay/protocol';
import { Link, Redirect } from 'wouter';
import { words } from '../catalogue.ts';
import { devicePath } from '../ui/address.ts';
import { agentsOf } from '../ui/agents.ts';
import { productName } from './product-name.ts';
import { onlineFirst, useDevices } from '../ui/device-list.ts';
import { Loaded } from '../ui/loaded.tsx';
import { Page } from '../ui/page.tsx';
import { Sentence } from '../ui/sentence.tsx';
import { DeviceState } from '../ui/status.tsx';
import { Ago } from '../ui/time.tsx';
import { DeviceKeys } from './device-keys.tsx';

export function Devices() {
  const devices = useDevices();
  if (devices.kind === 'ready' && devices.value.length === 0) return <Redirect to="/devices/new" replace />;
  return (
    <Page
      title={words.shell.machines}
      aside={
        <Link href="/devices/new" className="button">
          <Plus className="i" aria-hidden /> {words.machines.connect}
        </Link>
      }
    >
      <Loaded of={devices} what={words.machines.loading}>
        {(all) => (
          <ul className="set-list">
            {onlineFirst(all).map((device) => (
              <Row key={device.id} device={device} />
            ))}
          </ul>
        )}
      </Loaded>
      <DeviceKeys />
    </Page>
  );
}

function Row({ device }: { device: Device }) {
  return (
    <li>
      <Link href={devicePath(device.id)} className="li">
        <Laptop className="i" aria-hidden />
        <span className="grow">
          <b>{device.name}</b>
          <span className="d">
            {[agentsOf(device).map(productName).join(', '), device.hostname !== device.name && device.hostname]
              .filter(Boolean)
              .join(' · ')}
            {device.status === 'offline' && (
              <>
                {' '}
                <Sentence text={words.machines.lastSeen} time={<Ago at={device.lastSeenAt} />} />
              </>
            )}
          </span>
          {device.conflict && <span className="d bad">{words.machines.twoOnOne}</span>}
        </span>
        <DeviceState status={device.status} />
        <ChevronRight className="i" aria-hidden />
      </Link>
    </li>
  );
}
