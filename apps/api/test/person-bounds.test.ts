/** Everything that one user does has a bound (S10), and limits count addresses by network (S8). */
import { afterEach, describe, expect, it } from '@jest/globals';
import { Browser, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { image } from './images.ts';
import { until } from './until.ts';

describe('S10: the bounds of one user', () => {
  let relay: TestRelay;
  afterEach(() => relay.stop());

  it('S10: apps connect up to the limit, the next is refused, and an app that leaves makes room', async () => {
    relay = await startRelay({ config: { socketsPerUser: 2 } });
    const [first] = [await connectApp(relay), await connectApp(relay)];
    await expect(connectApp(relay)).rejects.toMatchObject({ status: 429, body: { code: 'TOO_MANY_CONNECTIONS' } });
    await (await connectApp(relay, { user: 'bob' })).close();
    await first.close();
    await until('there is room', async () => {
      const app = await connectApp(relay).catch(() => undefined);
      return app !== undefined;
    });
  });

  it('S10: an app that sends too many frames is closed with 4429, and other apps are not', async () => {
    relay = await startRelay({ config: { appFramesPerSecond: 1 } });
    const [flood, quiet] = [await connectApp(relay), await connectApp(relay)];
    for (let n = 0; n < 70; n += 1) flood.socket.send('{}');
    expect((await flood.closed).code).toBe(4429);
    quiet.send({ type: 'auth', token: relay.token() });
    await quiet.next('auth_ok');
  });

  it('S10: a user approves devices up to the limit, and removing one makes room', async () => {
    relay = await startRelay({ config: { devicesPerUser: 2 } });
    const ask = async () => {
      const { body } = await relay.call('requestCode', {
        user: null,
        body: { hostname: 'laptop', agent_type: 'scripted' },
      });
      return body.user_code;
    };
    const decide = (code: string, verb: 'approve' | 'deny') => relay.call('POST', `/api/devices/code/${code}/${verb}`);
    const daemon = await connectDaemon(relay);
    // A code that is approved and not fetched yet counts too.
    expect((await decide(await ask(), 'approve')).status).toBe(200);
    const code = await ask();
    expect(await decide(code, 'approve')).toMatchObject({ status: 409, body: { code: 'TOO_MANY_DEVICES' } });
    expect((await decide(await ask(), 'deny')).status).toBe(200);
    await relay.call('deleteDevice', { params: { id: daemon.deviceId } });
    expect((await decide(code, 'approve')).status).toBe(200);
  });

  it('S10: pending invitations have a limit', async () => {
    relay = await startRelay({ identity: true, config: { invitationsPerUser: 1 } });
    const alice = new Browser(relay);
    await alice.signUp('alice@example.com');
    const invite = () => alice.send('POST', '/auth/relay/invitations', { body: {} });
    expect((await invite()).status).toBe(201);
    expect(await invite()).toMatchObject({ status: 409, body: { code: 'TOO_MANY_INVITATIONS' } });
  });

  it('S10: images that wait for all devices of a user share a bound', async () => {
    relay = await startRelay({ config: { waitingImagesMibPerUser: 1 } });
    const headers = { 'X-Daemon-Capabilities': 'images' };
    const daemons = [await connectDaemon(relay, { headers }), await connectDaemon(relay, { headers })];
    for (const daemon of daemons) await daemon.close();
    const images = [image('png', { bytes: 500 * 1024 })];
    const send = (n: number) =>
      relay.call('createSession', { body: { deviceId: daemons[n]!.deviceId, message: 'look', images } });
    expect((await send(0)).status).toBe(201);
    expect(await send(1)).toMatchObject({ status: 409, body: { code: 'QUEUE_FULL' } });
  });

  it('S10: a user can watch a thousand sessions', async () => {
    relay = await startRelay();
    const daemon = await connectDaemon(relay);
    const app = await connectApp(relay);
    daemon.send({ type: 'report_sessions', sessions: [{ session_id: 'one more' }] });
    const { session } = await app.next('session_update');
    const { id } = session as { id: string };
    await relay.database.sql.execute`
      WITH made AS (
        INSERT INTO sessions (key, owner_id, device_id, agent_type, native_id, title, title_source, project_path, file_path,
          last_message, message_count, status)
        SELECT 'k' || n, owner_id, device_id, agent_type, 'n' || n, '', 'report', '', '', '', 0, 'idle'
        FROM sessions, generate_series(1, 1000) n RETURNING key, owner_id)
      INSERT INTO watched_sessions (user_id, session_key) SELECT owner_id, key FROM made`;
    const refused = await relay.call('watch', { body: { sessionId: id } });
    expect(refused).toMatchObject({ status: 409, body: { code: 'TOO_MANY_WATCHED' } });
    const again = await relay.call('watch', { body: { sessionId: id.replace('one more', 'n7') } });
    expect(again.status).toBe(200);
  });

  it('S8: the addresses of one /64 share a limit, the next /64 has another', async () => {
    relay = await startRelay({ config: { trustProxy: 1, rateLimitPerMinute: 2 } });
    const from = async (address: string) =>
      (await relay.call('me', { user: null, headers: { 'X-Forwarded-For': address } })).status;
    expect(await from('2001:db8:1:2::1')).toBe(401);
    expect(await from('2001:db8:1:2:ffff::7')).toBe(401);
    expect(await from('2001:db8:1:2:aaaa:bbbb:cccc:dddd')).toBe(429);
    expect(await from('2001:db8:1:3::1')).toBe(401);
    expect(await from('192.0.2.1')).toBe(401);
    expect(await from('::ffff:192.0.2.1')).toBe(401);
    expect(await from('192.0.2.1')).toBe(429);
  });
});
