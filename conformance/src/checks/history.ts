/** History belongs to the daemon; the relay requests pages of it (specification §2.4, §4.1, §6.2, §6.3; rules, 6.16). */
import { randomUUID } from 'node:crypto';
import { type Check, rule, specification } from '../check.ts';
import type { StoredMessage } from '../daemon.ts';
import { must, same } from '../expect.ts';
import { type Session, type World, nowText } from '../world.ts';

const messageFields = ['uuid', 'role', 'content', 'timestamp'];

/** A session with this many messages in the history of the daemon. */
async function told(world: World, count: number): Promise<{ session: Session; stored: StoredMessage[] }> {
  const session = await world.session({ message_count: count, last_message: `message ${count - 1}` });
  const stored = Array.from({ length: count }, (_, index): StoredMessage => ({
    uuid: randomUUID(),
    role: index % 2 === 0 ? 'USER' : 'AGENT',
    content: `message ${index}`,
    timestamp: new Date(Date.UTC(2024, 0, 1, 0, 0, index)).toISOString(),
  }));
  (await world.desk()).history.set(session.native, stored);
  return { session, stored };
}

/** The `get_messages` frames caused by an app's request: a relay can also send its own, with another limit. */
const asked = async (world: World, session: Session, limits: readonly number[] = [2, 50]) =>
  (await world.desk()).inbox.all(
    'get_messages',
    ({ session_id, limit }) => session_id === session.native && limits.includes(limit),
  );

