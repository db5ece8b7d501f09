/** The person's devices, as they are right now. */
import type { Device } from '@relay/protocol';
import { useFrames, useRooms } from '../rooms.ts';
import { type Resource, useResource } from './resource.ts';

export function useDevices(): Resource<Device[]> {
  const { client } = useRooms();
  const devices = useResource('', async () => (await client.call('listDevices')).devices);
  useFrames((frame) => {
    if (frame.type === 'resync') devices.reload();
    if (frame.type === 'device_removed') devices.change((all) => all.filter(({ id }) => id !== frame.deviceId));
    if (frame.type !== 'device_status') return;
    const isKnown = devices.kind === 'ready' && devices.value.some(({ id }) => id === frame.deviceId);
    // A daemon that comes back may have learned something.
    if (!isKnown || frame.status === 'online') devices.reload();
    const lastSeenAt = new Date().toISOString();
    devices.change((all) =>
      all.map((device) => (device.id === frame.deviceId ? { ...device, status: frame.status, lastSeenAt } : device)),
    );
  });
  return devices;
}

/** Devices that are online first, then by name. */
export const onlineFirst = (devices: readonly Device[]): Device[] =>
  [...devices].sort(
    (a, b) => Number(b.status === 'online') - Number(a.status === 'online') || a.name.localeCompare(b.name),
  );
