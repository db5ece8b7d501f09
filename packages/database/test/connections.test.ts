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
  offlineAmong,
  touchDevices,
  withDevice,
} from '../src/index.ts';
import { device, onBoth } from './databases.ts';

onBoth('the connections of daemons', (open, kind) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.models.device.deleteMany();
    await database.models.device.createMany({ data: ['a', 'b', 'c'].map((id) => device(id)) });
  });

  let last = 0;
  const beginning = (deviceId: string, fence: number): Beginning => ({
    deviceId,
    fence,
    connectionId: `connection-${(last += 1)}`,
    daemonVersion: '1.0.0',
    capabilities: ['images', fence % 2 === 0 ? 'even' : 'odd'],
    agents: [],
    instance: 'gateway-1',
    hostname: '',
    address: '',
  });
  const statusOf = async (id: string) => (await database.models.device.findUniqueOrThrow({ where: { id } })).status;

  it('begin together: each device is online, and its connection is noted', async () => {
    const found = await devicesConnected(database, [beginning('a', 1), beginning('b', 2)]);
    const { ownerId } = device('a');
    expect(found).toEqual(
      new Map([
        ['a', { ownerId, wasOnline: false, reportHash: null }],
        ['b', { ownerId: device('b').ownerId, wasOnline: false, reportHash: null }],
      ]),
    );
    expect([await statusOf('a'), await statusOf('b'), await statusOf('c')]).toEqual(['online', 'online', 'offline']);
    expect(await capabilitiesOf(database, 'b')).toEqual(['images', 'even']);
    expect(await listConnections(database, 'a')).toEqual([
      expect.objectContaining({ daemonVersion: '1.0.0', instance: 'gateway-1' }),
    ]);
  });

  it('that are still the newest bring their devices back online, each once', async () => {
    await devicesConnected(database, [beginning('a', 5), beginning('b', 5), beginning('c', 5)]);
    for (const id of ['a', 'b']) await deviceOffline(database, id, 5);
    const held = new Map([
      ['a', 5],
      ['b', 4],
      ['c', 5],
    ]);
    expect(await offlineAmong(database, ['a', 'c', 'unknown'])).toEqual(['a']);
    // A frozen list is a text for PostgreSQL.
    expect((await offlineAmong(database, Object.freeze(['"', 'b', '\\,', 'a']))).sort()).toEqual(['a', 'b']);
    expect(await markOnlineAgain(database, held)).toEqual([{ deviceId: 'a', ownerId: device('a').ownerId }]);
    expect(await markOnlineAgain(database, held)).toEqual([]);
    expect([await statusOf('a'), await statusOf('b'), await statusOf('c')]).toEqual(['online', 'offline', 'online']);
    expect(await markOnlineAgain(database, new Map())).toEqual([]);
  });

  it('open in the order of their fences: an older one is rejected as late', async () => {
    await devicesConnected(database, [beginning('a', 5)]);
    const found = await devicesConnected(database, [beginning('a', 4), beginning('b', 4)]);
    expect(found.get('a')).toBe('gone');
    expect(found.get('b')).toMatchObject({ wasOnline: false });
    expect(await deviceConnected(database, beginning('a', 5))).toBeUndefined();
    expect(await deviceConnected(database, beginning('a', 6))).toMatchObject({ wasOnline: true });
  });

  it('of a removed or revoked device are rejected, of an unknown device ignored', async () => {
    await database.models.device.update({ where: { id: 'a' }, data: { removedAt: new Date() } });
    await database.models.device.update({ where: { id: 'b' }, data: { revokedAt: new Date() } });
    const found = await devicesConnected(
      database,
      ['a', 'b', 'c', 'nobody'].map((id) => beginning(id, 1)),
    );
    expect([found.get('a'), found.get('b'), found.has('nobody')]).toEqual(['gone', 'gone', false]);
    expect(found.get('c')).toMatchObject({ wasOnline: false });
    expect(await deviceConnected(database, beginning('nobody', 1))).toBeUndefined();
  });

  it('that were open when a newer one begins are lost', async () => {
    await devicesConnected(database, [beginning('a', 1), beginning('b', 1)]);
    await devicesConnected(database, [beginning('a', 2)]);
    const [newest, older] = await listConnections(database, 'a');
    expect([newest?.disconnectedAt, older?.reason]).toEqual([undefined, 'lost']);
    expect((await listConnections(database, 'b'))[0]).not.toHaveProperty('reason');
  });

  it('are kept for the newest fifty of each device', async () => {
    for (let fence = 1; fence <= 52; fence += 1)
      await devicesConnected(database, [beginning('a', fence), ...(fence > 50 ? [beginning('b', fence)] : [])]);
    expect(await database.models.deviceConnection.count({ where: { deviceId: 'a' } })).toBe(50);
    expect(await database.models.deviceConnection.count({ where: { deviceId: 'b' } })).toBe(2);
  });

  it('close together, each with its own code and reason, for any reason text', async () => {
    const [a, b] = [beginning('a', 1), beginning('b', 1)];
    await devicesConnected(database, [a, b]);
    const noted = await connectionsClosed(database, [
      { deviceId: 'a', fence: 1, connectionId: a.connectionId, code: 1000, reason: 'good"bye' },
      { deviceId: 'b', fence: 1, connectionId: b.connectionId, code: 1006, reason: 'cut\0off' },
      { deviceId: 'nobody', fence: 1, connectionId: 'none', code: 1006, reason: '' },
    ]);
    expect(noted).toEqual(new Set(['a', 'b']));
    expect((await listConnections(database, 'a'))[0]).toMatchObject({ closeCode: 1000, reason: 'good"bye' });
    expect((await listConnections(database, 'b'))[0]).toMatchObject({ closeCode: 1006, reason: 'cutoff' });
  });

  // The embedded database has one session: there everything waits for a transaction.
  if (kind === 'postgres')
    it('of a device locked elsewhere are skipped, without delaying other devices', async () => {
      const [a, b] = [beginning('a', 1), beginning('b', 1)];
      let patient: Promise<unknown> = Promise.resolve();
      await withDevice(database, 'a', async () => {
        expect([...(await devicesConnected(database, [a, b])).keys()]).toEqual(['b']);
        const ending = { deviceId: 'a', fence: 1, connectionId: a.connectionId, code: 1000, reason: '' };
        expect(await connectionsClosed(database, [ending])).toEqual(new Set());
        patient = deviceConnected(database, a).then(() => connectionClosed(database, ending));
        const waiting = () => database.sql.query<object>`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'`;
        while ((await waiting()).length === 0);
        expect(await listConnections(database, 'a')).toEqual([]);
      });
      await patient;
      expect(await listConnections(database, 'a')).toEqual([expect.objectContaining({ closeCode: 1000 })]);
    });

  if (kind === 'postgres')
    it('are saved as alive together, without waiting for a device locked elsewhere', async () => {
      await devicesConnected(database, [beginning('a', 1), beginning('b', 1)]);
      await database.sql.execute`UPDATE devices SET last_seen_at = 'epoch'`;
      await withDevice(database, 'a', () => touchDevices(database, ['a', 'b', 'c']));
      const touched = await database.sql.query<{ id: string }>`SELECT id FROM devices WHERE last_seen_at > 'epoch'`;
      expect(touched).toEqual([{ id: 'b' }]);
    });
});