export const history: readonly Check[] = [
  specification(
    '§4.1',
    'GET /api/sessions/:id',
    'answers the session with its recent messages, which the daemon was asked for',
    async (world) => {
      const { session, stored } = await told(world, 3);
      const { body } = await world.rest.ok('readSession', { params: { id: session.id } });
      same(body.id, session.id, 'id');
      same(body.messages, stored, 'messages');
      same(
        [body.hasMore, body.oldestUuid, body.newestUuid, body.messagesError],
        [false, stored[0]?.uuid, stored[2]?.uuid, undefined],
        'hasMore, oldestUuid, newestUuid, messagesError',
      );
      const [frame] = await asked(world, session);
      same(
        [frame?.limit, frame?.before_uuid, frame?.after_uuid],
        [50, undefined, undefined],
        'limit, before_uuid, after_uuid',
      );
    },
    {
      also: ['§6.2 get_messages', '§6.3 messages', ...messageFields.map((field) => `§2.4 Message ${field}`)],
    },
  ),
  specification(
    '§6.2',
    'get_messages rules',
    'limit, before and after become limit, before_uuid and after_uuid; the page and has_more come back',
    async (world) => {
      const { rest } = world;
      const { session, stored } = await told(world, 6);
      const params = { id: session.id };
      const uuids = stored.map(({ uuid }) => uuid);
      const page = async (query: Record<string, string | number>) => {
        const { body } = await rest.ok('readMessages', { params, query });
        return [body.messages.map(({ uuid }) => uuid), body.hasMore, body.oldestUuid, body.newestUuid];
      };
      same(await page({ limit: 2 }), [uuids.slice(4), true, uuids[4], uuids[5]], 'the last two');
      same(
        await page({ limit: 2, before: uuids[4]! }),
        [uuids.slice(2, 4), true, uuids[2], uuids[3]],
        'the two before',
      );
      same(await page({ after: uuids[3]! }), [uuids.slice(4), false, uuids[4], uuids[5]], 'those after');
      const frames = await asked(world, session);
      same(
        frames.map(({ limit, before_uuid, after_uuid }) => [limit, before_uuid, after_uuid]),
        [
          [2, undefined, undefined],
          [2, uuids[4], undefined],
          [50, undefined, uuids[3]],
        ],
        'limit, before_uuid and after_uuid of the frames',
      );
      same(new Set(frames.map(({ request_id }) => request_id)).size, 3, 'different request_ids');
    },
  ),
  rule('6.16', 'limit is 1 to 200: anything else is 400', async (world) => {
    const { id } = await world.session();
    for (const limit of [0, 201, 'many', 1.5])
      await world.rest.refused('readMessages', 'INVALID_REQUEST', { params: { id }, query: { limit } });
  }),
  rule('6.17', 'a messages frame without oldest_uuid and newest_uuid is a page all the same', async (world) => {
    const session = await world.session();
    const uuid = randomUUID();
    const messages = [{ uuid, role: 'AGENT', content: 'the only one', timestamp: nowText() }];
    (await world.desk()).answers(session.native, () => ({ messages }));
    const { body } = await world.rest.ok('readMessages', { params: { id: session.id } });
    same([body.messages.length, body.hasMore, body.oldestUuid, body.newestUuid], [1, false, uuid, uuid], 'the page');
  }),
  rule('6.16', 'a messages frame with error is 502 DEVICE_ERROR, and messagesError of the session', async (world) => {
    const session = await world.session();
    const params = { id: session.id };
    (await world.desk()).answers(session.native, () => ({ error: 'the disk is on fire', messages: [] }));
    await world.rest.refused('readMessages', 'DEVICE_ERROR', { params });
    const { body } = await world.rest.ok('readSession', { params });
    same([body.messages, body.messagesError?.code], [[], 'DEVICE_ERROR'], 'messages and messagesError.code');
  }),
  rule(
    '6.16',
    'history of a device that is away: 503 DEVICE_OFFLINE, and messagesError of the session',
    async (world) => {
      const daemon = await world.open(await world.device('away'));
      const { id } = await world.session({}, daemon);
      await daemon.close();
      // A pending request gets the same answer as a later one.
      await world.rest.refused('readMessages', 'DEVICE_OFFLINE', { params: { id } });
      const { body } = await world.rest.ok('readSession', { params: { id } });
      same([body.messages, body.messagesError?.code], [[], 'DEVICE_OFFLINE'], 'messages and messagesError.code');
    },
  ),
  rule(
    '9.8',
    'only the device that was asked is heard: strays and frames of other devices are dropped',
    async (world) => {
      const session = await world.session();
      const desk = await world.desk();
      const other = await world.open(await world.device('stray'));
      const otherSession = await world.session({}, other);
      const lie = (request_id: string) => ({
        type: 'messages',
        request_id,
        session_id: session.native,
        messages: [{ uuid: randomUUID(), role: 'AGENT', content: 'a lie', timestamp: nowText() }],
        has_more: false,
      });
      desk.answers(session.native, () => undefined);
      desk.send(lie('nobody-asked'));
      const from = desk.inbox.mark();
      const reading = world.rest.ok('readMessages', { params: { id: session.id } });
      const { request_id } = await desk.inbox.until('get_messages', ({ session_id }) => session_id === session.native, {
        from,
      });
      other.send(lie(request_id));
      await world.caughtUp(otherSession, other);
      const truth = { uuid: randomUUID(), role: 'AGENT', content: 'the truth', timestamp: nowText() };
      desk.send({ type: 'messages', request_id, session_id: session.native, messages: [truth], has_more: false });
      const { body } = await reading;
      same(
        body.messages.map(({ content }) => content),
        ['the truth'],
        'messages',
      );
      await other.close();
    },
  ),
  rule('9.8', 'identical requests at the same time share one frame', async (world) => {
    const desk = await world.desk();
    const framesWhen = async (roundTrips: number) => {
      const session = await world.session();
      const params = { id: session.id };
      const uuid = randomUUID();
      const page = { messages: [{ uuid, role: 'USER', content: 'shared', timestamp: nowText() }], has_more: false };
      let isHeld = true;
      desk.answers(session.native, ({ limit }) => (isHeld && limit === 50 ? undefined : page));
      const from = desk.inbox.mark();
      const reading = [1, 2, 3].map(() => world.rest.ok('readMessages', { params }));
      const held = await desk.inbox.until('get_messages', ({ session_id }) => session_id === session.native, { from });
      for (let trip = 0; trip < roundTrips; trip += 1)
        await world.rest.ok('readMessages', { params, query: { limit: 7 + (trip % 2) } });
      isHeld = false;
      desk.send({ type: 'messages', request_id: held.request_id, session_id: session.native, ...page });
      for (const answer of await Promise.all(reading)) same(answer.body.newestUuid, uuid, 'newestUuid of each answer');
      const isOne = ({ session_id, limit }: { session_id: string; limit: number }) =>
        session_id === session.native && limit === 50;
      return desk.inbox.all('get_messages', isOne, from).length;
    };
    // A frame that arrives after the answer belongs to another request: on a busy machine the answer waits for more
    // round trips.
    let frames = 0;
    for (const roundTrips of [2, 8, 24]) {
      frames = await framesWhen(roundTrips);
      if (frames === 1) break;
    }
    same(frames, 1, 'frames for three identical requests');
  }),
  rule(
    '9.8',
    'a daemon that does not answer within 10 s: 504 DEVICE_TIMEOUT, and messagesError of the session',
    async (world) => {
      const session = await world.session();
      const params = { id: session.id };
      (await world.desk()).answers(session.native, () => undefined);
      const reading = world.rest.ok('readSession', { params });
      await world.rest.refused('readMessages', 'DEVICE_TIMEOUT', { params });
      const { body } = await reading;
      must(
        body.messagesError?.code === 'DEVICE_TIMEOUT',
        `expected messagesError DEVICE_TIMEOUT, came ${body.messagesError?.code}`,
      );
    },
    'slow',
  ),
];
