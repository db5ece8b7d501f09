/** `relay-admin drain`: one gateway of two lets its daemons go and takes no others. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type TestDaemon, type TestRelay, connectDaemon, startRelay } from '@relay/testing';
import { type AdminDeps, readArguments, runCommand } from '../src/admin-commands.ts';

let relay: TestRelay;
let leaving: TestDaemon[];
let staying: TestDaemon;

beforeAll(async () => {
  relay = await startRelay({ gateways: 2 });
  leaving = [await connectDaemon(relay, { gateway: 0 }), await connectDaemon(relay, { gateway: 0 })];
  staying = await connectDaemon(relay, { gateway: 1 });
});
afterAll(() => relay.stop());

const admin = async (...args: string[]): Promise<string[]> => {
  const [{ backplane }] = relay.apis as [TestRelay['apis'][number]];
  const config = { redisUrl: 'redis://of-the-test' };
  const deps = { database: relay.database, backplane, config } as unknown as AdminDeps;
  const request = readArguments(args);
  if (typeof request === 'string') throw new Error(request);
  return (await runCommand(deps, request)).lines;
};

it('lists the gateways by their devices, and refuses an unknown or ambiguous name', async () => {
  const list = async () =>
    (await admin('drain', '--json')).map((line) => JSON.parse(line) as { instance: string; devices: number });
  // A daemon goes online a moment after its socket opens.
  let listed = await list();
  while (listed.reduce((sum, { devices }) => sum + devices, 0) < 3) listed = await list();
  const [first, second] = relay.gateways.map(({ backplane }) => backplane.instance);
  expect(listed).toEqual([
    { instance: first, devices: 2 },
    { instance: second, devices: 1 },
  ]);
  await expect(admin('drain', 'elsewhere')).rejects.toThrow('No gateway "elsewhere" has a device.');
  await expect(admin('drain', first!, '--over', 'soon')).rejects.toThrow('--over takes minutes');
});

it('lets the daemons of one gateway go with 1001, takes no more and is not ready; the others stay', async () => {
  const name = relay.gateways[0]!.backplane.instance;
  const [told] = await admin('drain', name, '--over', '0.01');
  expect(told).toBe(`${name} accepts no more daemons, and closes the connections of its 2 within 0.01 min.`);
  for (const daemon of leaving) expect(await daemon.closed).toMatchObject({ code: 1001 });
  await expect(connectDaemon(relay, { registration: leaving[0]!.registration, gateway: 0 })).rejects.toMatchObject({
    status: 503,
    body: { code: 'SERVICE_UNAVAILABLE' },
  });
  const asked = relay.gateways.map(async ({ url }) => (await fetch(`${url}/ready`)).status);
  expect(await Promise.all(asked)).toEqual([503, 200]);
  const back = await connectDaemon(relay, { registration: leaving[0]!.registration, gateway: 1 });
  expect([back, staying].map(({ socket }) => socket.readyState)).toEqual([back.socket.OPEN, staying.socket.OPEN]);
});
