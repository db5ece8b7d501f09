// Users with one registered device each, written into the database before a relay starts: thousands, in seconds.
import { randomBytes } from 'node:crypto';
import { deriveDeviceToken, hashDeviceToken } from '@relay/auth';
import { openDatabase } from '@relay/database';

const perStatement = 1000;
/** A soak takes longer than an hour. */
const tokenSeconds = 4 * 3600;

/**
 * Person `i` is user `bench-i` with the device `bench-device-i`; person 0 has `moreOfFirst` further devices. `where` is
 * the parameter of `openDatabase`. Returns each person's client data: `{ user, token, deviceId, deviceToken, devices
 * }`, where `devices` are all of that person's as `{ deviceId, deviceToken }`.
 */
export async function registerPeople(where, issuer, count, moreOfFirst = 0) {
  const device = (deviceId) => ({
    deviceId,
    deviceToken: deriveDeviceToken(randomBytes(32).toString('base64url'), 'bench'),
  });
  const people = Array.from({ length: count }, (_, i) => {
    const user = `bench-${i}`;
    const more = Array.from({ length: i === 0 ? moreOfFirst : 0 }, (_, n) => device(`bench-more-${n}`));
    const devices = [device(`bench-device-${i}`), ...more];
    return { user, token: issuer.token(user, { expiresInSeconds: tokenSeconds }), ...devices[0], devices };
  });
  const rows = people.flatMap(({ user, devices }) => devices.map((one) => ({ user, ...one })));
  const database = await openDatabase(where);
  try {
    for (let from = 0; from < rows.length; from += perStatement) {
      const some = rows.slice(from, from + perStatement);
      // Uses only columns that every revision has: `--compare` measures an older revision, with its own database.
      await database.sql.execute`
        INSERT INTO devices (id, owner_id, name, hostname, agent_type, token_hash)
        SELECT id, owner_id, 'bench', 'bench', 'bench', token_hash
        FROM unnest(${some.map(({ deviceId }) => deviceId)}::text[], ${some.map(({ user }) => issuer.userId(user))}::text[],
          ${some.map(({ deviceToken }) => hashDeviceToken(deviceToken))}::text[]) AS d(id, owner_id, token_hash)`;
    }
  } finally {
    await database.close();
  }
  return people;
}
