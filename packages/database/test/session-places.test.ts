import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Database, findPlaces, findSession } from '../src/index.ts';
import { device, onBoth } from './databases.ts';

onBoth('the places of sessions', (open) => {
  let database: Database;
  const insert = (key: string, nativeId: string, values: Readonly<Record<string, unknown>> = {}) =>
    database.models.session.create({
      data: { key, nativeId, ownerId: 'ada', deviceId: 'laptop', agentType: 'claude', ...values },
    });
  const alias = (nativeId: string, sessionKey: string) =>
    database.sql.execute`INSERT INTO session_aliases (device_id, agent_type, native_id, session_key)
      VALUES ('laptop', 'claude', ${nativeId}, ${sessionKey})`;

  beforeAll(async () => {
    database = await open();
    await database.models.device.create({ data: device('laptop') });
    await insert('k1', 'one', { projectPath: '/work', lastMessage: 'a "quoted" {word}, \\ and NULL' });
    await insert('k2', 'NULL', { placeholder: true });
    await insert('k3', 'of bob', { ownerId: 'bob' });
    await insert('k4', 'gone', { deletedAt: new Date() });
    await alias('one before', 'k1');
    await alias('of bob before', 'k3');
    await alias('gone before', 'k4');
    // A deleted session had the name that another one had before.
    await alias('gone', 'k1');
  });
  afterAll(() => database.close());

  const places = async (...natives: string[]) => {
    const asked = natives.map((nativeId) => ({ ownerId: 'ada', sessionId: `laptop:claude:${nativeId}` }));
    const found = await findPlaces(database, asked);
    return asked.map((one) => found.get(one));
  };
  const first = {
    deviceId: 'laptop',
    id: 'laptop:claude:one',
    nativeId: 'one',
    placeholder: false,
    projectPath: '/work',
    lastMessage: 'a "quoted" {word}, \\ and NULL',
  };

  it('are found by the ids of today and by earlier ones, each for itself', async () => {
    const [one, before, placeholder, renamed] = await places('one', 'one before', 'NULL', 'gone');
    expect([one, before, renamed]).toEqual([first, first, first]);
    expect(placeholder).toMatchObject({ id: 'laptop:claude:NULL', placeholder: true });
  });

  it.each(['of bob', 'of bob before', 'gone before', 'unknown', 'a\0b', ''])(
    'are not there for %j',
    async (nativeId) => {
      expect(await places(nativeId, 'one')).toEqual([undefined, first]);
    },
  );

  it('are missing for an invalid session id, and for an unknown person', async () => {
    const right = { ownerId: 'ada', sessionId: 'laptop:claude:one' };
    const wrong = [
      { ...right, sessionId: 'one' },
      { ...right, ownerId: 'a\0da' },
    ];
    expect([...(await findPlaces(database, [...wrong, right])).keys()]).toEqual([right]);
    expect((await findPlaces(database, [])).size).toBe(0);
  });

  describe('match the session', () => {
    it.each(['one', 'one before', 'NULL', 'of bob', 'gone', 'gone before', 'unknown'])('for %s', async (nativeId) => {
      const [place] = await places(nativeId);
      const record = await findSession(database, 'ada', `laptop:claude:${nativeId}`);
      expect(place?.id).toBe(record?.session.id);
      expect(place?.lastMessage).toBe(record?.session.lastMessage);
    });
  });
});
