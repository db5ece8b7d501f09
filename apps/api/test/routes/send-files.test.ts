import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fileLimits } from '@relay/protocol';
import { type TestDaemon, type TestRelay, connectDaemon, startRelay } from '@relay/testing';
import { itAsksForCredentials } from '../credentials.ts';
import { untilTask } from '../until.ts';

const octets = { 'Content-Type': 'application/octet-stream' };
const names = ['01KKNT3B6Q4M8Z1R5T7YB3C6DE', '01KKNT3B6Q4M8Z1R5T7YB3C6DF'] as const;
const [fileId] = names;

describe('files for a device', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;

  beforeAll(async () => {
    relay = await startRelay({ apis: 2, gateways: 2 });
    daemon = await connectDaemon(relay, { gateway: 1, capabilities: ['transcript', 'content', 'files'] });
  });
  afterAll(() => relay.stop());

  const open = (device = daemon.deviceId, user = 'alice') =>
    relay.call('sendFile', {
      params: { id: device },
      body: { fileId, name: 'secret-plan.csv', size: 10, mime: 'text/csv' },
      user,
    });
  const put = (bytes: Buffer, offset: number, more: { user?: string; headers?: Record<string, string> } = {}) =>
    relay.call('PUT', `/api/devices/${daemon.deviceId}/files/${fileId}?offset=${offset}`, {
      raw: bytes,
      headers: octets,
      ...more,
    });
  const answer = async (type: 'file_open' | 'file_piece', fields: object) => {
    const frame = await daemon.next(type);
    daemon.send({ type: 'file_result', request_id: frame.request_id, ...fields });
    return frame;
  };

  itAsksForCredentials(() => relay, 'sendFile');

  it('appear in the audit with their size alone', async () => {
    const opened = open();
    expect(await answer('file_open', { received: 0, done: false, name: 'secret-plan.csv' })).toMatchObject({
      file_id: fileId,
      name: 'secret-plan.csv',
      size: 10,
      mime: 'text/csv',
    });
    expect(await opened).toMatchObject({ status: 201, body: { fileId, received: 0, done: false } });
    const audit = await relay.call('listAudit');
    expect(audit.text).not.toContain('secret-plan');
    expect(audit.body.entries[0]).toMatchObject({ action: 'sendFile', setting: 'bytes=10', outcome: 'done' });
  });

  it('travel in pieces as bytes, and the answer of the daemon comes back', async () => {
    const sent = put(Buffer.from('hello'), 0);
    const piece = await answer('file_piece', { received: 5, done: false });
    expect(piece).toMatchObject({ file_id: fileId, offset: 0, data: Buffer.from('hello').toString('base64') });
    expect(await sent).toMatchObject({ status: 200, body: { fileId, received: 5, done: false } });
    const again = put(Buffer.from('world'), 0);
    await answer('file_piece', { code: 'FILE_INCOMPLETE', received: 5, error: 'no' });
    expect(await again).toMatchObject({ status: 409, body: { code: 'FILE_INCOMPLETE', received: 5 } });
    const state = relay.call('readSentFile', { params: { id: daemon.deviceId, fileId } });
    expect(await answer('file_piece', { received: 5, done: false })).toMatchObject({ data: '' });
    expect((await state).body).toMatchObject({ received: 5 });
    const { entries } = (await relay.call('listAudit')).body;
    expect(entries.filter(({ action }) => action === 'sendPiece')).toEqual([]);
  });

  it('pass the largest piece whole, and refuse a larger one and another type', async () => {
    const bytes = randomBytes(fileLimits.pieceBytes);
    const sent = put(bytes, 0);
    const { data } = await answer('file_piece', { received: bytes.length, done: true, sha256: 'aa' });
    const digest = (one: Buffer) => createHash('sha256').update(one).digest('hex');
    expect(digest(Buffer.from(String(data), 'base64'))).toBe(digest(bytes));
    expect((await sent).body).toMatchObject({ done: true, sha256: 'aa' });
    expect((await put(Buffer.concat([bytes, Buffer.from('x')]), 0)).body).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    const json = { headers: { 'Content-Type': 'application/json' } };
    expect(await put(Buffer.from('{}'), 0, json)).toMatchObject({ status: 415 });
    expect(await put(Buffer.from('x'), -1)).toMatchObject({ status: 400 });
  });

  it('map the refusals of the daemon to their codes', async () => {
    for (const [code, status] of [
      ['FILE_NOT_FOUND', 404],
      ['INVALID_FILE', 400],
      ['FILE_TOO_LARGE', 413],
      ['DEVICE_FULL', 409],
    ] as const) {
      const opened = open();
      await answer('file_open', { code, error: 'no' });
      expect(await opened).toMatchObject({ status, body: { code } });
    }
    const other = open();
    await answer('file_open', { code: 'NEW', error: 'no' });
    expect(await other).toMatchObject({ status: 502, body: { code: 'DEVICE_ERROR' } });
  });

  it('disappear on request', async () => {
    const dropped = await relay.call('dropFile', { params: { id: daemon.deviceId, fileId } });
    expect(dropped.status).toBe(204);
    expect(await daemon.next('file_drop')).toEqual({ type: 'file_drop', file_id: fileId });
  });

  it('hold at most four pieces of a person in memory', async () => {
    const before = daemon.inbox.count('file_piece');
    const sent = Array.from({ length: 4 }, (_, n) => put(Buffer.from('x'), n));
    const frames = [];
    for (let n = 0; n < 4; n++) frames.push(await daemon.next('file_piece'));
    expect(daemon.inbox.count('file_piece')).toBe(before + 4);
    const refused = await put(Buffer.from('x'), 4);
    expect(refused).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE' } });
    expect(refused.headers['retry-after']).toBe('1');
    for (const { request_id: id } of frames)
      daemon.send({ type: 'file_result', request_id: id, received: 1, done: false });
    for (const { status } of await Promise.all(sent)) expect(status).toBe(200);
    const next = put(Buffer.from('x'), 4);
    await answer('file_piece', { received: 5, done: false });
    expect((await next).status).toBe(200);
  });

  it('do not exist for strangers, and send no frame to a daemon without the capability', async () => {
    expect(await open(daemon.deviceId, 'bob')).toMatchObject({ status: 404, body: { code: 'DEVICE_NOT_FOUND' } });
    expect(await put(Buffer.from('x'), 0, { user: 'bob' })).toMatchObject({ status: 404 });
    const plain = await connectDaemon(relay, { capabilities: ['transcript', 'images', 'controls'] });
    expect(await open(plain.deviceId)).toMatchObject({ status: 409, body: { code: 'NOT_SUPPORTED_BY_DEVICE' } });
    const body = { deviceId: plain.deviceId, message: 'Read it', files: [fileId] };
    expect(await relay.call('createSession', { body })).toMatchObject({
      status: 409,
      body: { code: 'NOT_SUPPORTED_BY_DEVICE' },
    });
    const created = await relay.call('createSession', { body: { deviceId: plain.deviceId, message: 'hello' } });
    const start = await plain.next('task_start', (frame) => frame.task_id === created.body.taskId);
    expect(start).not.toHaveProperty('files');
    expect(plain.inbox.count('file_open')).toBe(0);
    expect(plain.relayCapabilities).toContain('files');
  });
});

