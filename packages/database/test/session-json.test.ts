import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Session, validator } from '@relay/protocol';
import { type Database, listSessions, readSessions } from '../src/index.ts';
import { device, onBoth } from './databases.ts';

const tricky = 'a "quoted" \\ line\n\t\r\b\f\u0001\u007f\u2028 ß 漢 🐢 </script>';
const question = (id: string) => ({ id, prompt: tricky, result: '', options: [], at: '2026-01-02T03:04:05.000Z' });
const progress = { action: 'reads', target: tricky, at: '2026-01-02T03:04:05.000Z' };
const time = '2026-01-02T03:04:05';

const plain = {
  id: 'd:claude:native:1',
  title: '',
  status: 'idle',
  agentType: 'claude',
  deviceId: 'd',
  projectPath: '',
  createdAt: `${time}.006Z`,
  updatedAt: `${time}.000Z`,
  messageCount: 0,
  lastMessage: '',
  archived: false,
  watched: false,
};

onBoth('a session as PostgreSQL writes it', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
    await database.models.device.create({ data: device('d') });
  });
  afterAll(() => database.close());

  const isSession = validator(Session);

  async function insert(key: string, nativeId: string, values: Readonly<Record<string, unknown>> = {}) {
    const data = { ownerId: 'user-1', deviceId: 'd', agentType: 'claude', key, nativeId };
    const times = { createdAt: new Date(`${time}.006Z`), updatedAt: new Date(`${time}.000Z`) };
    await database.models.session.create({ data: { ...data, ...times, ...values } });
  }
  const task = async (id: string, key: string, values: Readonly<Record<string, unknown>>) => {
    const data = { id, sessionKey: key, deviceId: 'd', ownerId: 'user-1', kind: 'start', instruction: '' };
    await database.models.task.create({ data: { ...data, expiresAt: new Date(Date.now() + 60_000), ...values } });
  };
  const ask = async (key: string, id: string) => {
    await database.sql.execute`INSERT INTO prompts (session_key, uuid, device_id, state, payload)
      VALUES (${key}, ${id}, 'd', 'open', ${JSON.stringify(question(id))}::jsonb)`;
  };

  /** The session in a list, its members in their order; the same as it is read by itself. */
  async function written(key: string): Promise<string> {
    const filter = { archived: 'all', keys: [key], limit: 1 } as const;
    const [listed] = (await listSessions(database, 'user-1', filter)).sessions;
    const session = JSON.parse(listed!.json) as unknown;
    expect(isSession(session)).toMatchObject({ ok: true });
    expect((await readSessions(database, [key]))[0]!.session).toEqual(session);
    // The members of a column of JSON are in the order of the database.
    return JSON.stringify(session);
  }

  it('omits members without a value', async () => {
    await insert('plain', 'native:1');
    expect(await written('plain')).toBe(JSON.stringify(plain));
  });

  it('has every text as it is', async () => {
    const texts = { title: tricky, projectPath: tricky, lastMessage: tricky };
    await insert('texts', tricky, texts);
    expect(await written('texts')).toBe(JSON.stringify({ ...plain, ...texts, id: `d:claude:${tricky}` }));
  });

  it('has every member that its owner has given it, and its task', async () => {
    const newsAt = new Date(`${time}.120Z`);
    const given = { status: 'active', archived: true, notify: 'off', pinnedAt: newsAt, newsAt, messageCount: 7 };
    await insert('full', 'full', { ...given, progress });
    await database.sql.execute`INSERT INTO watched_sessions (user_id, session_key) VALUES ('user-1', 'full')`;
    await task('t1', 'full', { state: 'running', sentAt: newsAt });
    await task('t2', 'full', { state: 'queued' });
    const session = JSON.parse(await written('full')) as Session;
    const v = session.queue?.v;
    expect(session).toEqual({
      ...{ ...plain, id: 'd:claude:full', status: 'active', archived: true, watched: true, notify: 'off' },
      ...{ pinned: true, unread: true, newsAt: newsAt.toISOString(), runningSince: newsAt.toISOString() },
      ...{ messageCount: 7, progress, queue: { count: 1, v } },
      lastTask: { id: 't2', state: 'queued' },
    });
    await database.sql.execute`UPDATE sessions SET status = 'idle', read_at = news_at WHERE key = 'full'`;
    const later = JSON.parse(await written('full')) as Session;
    expect({ progress: later.progress, unread: later.unread }).toEqual({});
  });

  it('is failed with its code when its last task has expired', async () => {
    await insert('late', 'late', { status: 'pending' });
    await task('t3', 'late', { state: 'queued', expiresAt: new Date(0) });
    expect(JSON.parse(await written('late'))).toEqual({
      ...{ ...plain, id: 'd:claude:late', status: 'failed' },
      lastTask: { id: 't3', state: 'expired', code: 'TASK_EXPIRED' },
    });
  });

  it('shows the oldest open question while it waits, also a question of an earlier release without an id', async () => {
    await insert('asks', 'asks', { status: 'waiting' });
    await ask('asks', 'q1');
    await ask('asks', 'q2');
    const prompts = [question('q1'), question('q2')];
    const id = 'd:claude:asks';
    expect(JSON.parse(await written('asks'))).toEqual({ ...plain, id, status: 'waiting', prompt: prompts[0], prompts });
    const { id: _id, ...old } = question('');
    await insert('old', 'old', { status: 'waiting', prompt: old });
    expect(JSON.parse(await written('old'))).toEqual({ ...plain, id: 'd:claude:old', status: 'waiting', prompt: old });
    await database.sql.execute`UPDATE sessions SET status = 'active', prompt = '{"id": "q0"}' WHERE key = 'asks'`;
    expect(JSON.parse(await written('asks'))).toEqual({ ...plain, id, status: 'active', prompts });
  });
});
