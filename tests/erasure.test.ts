/** After a deletion, no deleted text is left in any table or in Redis (S4). */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { purge, purgeTasks, sql as statements } from '@relay/database';
import {
  type TestApp,
  type TestDaemon,
  type TestRelay,
  connectApp,
  connectDaemon,
  dumpTestBus,
  startRelay,
} from '@relay/testing';
import { until } from './cluster/until.ts';
import { converse, dumpDatabase, found, reportSets, wordsOf } from './erasure-scene.ts';

describe('deletion', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;

  beforeAll(async () => {
    relay = await startRelay({ identity: true });
    app = await connectApp(relay, { since: '' });
    daemon = await connectDaemon(relay);
  });
  afterAll(() => relay.stop());

  const everything = async () => (await dumpDatabase(relay)) + (await dumpTestBus());

  it('S4: leaves nothing of a session in any table or in Redis, under any of its names', async () => {
    const id = await converse(relay, daemon, app, 'zebra');
    const before = await everything();
    // Proves that the test can fail: most of the markers were stored.
    expect(found(before, wordsOf('zebra')).length).toBeGreaterThanOrEqual(9);
    const { offset } = await app.next('session_update', () => true);
    const tasks = await relay.database.models.task.findMany({ where: { session: { nativeId: 'renamedzebra' } } });
    expect((await relay.call('deleteSession', { params: { id } })).status).toBe(204);
    await app.next('session_removed');
    // Late results of the deleted tasks change nothing.
    for (const task of tasks)
      daemon.event(task.id, 'TASK_COMPLETE', { session_id: 'renamedzebra', result: 'saidzebra, resultzebra' });
    daemon.send({ type: 'report_sessions', sessions: [{ session_id: 'after the ends' }] });
    await app.next('session_update', ({ session }) => (session as { id: string }).id.endsWith(':after the ends'));
    expect(found(await everything(), wordsOf('zebra'))).toEqual([]);
    // A reconnecting app gets a resync instead of the deleted frames.
    const back = await connectApp(relay, { since: offset as string });
    await back.next('resync');
    await back.close();
  });

  const newest = () => app.inbox.all.filter(({ type }) => type === 'session_update').at(-1)!.offset as string;
  const isForgotten = async (since: string) => {
    const back = await connectApp(relay, { since });
    await back.next('resync');
    await back.close();
  };

  it('S4: erases a session from Redis after an outage of Redis', async () => {
    const id = await converse(relay, daemon, app, 'newt');
    const since = newest();
    const forget = jest.spyOn(relay.apis[0]!.backplane, 'forget').mockRejectedValueOnce(new Error('away'));
    expect((await relay.call('deleteSession', { params: { id } })).status).toBe(204);
    await until('it is forgotten', () => forget.mock.calls.length === 2, 30_000);
    forget.mockRestore();
    await isForgotten(since);
    expect(found(await everything(), wordsOf('newt'))).toEqual([]);
  });

  it('S4: erases the sessions of a bulk deletion that could be deleted, even if others fail', async () => {
    const other = await connectDaemon(relay);
    const kept = await converse(relay, other, app, 'toad');
    const id = await converse(relay, daemon, app, 'frog');
    const since = newest();
    const { sql } = relay.database;
    const constraint = `CHECK (device_id <> '${other.deviceId}' OR deleted_at IS NULL)`;
    await sql.execute(statements.raw(`ALTER TABLE sessions ADD CONSTRAINT toads_stay ${constraint}`));
    const body = { action: 'delete' as const, filter: { ids: [id, kept] } };
    expect((await relay.call('changeSessions', { body })).status).toBe(500);
    await sql.execute(statements.raw('ALTER TABLE sessions DROP CONSTRAINT toads_stay'));
    await isForgotten(since);
    expect(found(await dumpDatabase(relay), wordsOf('frog'))).toEqual([]);
    expect((await relay.call('readSession', { params: { id: kept } })).status).toBe(200);
    expect((await relay.call('deleteSession', { params: { id: kept } })).status).toBe(204);
    await other.close();
  });

  it('S4: hides a deleted session that its daemon still reports, until new activity in it', async () => {
    const at = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
    const report = (session_id: string, fields: object) =>
      daemon.send({
        type: 'report_sessions',
        sessions: [
          { session_id, ...fields },
          { session_id: 'marker', ...fields },
        ],
      });
    const idOf = (nativeId: string) => `${daemon.deviceId}:scripted:${nativeId}`;
    const known = (id: string) => app.next('session_update', ({ session }) => (session as { id: string }).id === id);
    report('nativeyak', { title: 'titleyak', last_activity: at(-9), message_count: 1 });
    await known(idOf('nativeyak'));
    await relay.call('deleteSession', { params: { id: idOf('nativeyak') } });
    report('nativeyak', { title: 'titleyak', last_message: 'saidyak', last_activity: at(-8), message_count: 2 });
    await known(idOf('marker'));
    await app.next('session_update', ({ session }) => (session as { messageCount: number }).messageCount === 2);
    const [marker] = await relay.database.models.session.findMany({ where: { nativeId: 'marker' } });
    expect(marker!.title).toBe('titleyak');
    await relay.call('deleteSession', { params: { id: idOf('marker') } });
    expect(found(await everything(), ['nativeyak', 'titleyak', 'saidyak'])).toEqual([]);
    report('nativeyak', { title: 'titleyak', last_activity: at(5), message_count: 3 });
    await known(idOf('nativeyak'));
    const { body } = await relay.call('listSessions');
    const sessions = body.sessions as { id: string; title: string; messageCount: number }[];
    expect(sessions.find(({ id }) => id === idOf('nativeyak'))).toMatchObject({ title: 'titleyak', messageCount: 3 });
  });

  it('S4: erases a device with its sessions, its names and its connections', async () => {
    const words = ['hostnameworg', 'displayworg', 'folderworg', 'setworg'];
    const code = await relay.call('POST', '/api/devices/code', {
      user: null,
      body: { hostname: words[0], agent_type: 'scripted', device_name: words[1] },
    });
    await relay.call('approveCode', { params: { userCode: code.body.user_code as string } });
    const token = await relay.call('pollCode', { user: null, body: { device_code: code.body.device_code } });
    const registration = {
      deviceId: token.body.device_id,
      refreshToken: token.body.refresh_token,
      user: 'alice',
      agentType: 'scripted',
    };
    const other = await connectDaemon(relay, { registration });
    reportSets(other, 'worg');
    await converse(relay, other, app, 'worg');
    expect(found(await everything(), [...words, ...wordsOf('worg')]).length).toBeGreaterThanOrEqual(13);
    expect((await relay.call('deleteDevice', { params: { id: other.deviceId } })).status).toBe(204);
    await app.next('device_removed', ({ deviceId }) => deviceId === other.deviceId);
    await other.closed;
    expect(found(await everything(), [...words, ...wordsOf('worg')])).toEqual([]);
    expect(await relay.database.models.deviceConnection.count({ where: { deviceId: other.deviceId } })).toBe(0);
  });

  it('S4: the next purge erases sessions that an earlier release only hid', async () => {
    const id = await converse(relay, daemon, app, 'vole');
    const database = relay.database;
    await database.models.session.updateMany({ where: { nativeId: 'renamedvole' }, data: { deletedAt: new Date() } });
    await purge(database, 86_400);
    await relay.apis[0]!.backplane.forget('alice');
    expect(found(await dumpDatabase(relay), wordsOf('vole'))).toEqual([]);
    expect((await relay.call('readSession', { params: { id } })).status).toBe(404);
  });

  it('S4: shortens a result an hour after its task completed, and erases it after 30 days', async () => {
    const id = await converse(relay, daemon, app, 'unau');
    const database = relay.database;
    const [task] = await database.models.task.findMany({ where: { result: 'resultunau' } });
    const ended = (hours: number, data: object) =>
      database.models.task.update({
        where: { id: task!.id },
        data: { finishedAt: new Date(Date.now() - hours * 3_600_000), ...data },
      });
    const result = async () => (await database.models.task.findUniqueOrThrow({ where: { id: task!.id } })).result;
    await ended(0.9, { result: 'ł'.repeat(5_000) });
    await purge(database, 86_400);
    expect(await result()).toHaveLength(5_000);
    await ended(1.1, {});
    await purge(database, 86_400);
    expect(Buffer.byteLength((await result())!)).toBeLessThanOrEqual(2048);
    expect((await result())!.length).toBeGreaterThan(1_000);
    await database.models.task.deleteMany({ where: { sessionKey: task!.sessionKey, seq: { gt: task!.seq } } });
    await ended(31 * 24, {});
    await purgeTasks(database);
    expect(await result()).toBe('…');
    await relay.call('deleteSession', { params: { id } });
  });
});
