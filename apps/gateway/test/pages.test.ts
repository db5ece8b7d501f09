import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Frame,
  type TestApp,
  type TestDaemon,
  type TestRelay,
  connectApp,
  connectDaemon,
  startRelay,
} from '@relay/testing';
import { idOf, idleSession, path } from './conversation.ts';

interface Stored {
  uuid: string;
  role: string;
  content: string;
  timestamp: string;
}

describe('pages of daemons in the field', () => {
  let relay: TestRelay;
  let app: TestApp;
  let daemon: TestDaemon;
  let session = 0;

  const all: Stored[] = Array.from({ length: 12 }, (_, index) => ({
    uuid: `m${index}`,
    role: index % 2 ? 'AGENT' : 'USER',
    content: `message ${index}`,
    timestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, index)).toISOString(),
  }));
  const uuids = (from: number, to: number) => all.slice(from, to).map(({ uuid }) => uuid);

  /** A new session whose history is answered so. */
  const answering = async (answer: (frame: Frame) => Record<string, unknown>) => {
    session += 1;
    const native = `native-${session}`;
    await idleSession(relay, daemon, app, native);
    const asked: Frame[] = [];
    daemon.socket.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString('utf8')) as Frame;
      if (frame.type !== 'get_messages' || frame.session_id !== native) return;
      asked.push(frame);
      daemon.send({ type: 'messages', request_id: frame.request_id, session_id: native, ...answer(frame) });
    });
    const read = async (query = '') => {
      const { status, body } = await relay.call('GET', path(idOf(daemon, native), `/messages${query}`));
      return { status, body, uuids: (body.messages as Stored[] | undefined)?.map(({ uuid }) => uuid) };
    };
    return { read, asked };
  };
  const between = (frame: Frame) => {
    const at = (uuid: unknown) => all.findIndex((message) => message.uuid === uuid);
    return all.slice(
      frame.after_uuid === undefined ? 0 : at(frame.after_uuid) + 1,
      frame.before_uuid === undefined ? undefined : at(frame.before_uuid),
    );
  };
  /** The first ones of the range, where the specification wants the last ones. */
  const firstOnes = (frame: Frame) => {
    const range = between(frame);
    const messages = range.slice(0, frame.limit as number);
    return { messages, has_more: range.length > messages.length };
  };
  const lastOnes = (frame: Frame) => {
    const range = between(frame);
    const messages = range.slice(-(frame.limit as number));
    return { messages, has_more: range.length > messages.length };
  };

  beforeAll(async () => {
    relay = await startRelay();
    app = await connectApp(relay);
    daemon = await connectDaemon(relay);
  });
  afterAll(() => relay.stop());

  it('K5: shows the valid messages of a page with invalid ones, and fails with 502 immediately if none is valid', async () => {
    const bad = [7, null, { uuid: 'x' }, { uuid: '', role: 'USER', content: '' }];
    const some = await answering(() => ({ messages: [all[0], ...bad, all[1]], has_more: false }));
    expect(await some.read()).toMatchObject({ status: 200, uuids: ['m0', 'm1'] });
    const none = await answering(() => ({ messages: bad }));
    expect(await none.read()).toMatchObject({ status: 502, body: { code: 'DEVICE_ERROR' } });
    const odd = await answering(() => ({ messages: { m0: all[0] } }));
    expect(await odd.read()).toMatchObject({ status: 502, body: { code: 'DEVICE_ERROR' } });
    expect(await relay.gateways[0]!.metrics.text()).toMatch(
      /relay_daemon_frames_ignored_total\{[^}]*cause="message"[^}]*\} 8/,
    );
  });

  it('F12: a page that contains its own cursor is the last', async () => {
    const { read } = await answering(() => ({ messages: all.slice(-4), has_more: true }));
    expect((await read('?limit=4')).uuids).toEqual(uuids(8, 12));
    expect(await read('?limit=4&before=m8')).toMatchObject({ uuids: [], body: { hasMore: false } });
    expect(await read('?limit=4&before=m10')).toMatchObject({ uuids: ['m8', 'm9'], body: { hasMore: false } });
    expect(await read('?limit=4&after=m10')).toMatchObject({
      uuids: ['m11'],
      body: { hasMore: false, newestUuid: 'm11' },
    });
  });

  it('F12: a page that repeats the one before is the last', async () => {
    const { read } = await answering(() => ({ messages: all.slice(-2), has_more: true }));
    expect((await read('?limit=4&before=m7')).body).toMatchObject({ hasMore: true });
    expect((await read('?limit=4&before=m5')).body).toMatchObject({ hasMore: false });
  });

  it('K10: after a cursor the page is the last ones, also of a daemon that answers the first ones', async () => {
    const { read } = await answering(firstOnes);
    expect(await read('?limit=3&after=m1')).toMatchObject({
      uuids: uuids(9, 12),
      body: { hasMore: true, oldestUuid: 'm9', newestUuid: 'm11' },
    });
    expect(await read('?limit=3&after=m8')).toMatchObject({ uuids: uuids(9, 12), body: { hasMore: false } });
  });

  it("K10: returns a cursor to continue from when a daemon's pages never stop", async () => {
    let next = 0;
    const { read, asked } = await answering(() => ({
      messages: [{ ...all[0], uuid: `endless-${(next += 1)}` }],
      has_more: true,
    }));
    const { body } = await read('?limit=3&after=m1');
    expect(body).toMatchObject({ hasMore: true, newestUuid: `endless-${asked.length}` });
    expect(asked).toHaveLength(11);
  });

  it('K10: costs a daemon that answers the last ones one question more, and only where there is more', async () => {
    const { read, asked } = await answering(lastOnes);
    expect((await read('?limit=3&after=m1')).uuids).toEqual(uuids(9, 12));
    expect(asked.map((frame) => frame.after_uuid)).toEqual(['m1', 'm11']);
    expect((await read('?limit=3&after=m9')).uuids).toEqual(uuids(10, 12));
    expect(asked).toHaveLength(3);
  });

  it('K15: the newest page is the newest of a daemon that begins with the oldest', async () => {
    const { read } = await answering(firstOnes);
    expect(await read('?limit=4')).toMatchObject({
      uuids: uuids(8, 12),
      body: { hasMore: true, oldestUuid: 'm8', newestUuid: 'm11' },
    });
    expect((await read('?limit=2&after=m0&before=m8')).uuids).toEqual(uuids(6, 8));
  });

  it('K15: a page with the newest message first is turned round', async () => {
    const { read } = await answering(() => ({
      messages: all.slice(-3).reverse(),
      has_more: false,
      oldest_uuid: 'm11',
      newest_uuid: 'm9',
    }));
    expect(await read()).toMatchObject({ uuids: uuids(9, 12), body: { oldestUuid: 'm9', newestUuid: 'm11' } });
  });
});
