// Users with one registered device each, written into the database before a relay starts: thousands, in seconds.
import { randomBytes } from 'node:crypto';
import { deriveDeviceToken, hashDeviceToken } from '@relay/auth';
import { openDatabase } from '@relay/database';

const perStatement = 1000;

/**
 * Person `i` is user `bench-i` with the device `bench-device-i`. `where` is what `openDatabase` takes. Returns for each what a client needs:
 * `{ user, token, deviceId, deviceToken }`.
 */
export async function registerPeople(where, issuer, count) {
  const people = Array.from({ length: count }, (_, i) => {
    const user = `bench-${i}`;
    const deviceToken = deriveDeviceToken(randomBytes(32).toString('base64url'), 'bench');
    return { user, token: issuer.token(user), deviceId: `bench-device-${i}`, deviceToken };
  });
  const database = await openDatabase(where);
  try {
    for (let from = 0; from < count; from += perStatement) {
      await database.prisma.device.createMany({
        data: people.slice(from, from + perStatement).map(({ user, deviceId, deviceToken }) => ({
          id: deviceId,
          ownerId: issuer.userId(user),
          name: 'bench',
          hostname: 'bench',
          agentType: 'bench',
          tokenHash: hashDeviceToken(deviceToken),
        })),
      });
    }
  } finally {
    await database.close();
  }
  return people;
}
