/** POST /api/devices/:id/ping (rules, 7.12): a round trip to the daemon of a device, through the instance that holds it. */
import { findDevice } from '@relay/database';
import { type DevicePing, RelayError } from '@relay/protocol';
import type { Operations } from '../deps.ts';
import { askDaemon } from '../sessions/ask-daemon.ts';

/** @throws RelayError DEVICE_NOT_FOUND, DEVICE_OFFLINE, DEVICE_TIMEOUT, SERVICE_UNAVAILABLE */
export async function pingDevice(deps: Operations, userId: string, deviceId: string): Promise<DevicePing> {
  const device = await findDevice(deps.database, userId, deviceId);
  if (!device) throw new RelayError('DEVICE_NOT_FOUND');
  const beganMs = performance.now();
  await askDaemon(deps, device.id, { v: 1, kind: 'ask_pong' }, 'device_pong');
  return { ms: Math.round(performance.now() - beganMs) };
}
