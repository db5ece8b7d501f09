/** Figures of use of a device by day. Its daemon keeps them, and the relay passes them on (rules, 22). */
import { capabilitiesOf, findDevice } from '@relay/database';
import { type DeviceUsage, RelayError, capabilities, spendingLimits } from '@relay/protocol';
import type { Operations } from '../deps.ts';
import { askDaemon } from '../sessions/ask-daemon.ts';

/**
 * GET /api/devices/:id/usage.
 * @throws RelayError INVALID_REQUEST, DEVICE_NOT_FOUND, NOT_SUPPORTED_BY_DEVICE, DEVICE_OFFLINE, DEVICE_TIMEOUT, DEVICE_ERROR
 */
export async function readUsage(
  deps: Operations,
  userId: string,
  deviceId: string,
  range: { from: string; to: string; zone: string },
): Promise<DeviceUsage> {
  requireRange(range);
  const device = await findDevice(deps.database, userId, deviceId);
  if (!device) throw new RelayError('DEVICE_NOT_FOUND');
  if (!(await capabilitiesOf(deps.database, device.id)).includes(capabilities.spending))
    throw new RelayError('NOT_SUPPORTED_BY_DEVICE');
  const { from, to, zone } = range;
  const command = { v: 1, kind: 'ask_spending', from, to, zone } as const;
  const { days, since } = await askDaemon(deps, device.id, command, 'device_spending');
  return { deviceId: device.id, days, since };
}

function requireRange({ from, to, zone }: { from: string; to: string; zone: string }): void {
  const invalid = (name: string, why: string) => new RelayError('INVALID_REQUEST', `In the query, "${name}" ${why}.`);
  const [first, last] = [dayIn(from), dayIn(to)];
  if (Number.isNaN(first)) throw invalid('from', 'must be a calendar day');
  if (Number.isNaN(last)) throw invalid('to', 'must be a calendar day');
  const days = (last - first) / 86_400_000 + 1;
  if (days < 1 || days > spendingLimits.days)
    throw invalid('to', `must be from 0 to ${spendingLimits.days - 1} days after "from"`);
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
  } catch {
    throw invalid('zone', 'must be a time zone, such as Europe/Paris');
  }
}

/** Milliseconds since 1970 of a calendar day; NaN for any other text. */
const dayIn = (text: string) => (/^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN);
