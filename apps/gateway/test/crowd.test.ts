import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Database } from '@relay/database';
import { type Registration, type TestRelay, openTestDatabase, registerDevice, startRelay } from '@relay/testing';
import { knock } from './knock.ts';

describe('a crowd at the door of daemons', () => {
  let database: Database;
  let relay: TestRelay;
  let devices: Registration[];

  const headersOf = ({ refreshToken, deviceId }: Registration) => ({
    Authorization: `Bearer ${refreshToken}`,
    'X-Device-ID': deviceId,
  });

  beforeAll(async () => {
    database = await openTestDatabase();
    relay = await startRelay({ database, config: { connectingLimit: 2 } });
    devices = await Promise.all([1, 2, 3].map(() => registerDevice(relay)));
  });
  afterAll(async () => {
    await relay.stop();
    await database.close();
  });

  it('admits as many at once as configured, and rejects the rest before it reads a credential', async () => {
    const [first, second, third] = devices as [Registration, Registration, Registration];
    let arriving: ReturnType<typeof knock>[] = [];
    await database.models.$transaction(
      async (tx) => {
        // No connection becomes the owner of a device until this commits.
        await tx.$queryRaw`SELECT 1 FROM devices FOR UPDATE`;
        arriving = [knock(relay, headersOf(first)), knock(relay, headersOf(second))];
        let refused = await knock(relay, {});
        while (refused.status === 401) refused = await knock(relay, {});
        expect(refused).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE', status: 503 } });
        expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
        expect(await knock(relay, headersOf(third))).toMatchObject({ status: 503 });
      },
      { timeout: 60_000 },
    );
    expect(await Promise.all(arriving)).toMatchObject([{ status: 101 }, { status: 101 }]);
    let later = await knock(relay, headersOf(third));
    while (later.status === 503) later = await knock(relay, headersOf(third));
    expect(later.status).toBe(101);
  });
});
