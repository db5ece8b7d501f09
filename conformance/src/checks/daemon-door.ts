/** `/ws/daemon` before and right after the upgrade (specification §4.2, §5; rules, 9.1). */
import { type Check, rule, specification } from '../check.ts';
import { type Daemon, daemonHeaders } from '../daemon.ts';
import { matches, must, same } from '../expect.ts';
import { type Refused, refused } from '../socket.ts';
import type { World } from '../world.ts';

/** The headers of the device `door`, changed; `undefined` leaves one out. */
async function headersOf(world: World, changes: Record<string, string | undefined>): Promise<Record<string, string>> {
  const headers = { ...daemonHeaders(await world.device('door')), ...changes };
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >;
}

async function unauthorized(world: World, changes: Record<string, string | undefined>, what: string): Promise<string> {
  const { status, code } = await refused(`${world.wsUrl}/ws/daemon`, { headers: await headersOf(world, changes) });
  same(status, 401, `status of the upgrade ${what}`);
  return code;
}

export const daemonDoor: readonly Check[] = [
  specification(
    '§4.2',
    '/ws/daemon',
    'a daemon with the four headers is let in',
    async (world) => {
      const daemon = await world.open(await world.device('door'));
      await daemon.live.ping();
      await daemon.close();
    },
    { also: ['§5 point 4 credential of /ws/daemon'] },
  ),
  specification(
    '§5',
    'Authorization',
    'without it, or with what is no refresh token, the upgrade is 401',
    async (world) => {
      same(await unauthorized(world, { Authorization: undefined }, 'without a credential'), 'UNAUTHORIZED', 'code');
      const { token } = await world.device('door');
      const last = token.endsWith('A') ? 'B' : 'A';
      for (const bad of ['garbage', `${token.slice(0, -1)}${last}`, world.token])
        same(
          await unauthorized(world, { Authorization: `Bearer ${bad}` }, 'with a bad token'),
          'INVALID_TOKEN',
          'code',
        );
    },
  ),
  specification(
    '§5',
    'X-Device-ID',
    'without it, or with the id of another device, the upgrade is 401',
    async (world) => {
      await unauthorized(world, { 'X-Device-ID': undefined }, 'without a device id');
      const { id } = await world.device('desk');
      await unauthorized(world, { 'X-Device-ID': id }, "with another device's id");
      await unauthorized(world, { 'X-Device-ID': 'nobody' }, 'with an unknown device id');
    },
  ),
  specification(
    '§5',
    'X-Agent-Type',
    'one that contradicts the registration is 403; it may be missing',
    async (world) => {
      const headers = await headersOf(world, { 'X-Agent-Type': 'another_agent' });
      const { status, code } = await refused(`${world.wsUrl}/ws/daemon`, { headers });
      same([status, code], [403, 'FORBIDDEN'], 'status and code');
      const without = await headersOf(world, { 'X-Agent-Type': undefined, 'X-Daemon-Version': undefined });
      const daemon = await world.open(await world.device('door'), { headers: without });
      await world.session({}, daemon);
      await daemon.close();
    },
  ),
  rule('9.1', 'an upgrade to an unknown path is 404 with the JSON error body', async (world) => {
    const { status, code } = await refused(`${world.wsUrl}/ws/nowhere`, { headers: await headersOf(world, {}) });
    same([status, code], [404, 'NOT_FOUND'], 'status and code');
  }),
  specification(
    '§5',
    'point 6 lifetime of tokens',
    'the refresh token is not rotated: it opens the next connection, which closes the older one with 4409',
    async (world) => {
      const device = await world.device('door');
      const first = await world.open(device);
      await world.session({}, first);
      const second = await world.open(device);
      await first.live.mustClose(4409, 'a newer connection of the same device');
      await world.session({}, second);
      await second.close();
    },
  ),
  specification(
    '§6.4',
    'point 3 reconnect',
    'a daemon that comes back after its delay of 1000 ms is let in, and the apps hear of no going away',
    async (world) => {
      const device = await world.device('door');
      const { inbox } = await world.plain();
      const first = await world.open(device);
      await world.session({}, first);
      const from = inbox.mark();
      await first.drop();
      await new Promise((resolve) => setTimeout(resolve, 1000));
      const second = await world.open(device);
      await world.caughtUp(await world.session({}, second), second);
      same(
        inbox.all('device_status', ({ deviceId }) => deviceId === device.id, from),
        [],
        'device_status frames',
      );
      await second.close();
    },
    { also: ['§8 WebSocket timing constants'] },
  ),
  rule(
    '9.12',
    'a device that connects more than 10 times a minute is slowed down: the newest that waits is let in, the others get 503',
    async (world) => {
      const device = await world.device('flapping');
      for (let claim = 0; claim < 10; claim += 1) await (await world.open(device)).drop();
      let attempts: PromiseSettledResult<Daemon>[] = [];
      let refusals: Refused[] = [];
      // Each gateway counts for itself, and a load balancer tries another one when it is refused: then several rounds are let in.
      for (let round = 0; round < 8 && refusals.length === 0; round += 1) {
        attempts = await Promise.allSettled(Array.from({ length: 8 }, () => world.open(device)));
        refusals = attempts.filter((attempt) => attempt.status === 'rejected').map(({ reason }) => reason as Refused);
        for (const attempt of attempts) if (attempt.status === 'fulfilled') await attempt.value.drop();
      }
      must(refusals.length > 0, 'expected some of eight connections at once to be refused, came none');
      must(refusals.length < attempts.length, 'expected one of eight connections at once to be let in, came none');
      for (const { status, headers } of refusals) {
        same(status, 503, 'status of a refusal');
        matches(headers['retry-after'], /^\d+$/, 'header Retry-After');
      }
    },
  ),
];
