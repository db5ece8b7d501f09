/** PATCH /api/devices/:id/continue (rules, 26.13). */
import { agentTypesOf, changeContinues, findDevice, withDevice } from '@relay/database';
import { type ChangeContinue, type Device, RelayError } from '@relay/protocol';
import type { Operations } from '../deps.ts';

/** @throws RelayError DEVICE_NOT_FOUND, AGENT_NOT_OFFERED */
export async function changeContinue(
  { database, publisher }: Operations,
  userId: string,
  deviceId: string,
  { agentType, mode }: ChangeContinue,
): Promise<Device> {
  const missing = () => new RelayError('DEVICE_NOT_FOUND');
  const isAuto = mode === 'auto';
  const removed = await withDevice(database, deviceId, async (tx, device) => {
    if (device?.ownerId !== userId) throw missing();
    if (isAuto && !(await agentTypesOf(tx, device)).includes(agentType)) throw new RelayError('AGENT_NOT_OFFERED');
    return changeContinues(tx, deviceId, agentType, isAuto);
  });
  await publisher.sessions(removed);
  const device = await findDevice(database, userId, deviceId);
  if (!device) throw missing();
  return device;
}