describe('files of a message', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;

  beforeAll(async () => {
    relay = await startRelay();
    daemon = await connectDaemon(relay, { capabilities: ['transcript', 'content', 'files', 'images', 'steer'] });
  });
  afterAll(() => relay.stop());

  const create = (more: object = {}) =>
    relay.call('createSession', {
      body: { deviceId: daemon.deviceId, message: 'Read it', files: [...names], ...more },
    });

  it('reach the daemon as ids, with the images, and a queued message has their number', async () => {
    const image =
      'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=';
    const { body } = await create({ images: [image] });
    const start = await daemon.next('task_start', (frame) => frame.task_id === body.taskId);
    expect(start).toMatchObject({ files: [...names], images: [image] });
    daemon.event(body.taskId, 'SESSION_STARTED', { session_id: 'files' });
    const params = { id: `${daemon.deviceId}:scripted:files` };
    await untilTask(relay, body.taskId, 'running');
    await relay.call('sendMessage', { params, body: { content: 'More', files: [fileId], images: [image] } });
    await relay.call('sendMessage', { params, body: { content: 'Files', files: [...names] } });
    await relay.call('sendMessage', { params, body: { content: 'Image', images: [image] } });
    await relay.call('sendMessage', { params, body: { content: 'Text' } });
    const { tasks } = (await relay.call('readQueue', { params })).body;
    expect(tasks.map(({ images, files }) => [images, files])).toEqual([
      [true, 1],
      [false, 2],
      [true, undefined],
      [false, undefined],
    ]);
    daemon.event(body.taskId, 'TASK_COMPLETE', { session_id: 'files', result: 'done' });
    expect(await daemon.next('task_resume')).toMatchObject({ files: [fileId], images: [image] });
  });

  it('go into the running turn too', async () => {
    const { body } = await create({ files: [] });
    const start = await daemon.next('task_start', (frame) => frame.task_id === body.taskId);
    expect(start).not.toHaveProperty('files');
    daemon.event(body.taskId, 'SESSION_STARTED', { session_id: 'steered' });
    await untilTask(relay, body.taskId, 'running');
    const params = { id: `${daemon.deviceId}:scripted:steered` };
    await relay.call('sendMessage', { params, body: { content: 'Now', deliver: 'now', files: [fileId] } });
    expect(await daemon.next('task_steer')).toMatchObject({ into: body.taskId, files: [fileId] });
  });

  it('fail the task with the code of the daemon if one is missing', async () => {
    const { body } = await create();
    await daemon.next('task_start', (frame) => frame.task_id === body.taskId);
    daemon.event(body.taskId, 'ERROR', { error: 'gone', code: 'FILE_MISSING' });
    const task = await untilTask(relay, body.taskId, 'failed');
    expect(task.error).toMatchObject({ code: 'FILE_MISSING' });
  });

  it('count for an Idempotency-Key, and cannot wait for a time', async () => {
    const call = (files: string[]) =>
      relay.call('createSession', {
        body: { deviceId: daemon.deviceId, message: 'Read it', files },
        headers: { 'Idempotency-Key': 'one' },
      });
    const first = await call([...names]);
    expect((await call([...names])).body.taskId).toBe(first.body.taskId);
    expect((await call([fileId])).body.code).toBe('IDEMPOTENCY_CONFLICT');
    const notBefore = new Date(Date.now() + 3_600_000).toISOString();
    expect(await create({ notBefore })).toMatchObject({ status: 409, body: { code: 'NOT_SUPPORTED_BY_DEVICE' } });
    expect((await create({ files: Array.from({ length: 11 }, () => fileId) })).status).toBe(400);
    expect((await create({ files: ['../x'] })).status).toBe(400);
  });

  it('do not go to a daemon that came back without the capability', async () => {
    const own = await connectDaemon(relay, { capabilities: ['transcript', 'files'] });
    await own.close();
    const { body } = await create({ deviceId: own.deviceId });
    const back = await connectDaemon(relay, { registration: own.registration, capabilities: ['transcript'] });
    expect(await untilTask(relay, body.taskId, 'failed')).toMatchObject({ error: { code: 'NOT_SUPPORTED_BY_DEVICE' } });
    expect(back.inbox.count('task_start')).toBe(0);
  });
});

