import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import {
  type Beginning,
  type Database,
  capabilitiesOf,
  connectionClosed,
  connectionsClosed,
  deviceConnected,
  deviceOffline,
  devicesConnected,
  listConnections,
  markOnlineAgain,
  withDevice,
} from '../src/index.ts';
import { device, onBoth } from './databases.ts';

onBoth('the connections of daemons', (open, kind) => {
  let database: Database;
  let prisma: Database['prisma'];
  beforeAll(async () => {
    database = await open();
    prisma = database.prisma;
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await prisma.device.deleteMany();
    await prisma.device.createMany({ data: ['a', 'b', 'c'].map((id) => device(id)) });
  });

  let last = 0;
  const beginning = (deviceId: string, fence: number): Beginning => ({
    deviceId,
    fence,
    connectionId: `connection-${(last += 1)}`,
    daemonVersion: '1.0.0',
    capabilities: ['images', fence % 2 === 0 ? 'even' : 'odd'],
    instance: 'gateway-1',
    hostname: '',
    address: '',
  });
  const statusOf = async (id: string) => (await prisma.device.findUniqueOrThrow({ where: { id } })).status;

  it('begin together: each device is online, and its connection is noted', async () => {
    const found = await devicesConnected(prisma, [beginning('a', 1), beginning('b', 2)]);
    const { ownerId } = device('a');
    expect(found).toEqual(
      new Map([
        ['a', { ownerId, wasOnline: false, reportHash: null }],
        ['b', { ownerId: device('b').ownerId, wasOnline: false, reportHash: null }],
      ]),
    );
    expect([await statusOf('a'), await statusOf('b'), await statusOf('c')]).toEqual(['online', 'online', 'offline']);
    expect(await capabilitiesOf(prisma, 'b')).toEqual(['images', 'even']);
    expect(await listConnections(prisma, 'a')).toEqual([
      expect.objectContaining({ daemonVersion: '1.0.0', instance: 'gateway-1' }),
    ]);
  });

  it('that are still the newest bring their devices back online, each once', async () => {
    await devicesConnected(prisma, [beginning('a', 5), beginning('b', 5), beginning('c', 5)]);
    for (const id of ['a', 'b']) await deviceOffline(prisma, id, 5);
    const held = new Map([
      ['a', 5],
      ['b', 4],
      ['c', 5],
    ]);
    expect(await markOnlineAgain(prisma, held)).toEqual([{ deviceId: 'a', ownerId: device('a').ownerId }]);
    expect(await markOnlineAgain(prisma, held)).toEqual([]);
    expect([await statusOf('a'), await statusOf('b'), await statusOf('c')]).toEqual(['online', 'offline', 'online']);
    expect(await markOnlineAgain(prisma, new Map())).toEqual([]);
  });

  it('begin in the order of their fences: an older one is told that it is too late', async () => {
    await devicesConnected(prisma, [beginning('a', 5)]);
    const found = await devicesConnected(prisma, [beginning('a', 4), beginning('b', 4)]);
    expect(found.get('a')).toBe('gone');
    expect(found.get('b')).toMatchObject({ wasOnline: false });
    expect(await deviceConnected(prisma, beginning('a', 5))).toBeUndefined();
    expect(await deviceConnected(prisma, beginning('a', 6))).toMatchObject({ wasOnline: true });
  });

  it('of a removed or revoked device do not begin, of an unknown one nothing is said', async () => {
    await prisma.device.update({ where: { id: 'a' }, data: { removedAt: new Date() } });
    await prisma.device.update({ where: { id: 'b' }, data: { revokedAt: new Date() } });
    const found = await devicesConnected(
      prisma,
      ['a', 'b', 'c', 'nobody'].map((id) => beginning(id, 1)),
    );
    expect([found.get('a'), found.get('b'), found.has('nobody')]).toEqual(['gone', 'gone', false]);
    expect(found.get('c')).toMatchObject({ wasOnline: false });
    expect(await deviceConnected(prisma, beginning('nobody', 1))).toBeUndefined();
  });

  it('that were open when a newer one begins are lost', async () => {
    await devicesConnected(prisma, [beginning('a', 1), beginning('b', 1)]);
    await devicesConnected(prisma, [beginning('a', 2)]);
    const [newest, older] = await listConnections(prisma, 'a');
    expect([newest?.disconnectedAt, older?.reason]).toEqual([undefined, 'lost']);
    expect((await listConnections(prisma, 'b'))[0]).not.toHaveProperty('reason');
  });

  it('are kept for the newest fifty of each device', async () => {
    for (let fence = 1; fence <= 52; fence += 1)
      await devicesConnected(prisma, [beginning('a', fence), ...(fence > 50 ? [beginning('b', fence)] : [])]);
    expect(await prisma.deviceConnection.count({ where: { deviceId: 'a' } })).toBe(50);
    expect(await prisma.deviceConnection.count({ where: { deviceId: 'b' } })).toBe(2);
  });

  it('end together, each with its own code and reason, whatever is in the reason', async () => {
    const [a, b] = [beginning('a', 1), beginning('b', 1)];
    await devicesConnected(prisma, [a, b]);
    const noted = await connectionsClosed(prisma, [
      { deviceId: 'a', fence: 1, connectionId: a.connectionId, code: 1000, reason: 'good"bye' },
      { deviceId: 'b', fence: 1, connectionId: b.connectionId, code: 1006, reason: 'cut\0off' },
      { deviceId: 'nobody', fence: 1, connectionId: 'none', code: 1006, reason: '' },
    ]);
    expect(noted).toEqual(new Set(['a', 'b']));
    expect((await listConnections(prisma, 'a'))[0]).toMatchObject({ closeCode: 1000, reason: 'good"bye' });
    expect((await listConnections(prisma, 'b'))[0]).toMatchObject({ closeCode: 1006, reason: 'cutoff' });
  });

  // The embedded database has one session: there everything waits for a transaction.
  if (kind === 'postgres')
    it('of a device that is locked elsewhere are left out, and those of the others are not held up', async () => {
      const [a, b] = [beginning('a', 1), beginning('b', 1)];
      let patient: Promise<unknown> = Promise.resolve();
      await withDevice(prisma, 'a', async () => {
        expect([...(await devicesConnected(prisma, [a, b])).keys()]).toEqual(['b']);
        const ending = { deviceId: 'a', fence: 1, connectionId: a.connectionId, code: 1000, reason: '' };
        expect(await connectionsClosed(prisma, [ending])).toEqual(new Set());
        patient = deviceConnected(prisma, a).then(() => connectionClosed(prisma, ending));
        const waiting = () => prisma.$queryRaw<object[]>`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'`;
        while ((await waiting()).length === 0);
        expect(await listConnections(prisma, 'a')).toEqual([]);
      });
      await patient;
      expect(await listConnections(prisma, 'a')).toEqual([expect.objectContaining({ closeCode: 1000 })]);
    });
});
