import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { transcriptLimits } from '@relay/protocol';
import { type TestDaemon, type TestRelay, connectDaemon, startRelay } from '@relay/testing';
import { untilTask } from '../until.ts';

describe('GET /api/sessions/:id/items/:uuid/content/:name', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let id: string;

  const session = async (of: TestDaemon, native: string) => {
    const { body } = await relay.call('createSession', { body: { deviceId: of.deviceId, message: 'hello' } });
    await of.next('task_start', (frame) => frame.task_id === body.taskId);
    of.event(body.taskId, 'TASK_COMPLETE', { session_id: native, result: 'done' });
    const id = `${of.deviceId}:scripted:${native}`;
    await untilTask(relay, body.taskId, 'completed');
    return id;
  };
  const read = (query = {}, uuid = 'item', options: { user?: string } = {}) =>
    relay.call('readContent', { params: { id, uuid, name: 'output' }, query, ...options });
  const answer = async (fields: object) => {
    const request = await daemon.next('content_request');
    daemon.send({ type: 'content_response', request_id: request.request_id, session_id: 'kept', ...fields });
    return request;
  };
  const text = (words: string) => ({ mime: 'text/plain', data: Buffer.from(words).toString('base64') });

  beforeAll(async () => {
    relay = await startRelay({ apis: 2, gateways: 2 });
    daemon = await connectDaemon(relay, { gateway: 1, headers: { 'X-Daemon-Capabilities': 'transcript,content' } });
    id = await session(daemon, 'kept');
  });
  afterAll(() => relay.stop());

  it("returns the daemon's piece, and the offset of the next one", async () => {
    const asked = read({ offset: 4, limit: 5 });
    expect(await answer({ ...text('quick'), size: 12, cut: true })).toMatchObject({
      session_id: 'kept',
      uuid: 'item',
      name: 'output',
      offset: 4,
      limit: 5,
    });
    const { status, body } = await asked;
    expect([status, body]).toEqual([
      200,
      { sessionId: id, uuid: 'item', name: 'output', offset: 4, ...text('quick'), size: 12, cut: true, next: 9 },
    ]);
    const rest = read({ offset: 9 });
    expect(await answer({ ...text('fox'), size: 12 })).toMatchObject({ limit: transcriptLimits.pieceBytes });
    expect((await rest).body).not.toHaveProperty('next');
    const behind = read({ offset: 99 });
    await answer({ ...text(''), size: 12 });
    expect((await behind).body).toMatchObject({ data: '', size: 12 });
  });

  it('never mixes two simultaneous requests', async () => {
    const [one, other] = [read({}, 'one'), read({}, 'other')];
    for (let n = 0; n < 2; n++) {
      const { request_id: requestId, uuid } = await daemon.next('content_request');
      const fields = { ...text(String(uuid)), size: 5 };
      daemon.send({ type: 'content_response', request_id: requestId, session_id: 'kept', ...fields });
    }
    expect([(await one).body.data, (await other).body.data]).toEqual([text('one').data, text('other').data]);
  });

  it('returns the largest piece, and refuses a larger one', async () => {
    const asked = read();
    const data = Buffer.alloc(transcriptLimits.pieceBytes, 7).toString('base64');
    await answer({ mime: 'image/png', size: transcriptLimits.pieceBytes, data });
    const { data: sent } = (await asked).body;
    expect(sent === data).toBe(true);
    const larger = read();
    await answer({ mime: 'image/png', size: transcriptLimits.pieceBytes + 3, data: `${data}AAAA` });
    expect(await larger).toMatchObject({ status: 502, body: { code: 'DEVICE_ERROR' } });
    expect((await read({ limit: transcriptLimits.pieceBytes + 1 })).status).toBe(400);
    expect((await read({ offset: -1 })).status).toBe(400);
  });

  it('returns 404 if the daemon no longer has it, and a device error if the daemon reports one', async () => {
    const gone = read();
    await answer({ code: 'CONTENT_NOT_FOUND', error: 'removed' });
    expect(await gone).toMatchObject({ status: 404, body: { code: 'CONTENT_NOT_FOUND' } });
    for (const fields of [{ error: 'no idea' }, {}, { error: 'x', code: 'new' }]) {
      const asked = read();
      await answer(fields);
      expect(await asked).toMatchObject({ status: 502, body: { code: 'DEVICE_ERROR' } });
    }
  });

  it('refuses strangers, and daemons that are too old or away', async () => {
    expect(await read({}, 'item', { user: 'bob' })).toMatchObject({ status: 404, body: { code: 'SESSION_NOT_FOUND' } });
    const old = await connectDaemon(relay, { headers: { 'X-Daemon-Capabilities': 'transcript' } });
    const params = { id: await session(old, 'old'), uuid: 'item', name: 'output' };
    expect(await relay.call('readContent', { params })).toMatchObject({
      status: 409,
      body: { code: 'NOT_SUPPORTED_BY_DEVICE' },
    });
    expect(old.inbox.count('content_request')).toBe(0);
    await daemon.close();
    expect(await read()).toMatchObject({ status: 503, body: { code: 'DEVICE_OFFLINE' } });
  });
});
