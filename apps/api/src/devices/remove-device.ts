/** DELETE /api/devices/:id (rules, 7.9): by its owner, or by the device itself with its own credential. */
import { bearerFrom, hashDeviceToken, isDeviceToken } from '@relay/auth';
import { readCredential, removeDevice as remove, withDevice } from '@relay/database';
import { RelayError } from '@relay/protocol';
import type { Operations } from '../deps.ts';
import { forgetHistory } from '../sessions/forget-history.ts';

const missing = () => new RelayError('DEVICE_NOT_FOUND');

/**
 * The owner of the device whose own token was sent.
 * @throws RelayError DEVICE_NOT_FOUND when the device of this very token is gone already; AuthError for any other token
 */
export async function ownerByDeviceToken(
  deps: Operations,
  deviceId: string,
  authorization: string | undefined,
): Promise<string> {
  const token = bearerFrom(authorization) ?? '';
  const credential = isDeviceToken(token) ? await readCredential(deps.database, deviceId) : undefined;
  if (credential?.removedAt && credential.tokenHash === hashDeviceToken(token)) throw missing();
  return (await deps.deviceVerifier.verify(token, deviceId)).ownerId;
}

type Removing = Pick<Operations, 'database' | 'deviceVerifier' | 'backplane' | 'logger' | 'publisher'>;

/** Its credential is refused from now on and its live socket closed wherever it is. @throws RelayError DEVICE_NOT_FOUND */
export async function removeDevice(deps: Removing, ownerId: string, deviceId: string): Promise<void> {
  const wasOnline = await withDevice(deps.database, deviceId, async (tx, device) => {
    if (device?.ownerId !== ownerId) throw missing();
    await remove(tx, deviceId);
    return device.status === 'online';
  });
  deps.deviceVerifier.forget(deviceId);
  await deps.backplane
    .publishControl(JSON.stringify({ v: 1, kind: 'device_closed', deviceId, why: 'deleted' }))
    .catch((error: unknown) =>
      deps.logger.warn(
        { err: error, deviceId },
        'the removal could not be announced; gateways will notice by themselves',
      ),
    );
  if (wasOnline) await deps.publisher.append(ownerId, { type: 'device_status', deviceId, status: 'offline' });
  await deps.publisher.append(ownerId, { type: 'device_removed', deviceId }, 'x');
  await forgetHistory(deps, ownerId);
}
