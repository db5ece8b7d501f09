/** Another user's things are 404, never 403, so that ids cannot be probed (rules, 6.3). Needs a token of another user. */
import { randomUUID } from 'node:crypto';
import { type Check, rule } from '../check.ts';
import { present, same } from '../expect.ts';

export const strangers: readonly Check[] = [
  rule(
    '6.3',
    "another user's session is 404 SESSION_NOT_FOUND on every route",
    async ({ rest, session, otherToken }) => {
      const { id } = await session();
      const as = present(otherToken, 'the other token');
      const params = { id };
      for (const name of ['readSession', 'readMessages', 'deleteSession', 'cancelSession', 'readQueue'] as const)
        await rest.refused(name, 'SESSION_NOT_FOUND', { as, params });
      await rest.refused('updateSession', 'SESSION_NOT_FOUND', { as, params, body: { title: 'mine' } });
      await rest.refused('sendMessage', 'SESSION_NOT_FOUND', { as, params, body: { content: 'hello' } });
      await rest.refused('watch', 'SESSION_NOT_FOUND', { as, body: { sessionId: id } });
      const { body } = await rest.ok('listSessions', { as });
      same(
        body.sessions.filter((listed) => listed.id === id),
        [],
        "the session in the other user's list",
      );
    },
    'other-token',
  ),
  rule(
    '6.3',
    "another user's device is 404 DEVICE_NOT_FOUND on every route",
    async ({ rest, device, otherToken }) => {
      const { id } = await device('desk');
      const as = present(otherToken, 'the other token');
      await rest.refused('updateDevice', 'DEVICE_NOT_FOUND', { as, params: { id }, body: { name: 'mine' } });
      await rest.refused('listConnections', 'DEVICE_NOT_FOUND', { as, params: { id } });
      await rest.refused('listFolders', 'DEVICE_NOT_FOUND', { as, params: { id } });
      await rest.refused('deleteDevice', 'DEVICE_NOT_FOUND', { as, params: { id } });
      await rest.refused('createSession', 'DEVICE_NOT_FOUND', { as, body: { deviceId: id, message: 'hello' } });
      const { body } = await rest.ok('listDevices', { as });
      same(
        body.devices.filter((listed) => listed.id === id),
        [],
        "the device in the other user's list",
      );
    },
    'other-token',
  ),
  rule(
    '6.3',
    "another user's task is 404 TASK_NOT_FOUND",
    async ({ rest, story, otherToken }) => {
      const { answer } = await story.created();
      const as = present(otherToken, 'the other token');
      await rest.refused('readTask', 'TASK_NOT_FOUND', { as, params: { id: answer.body.taskId } });
    },
    'other-token',
  ),
  rule(
    '6.3',
    'an app hears nothing of another user',
    async (world) => {
      const token = present(world.otherToken, 'the other token');
      const stranger = await world.openApp({
        headers: { Authorization: `Bearer ${token}` },
        query: { since: '', events: 'output' },
      });
      const session = await world.session();
      await world.rest.ok('updateSession', { params: { id: session.id }, body: { title: randomUUID() } });
      await world.caughtUp(session);
      // Its own renewal comes after anything that was sent to it before.
      await stranger.auth(token);
      const { deviceId } = { deviceId: session.id.split(':')[0] };
      const heard = stranger.inbox.since(0).filter((frame) => JSON.stringify(frame).includes(deviceId ?? session.id));
      same(heard, [], 'frames about the session');
      await stranger.live.close();
    },
    'other-token',
  ),
];
