/** Devices over REST, and how they go online and offline (specification §2.2, §3, §4.1; rules, chapter 7). */
import { type Check, rule, specification } from '../check.ts';
import { daemonHeaders, daemonVersion } from '../daemon.ts';
import { matches, must, oneOf, present, same } from '../expect.ts';
import { register } from '../register.ts';
import { refused } from '../socket.ts';

export const devices: readonly Check[] = [
  specification(
    '§3',
    'Device of any status: daemon connects',
    'the device is online, and the apps of its user get device_status',
    async (world) => {
      const device = await world.device('presence');
      const { inbox } = await world.plain();
      const from = inbox.mark();
      const daemon = await world.open(device);
      const frame = await inbox.until('device_status', ({ deviceId }) => deviceId === device.id, { from });
      same(frame.status, 'online', 'status');
      await daemon.close();
    },
    { also: ['§6.1 device_status'] },
  ),
  specification(
    '§4.1',
    'GET /api/devices',
    'lists the device with id, name, hostname, agentType, status online and lastSeenAt',
    async (world) => {
      const daemon = await world.desk();
      // The relay handles frames of the daemon only once its device is online.
      await world.session({}, daemon);
      const { id, hostname, agentType } = daemon.device;
      const { body } = await world.rest.ok('listDevices');
      const found = present(
        body.devices.find((device) => device.id === id),
        'the registered device in the list',
      );
      same(
        [found.hostname, found.agentType, found.name, found.status],
        [hostname, agentType, hostname, 'online'],
        'hostname, agentType, name, status',
      );
      matches(found.lastSeenAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, 'lastSeenAt');
    },
    { also: ['id', 'name', 'hostname', 'agentType', 'status', 'lastSeenAt'].map((field) => `§2.2 ${field}`) },
  ),
  rule(
    '6.14 PATCH /api/devices/:id',
    'renames a device; an empty name is 400, an unknown device 404',
    async (world) => {
      const { id } = await world.device('renamed');
      const { body } = await world.rest.ok('updateDevice', { params: { id }, body: { name: 'Renamed' } });
      same([body.id, body.name], [id, 'Renamed'], 'id and name');
      await world.rest.refused('updateDevice', 'INVALID_REQUEST', { params: { id }, body: { name: '' } });
      await world.rest.refused('updateDevice', 'DEVICE_NOT_FOUND', { params: { id: 'nobody' }, body: { name: 'x' } });
    },
  ),
  specification(
    '§5',
    'X-Daemon-Version',
    'the version that the daemon declares is shown with its connection',
    async (world) => {
      const daemon = await world.desk();
      await world.session({}, daemon);
      const { body } = await world.rest.ok('listConnections', { params: { id: daemon.device.id } });
      const [newest] = body.connections;
      same(newest?.daemonVersion, daemonVersion, 'daemonVersion of the newest connection');
      must(newest?.instance !== '', 'expected the instance that holds the connection, came an empty text');
      same(newest?.disconnectedAt, undefined, 'disconnectedAt of the live connection');
    },
    { also: ['§9 point 2 version of the daemon'] },
  ),
  rule(
    '7.9 DELETE /api/devices/:id',
    'the user removes a device: 204, its socket is closed with 4404, its credential refused',
    async (world) => {
      const { rest } = world;
      const device = await register(rest, 'conformance-removed');
      const daemon = await world.open(device);
      const { id } = await world.session({}, daemon);
      const app = await world.app();
      const from = app.inbox.mark();
      await rest.ok('deleteDevice', { params: { id: device.id } });
      await daemon.live.mustClose(4404, 'removing the device');
      await app.inbox.until('device_removed', ({ deviceId }) => deviceId === device.id, { from });
      const { status, code } = await refused(`${world.wsUrl}/ws/daemon`, { headers: daemonHeaders(device) });
      same(status, 401, 'status of the next upgrade');
      oneOf(code, ['TOKEN_REVOKED', 'INVALID_TOKEN'], 'code of the next upgrade');
      await rest.refused('deleteDevice', 'DEVICE_NOT_FOUND', { params: { id: device.id } });
      const { body } = await rest.ok('listSessions', { query: { deviceId: device.id } });
      same(body.sessions, [], 'sessions of the removed device');
      await rest.refused('readSession', 'SESSION_NOT_FOUND', { params: { id } });
    },
  ),
  rule(
    '7.9 DELETE /api/devices/:id',
    'a device removes itself with its own refresh token; when it is gone the answer is 404',
    async ({ rest, device }) => {
      const other = await device('desk');
      const gone = await register(rest, 'conformance-unregistered');
      const foreign = await rest.call('deleteDevice', { params: { id: other.id }, as: gone.token });
      oneOf(foreign.status, [401, 403, 404], "status of removing another user's device");
      await rest.ok('deleteDevice', { params: { id: gone.id }, as: gone.token });
      await rest.refused('deleteDevice', 'DEVICE_NOT_FOUND', { params: { id: gone.id }, as: gone.token });
    },
  ),
  rule(
    '4.11',
    'a device that stays away is offline after the grace of 10 s, and the apps hear it',
    async (world) => {
      const device = await world.device('presence');
      const { inbox } = await world.plain();
      const daemon = await world.open(device);
      daemon.status([]);
      await world.session({}, daemon);
      const from = inbox.mark();
      await daemon.close();
      const frame = await inbox.until('device_status', ({ deviceId }) => deviceId === device.id, {
        from,
        withinMs: 40_000,
      });
      same(frame.status, 'offline', 'status');
      const { body } = await world.rest.ok('listDevices');
      same(body.devices.find(({ id }) => id === device.id)?.status, 'offline', 'status in the list');
    },
    'slow',
  ),
];
