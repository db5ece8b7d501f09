/** The current devices of the person, loaded once for the whole page. */
import { type RefObject, createContext, useContext, useEffect, useMemo, useRef } from 'react';
import type { Device } from '@relay/protocol';
import { useFrames, useRooms } from '../rooms.ts';
import { type Resource, useResource } from './resource.ts';

interface DeviceList {
  devices: Resource<Device[]>;
  /** When the newest load began. */
  readAt: RefObject<number>;
}
const Devices = createContext<DeviceList | undefined>(undefined);
export const DevicesProvider = Devices.Provider;

/** No frame announces a registered machine that has not connected yet. */
const freshMs = 5_000;

export function useDevices(): Resource<Device[]> {
  const { devices, readAt } = useContext(Devices)!;
  useEffect(() => {
    // Another page loads again; the known list stays visible until then.
    if (devices.kind !== 'loading' && Date.now() - readAt.current > freshMs) devices.reload();
  }, []);
  return devices;
}

/** Machines with the same name are distinguished by a number. */
export const distinct = (devices: readonly Device[]): Device[] =>
  devices.map((device) => {
    const same = devices.filter(({ name }) => name === device.name).map(({ id }) => id);
    return same.length < 2 ? device : { ...device, name: `${device.name} (${same.sort().indexOf(device.id) + 1})` };
  });

const none: readonly Device[] = [];

/** The devices once they are here, each with a name of its own. */
export function useNamedDevices(): readonly Device[] {
  const devices = useDevices();
  const loaded = devices.kind === 'ready' ? devices.value : none;
  return useMemo(() => distinct(loaded), [loaded]);
}

/** Used by the provider. `isIn`: a person is signed in. */
export function useDeviceList(isIn: boolean): DeviceList {
  const { client } = useRooms();
  const readAt = useRef(0);
  const devices = useResource(String(isIn), async () => {
    readAt.current = Date.now();
    // Loads only while signed in.
    return isIn ? (await client.call('listDevices')).devices : new Promise<never>(() => undefined);
  });
  useFrames((frame) => {
    if (frame.type === 'resync') devices.reload();
    if (frame.type === 'device_removed') devices.change((all) => all.filter(({ id }) => id !== frame.deviceId));
    if (frame.type !== 'device_status') return;
    const isListed = devices.kind === 'ready' && devices.value.some(({ id }) => id === frame.deviceId);
    // A daemon that returns might have changed.
    if (!isListed || frame.status === 'online') devices.reload();
    const lastSeenAt = new Date().toISOString();
    devices.change((all) =>
      all.map((device) => (device.id === frame.deviceId ? { ...device, status: frame.status, lastSeenAt } : device)),
    );
  });
  return { devices, readAt };
}

/** Devices that are online first, then by name. */
export const onlineFirst = (devices: readonly Device[]): Device[] =>
  [...devices].sort(
    (a, b) => Number(b.status === 'online') - Number(a.status === 'online') || a.name.localeCompare(b.name),
  );
