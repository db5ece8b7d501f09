/** Questions whose turn was completed by an instance of an older release without question support, during a rollout. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestApp, type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { idOf, until } from './conversation.ts';

describe('a question that an older instance left open', () => {
  let relay: TestRelay;
  let app: TestApp;
  let daemon: TestDaemon;
  beforeAll(async () => {
    relay = await startRelay({ config: { sweepIntervalMs: 100 } });
    app = await connectApp(relay);
    daemon = await connectDaemon(relay, { headers: { 'X-Daemon-Capabilities': 'prompts' } });
  });
  afterAll(() => relay.stop());

  const asking = async (native: string) => {
    const { body } = await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: native } });
    await daemon.next('task_start', ({ task_id }) => task_id === body.taskId);
    const question = { uuid: `q-${native}`, title: 'May I?', kind: 'permission', options: [{ id: 'y', label: 'Yes' }] };
    daemon.event(body.taskId, 'WAIT_FOR_USER', { session_id: native, prompt: 'May I?', question });
    const id = idOf(daemon, native);
    await app.next('session_update', ({ session }) => {
      const { id: named, status } = session as { id: string; status: string };
      return named === id && status === 'waiting';
    });
    return { id, uuid: question.uuid };
  };
  const stateOf = async (uuid: string) => (await relay.database.models.prompt.findMany({ where: { uuid } }))[0]?.state;

  it('is closed by a sweep, except for a new question, or one that its session waits for', async () => {
    const [left, young, waiting] = [await asking('left'), await asking('young'), await asking('waiting')];
    const { models, sql } = relay.database;
    const [old, later] = [-600_000, 600_000].map((ms) => new Date(Date.now() + ms));
    await models.prompt.updateMany({ where: { uuid: young.uuid }, data: { askedAt: later! } });
    await models.prompt.updateMany({ where: { uuid: { in: [left.uuid, waiting.uuid] } }, data: { askedAt: old! } });
    // As the release before does it: the session, and nothing of its questions.
    const keys = (await models.prompt.findMany({ where: { uuid: { in: [left.uuid, young.uuid] } } })).map(
      ({ sessionKey }) => sessionKey,
    );
    await sql.execute`UPDATE sessions SET status = 'idle', prompt = NULL WHERE key = ANY(${keys}::text[])`;
    await until(async () => (await stateOf(left.uuid)) === 'superseded');
    expect([await stateOf(young.uuid), await stateOf(waiting.uuid)]).toEqual(['open', 'open']);
    const answer = (of: typeof left) =>
      relay.call('answerPrompt', { params: { id: of.id, uuid: of.uuid }, body: { option: 'y' } });
    expect(await answer(left)).toMatchObject({ status: 409, body: { code: 'PROMPT_SUPERSEDED' } });
    expect((await answer(waiting)).status).toBe(202);
  });
});