describe('the download of a file of an agent', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let id: string;

  beforeAll(async () => {
    relay = await startRelay();
    daemon = await connectDaemon(relay, { capabilities: ['transcript', 'content', 'files'] });
    const { body } = await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'hello' } });
    await daemon.next('task_start');
    daemon.event(body.taskId, 'TASK_COMPLETE', { session_id: 'kept', result: 'done' });
    await untilTask(relay, body.taskId, 'completed');
    id = `${daemon.deviceId}:scripted:kept`;
  });
  afterAll(() => relay.stop());

  const download = () =>
    relay.call('GET', `/api/sessions/${encodeURIComponent(id)}/items/item/content/file?download=1`);
  const answer = async (fields: object) => {
    const { request_id: requestId, ...asked } = await daemon.next('content_request');
    daemon.send({ type: 'content_response', request_id: requestId, session_id: 'kept', ...fields });
    return asked;
  };
  const piece = (text: string, size: number, name: string) => ({
    mime: 'text/html',
    size,
    name,
    data: Buffer.from(text).toString('base64'),
  });

  it('has all bytes, and headers that no browser shows', async () => {
    const whole = download();
    await answer(piece('<script>', 16, 'dåsh"board.html'));
    expect(await answer(piece('</script', 16, 'dåsh"board.html'))).toMatchObject({ offset: 8 });
    const { status, headers, text } = await whole;
    expect([status, text]).toEqual([200, '<script></script']);
    expect(headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '16',
      'content-disposition': `attachment; filename="d_sh_board.html"; filename*=UTF-8''d%C3%A5sh%22board.html`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': 'sandbox',
      'cache-control': 'no-store',
    });
  });

  it('is a refusal with its code if the daemon no longer has the file', async () => {
    const gone = download();
    await answer({ code: 'CONTENT_NOT_FOUND', error: 'gone' });
    expect(await gone).toMatchObject({ status: 404, body: { code: 'CONTENT_NOT_FOUND' } });
  });

  it('is cut if the daemon loses the file, so that half of it does not pass for the whole', async () => {
    const whole = download();
    await answer(piece('<script>', 16, 'a.html'));
    await answer({ code: 'CONTENT_NOT_FOUND', error: 'gone' });
    await expect(whole).rejects.toThrow();
  });
});
