/** `/ws/attention`: authentication, close codes, and how a client resumes (specification §4.2, §5; rules, chapter 11). */
import { randomUUID } from 'node:crypto';
import type { AttentionFrame } from '@relay/protocol';
import type { AppOptions } from '../app.ts';
import { type Check, rule, specification } from '../check.ts';
import { must, present, same } from '../expect.ts';
import { refused } from '../socket.ts';
import type { World } from '../world.ts';
import { badTokens } from './authentication.ts';

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const door = (world: World, query: Record<string, string> = {}) =>
  `${world.wsUrl}/ws/attention?${new URLSearchParams(query).toString()}`;
/** Causes a frame about the session that every app of the user gets. */
const rename = async ({ rest }: World, id: string, title: string) =>
  rest.ok('updateSession', { params: { id }, body: { title } });
const titled = (title: string) => (frame: Extract<AttentionFrame, { type: 'session_update' }>) =>
  frame.session.title === title;

export const attention: readonly Check[] = [
  specification(
    '§4.2',
    '/ws/attention',
    'an app gets real-time updates, with its token in the Authorization header or the query',
    async (world) => {
      const { token } = world;
      const { id } = await world.session();
      const ways: AppOptions[] = [
        { headers: bearer(token) },
        { query: { access_token: token } },
        { query: { token } },
        { protocols: ['relay.v1', `bearer.${token}`] },
      ];
      const apps = [];
      for (const way of ways) apps.push(await world.openApp(way));
      same(apps.at(-1)?.live.protocol, 'relay.v1', 'subprotocol that the relay chose');
      const title = randomUUID();
      await rename(world, id, title);
      for (const app of apps) {
        await app.inbox.until('session_update', titled(title));
        await app.live.close();
      }
    },
    { also: ['§5 point 3 credential of /ws/attention', '§4.2 every frame is a JSON object with a type'] },
  ),
  rule('11.1', 'a ticket opens one socket, once', async (world) => {
    const { body } = await world.rest.ok('createTicket');
    same(body.expiresIn, 30, 'expiresIn');
    const app = await world.openApp({ query: { ticket: body.ticket } });
    const { status } = await refused(door(world, { ticket: body.ticket }), {});
    same(status, 401, 'status of the second use');
    await app.live.close();
  }),
  rule('11.1', 'without a credential, or with a bad one, the upgrade is 401; with two of them 400', async (world) => {
    const { token, wsUrl } = world;
    const none = await refused(`${wsUrl}/ws/attention`, {});
    same([none.status, none.code], [401, 'UNAUTHORIZED'], 'without a credential');
    for (const bad of Object.values(badTokens(token))) {
      const { status, code } = await refused(`${wsUrl}/ws/attention`, { headers: bearer(bad) });
      same([status, code], [401, 'INVALID_TOKEN'], 'with a bad token');
    }
    same((await refused(door(world, { ticket: 'made-up' }), {})).status, 401, 'status with a made-up ticket');
    const two = await refused(door(world, { access_token: token }), { headers: bearer(token) });
    same([two.status, two.code], [400, 'INVALID_REQUEST'], 'with two credentials');
  }),
  rule(
    '11.1',
    "a device's credential is 401 INVALID_TOKEN, as an unknown one, and a foreign Origin 403 ORIGIN_NOT_ALLOWED",
    async (world) => {
      const device = await world.device('desk');
      const asDevice = await refused(door(world), { headers: bearer(device.token) });
      same([asDevice.status, asDevice.code], [401, 'INVALID_TOKEN'], 'with the credential of a device');
      const foreign = await refused(door(world), {
        headers: { ...bearer(world.token), Origin: 'https://evil.example' },
      });
      same([foreign.status, foreign.code], [403, 'ORIGIN_NOT_ALLOWED'], 'from a foreign page');
    },
  ),
  rule(
    '11.2',
    'auth renews the credential in band: auth_ok with expiresAt; anything else that an app sends is ignored',
    async (world) => {
      const app = await world.openApp();
      for (const text of [
        'not JSON',
        '[1,2]',
        '5',
        '{"type":5}',
        '{"type":"subscribe"}',
        '{"type":"auth"}',
        '{"type":"__proto__"}',
      ])
        app.live.send(text);
      const { expiresAt } = await app.auth(world.token);
      must(Date.parse(expiresAt) > Date.now(), `expected expiresAt in the future, came ${expiresAt}`);
      await app.live.close();
    },
  ),
  rule('11.2', 'a bad token in auth closes with 4401', async (world) => {
    const app = await world.openApp();
    app.live.send(JSON.stringify({ type: 'auth', token: 'not-a-token' }));
    await app.live.mustClose(4401, 'a bad token in band');
  }),
  rule(
    '11.2',
    "another user's token in auth closes with 4403",
    async (world) => {
      const app = await world.openApp();
      app.live.send(JSON.stringify({ type: 'auth', token: world.otherToken }));
      await app.live.mustClose(4403, "another user's token in band");
    },
    'other-token',
  ),
  rule(
    '13.1',
    'an app is closed with 1003 for a binary frame, 1007 for invalid UTF-8, 1009 above 64 KiB',
    async (world) => {
      const binary = await world.openApp();
      binary.live.sendBytes(Buffer.from('{}'), 'binary');
      await binary.live.mustClose(1003, 'a binary frame');
      const garbled = await world.openApp();
      garbled.live.sendBytes(Buffer.from([0x7b, 0xff, 0x7d]), 'text');
      await garbled.live.mustClose(1007, 'invalid UTF-8');
      const big = await world.openApp();
      big.live.send(JSON.stringify({ type: 'x', padding: 'x'.repeat(65 * 1024) }));
      await big.live.mustClose(1009, 'a frame above 64 KiB');
    },
  ),
  rule(
    '11.7',
    'with since every frame has an offset; a client that comes back gets what it missed, then live frames, each once',
    async (world) => {
      const { id } = await world.session();
      const headers = bearer(world.token);
      const first = await world.openApp({ headers, query: { since: '' } });
      const titles = Array.from({ length: 4 }, () => randomUUID()) as [string, string, string, string];
      await rename(world, id, titles[0]);
      const seen = await first.inbox.until('session_update', titled(titles[0]));
      await first.live.drop();
      await rename(world, id, titles[1]);
      await rename(world, id, titles[2]);
      const second = await world.openApp({ headers, query: { since: present(seen.offset, 'offset') } });
      await second.inbox.until('session_update', titled(titles[2]), { what: 'what was missed' });
      await rename(world, id, titles[3]);
      await second.inbox.until('session_update', titled(titles[3]), { what: 'what comes after' });
      const updates = second.inbox.all('session_update', ({ session }) => session.id === id);
      same(
        updates.map(({ session }) => session.title),
        titles.slice(1),
        'titles after the reconnect',
      );
      same(new Set(updates.map(({ offset }) => offset)).size, 3, 'different offsets');
      await second.live.close();
    },
  ),
  rule(
    '11.7',
    'a since that the history does not reach is answered with resync first, then live frames',
    async (world) => {
      const { id } = await world.session();
      for (const since of ['garbage', '999999999999-0', '../..', 'null']) {
        const app = await world.openApp({ headers: bearer(world.token), query: { since } });
        await app.inbox.until('resync', undefined, { what: `since=${since}` });
        same(app.inbox.since(0)[0]?.type, 'resync', 'the first frame');
        const title = randomUUID();
        await rename(world, id, title);
        await app.inbox.until('session_update', titled(title));
        await app.live.close();
      }
    },
  ),
  rule(
    '11.8',
    'session_removed and device_removed never reach clients that did not ask; they see three types only',
    async (world) => {
      const app = await world.plain();
      const [gone, stays] = [await world.session(), await world.session()];
      const from = app.inbox.mark();
      await world.rest.ok('deleteSession', { params: { id: gone.id } });
      await world.caughtUp(stays);
      const additive = app.inbox
        .since(from)
        .filter(({ type }) => type === 'session_removed' || type === 'device_removed');
      same(additive, [], 'additive frames');
    },
  ),
];
