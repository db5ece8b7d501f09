import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectDaemon } from '@relay/testing';
import { image, imageTypes } from '../images.ts';
import { type Scene, beginAndEnd, openScene, pathOf } from '../scene.ts';

const mebibyte = 1024 * 1024;

describe('images of a message', () => {
  let scene: Scene;
  let sessionId: string;
  const create = (images: unknown, headers: Record<string, string> = {}, message = 'look') =>
    scene.relay.call('POST', '/api/sessions', {
      body: { deviceId: scene.daemon.deviceId, message, images },
      headers,
    });
  const send = (images: unknown) =>
    scene.relay.call('POST', pathOf(sessionId, '/messages'), { body: { content: 'look', images } });

  beforeAll(async () => {
    scene = await openScene();
    await scene.daemon.close();
    scene.daemon = await connectDaemon(scene.relay, {
      registration: scene.daemon.registration,
      headers: { 'X-Daemon-Capabilities': 'images' },
    });
    sessionId = (await beginAndEnd(scene, 'native')).id;
  });
  afterAll(() => scene.relay.stop());

  it('reach the daemon with the first message, unchanged', async () => {
    const images = imageTypes.map((type) => image(type));
    const created = await create(images);
    expect(created.status).toBe(201);
    expect(created.text).not.toContain('base64');
    const start = await scene.daemon.next('task_start', (frame) => frame.task_id === created.body.taskId);
    expect(start.images).toEqual(images);
  });

  it('reach the daemon with a later message', async () => {
    const images = [image('gif')];
    const sent = await send(images);
    expect(sent.status).toBe(202);
    const resume = await scene.daemon.next('task_resume', (frame) => frame.task_id === sent.body.taskId);
    expect(resume).toMatchObject({ message: 'look', images });
    scene.daemon.event(sent.body.taskId as string, 'TASK_COMPLETE', { result: 'seen' });
  });

  it('add no field to a task without images', async () => {
    const created = await create([]);
    const start = await scene.daemon.next('task_start', (frame) => frame.task_id === created.body.taskId);
    expect(start).not.toHaveProperty('images');
  });

  it('are refused one by one, with the number of the invalid one', async () => {
    const refusals: [unknown, number, string, RegExp][] = [
      [['https://example.com/a.png'], 400, 'INVALID_IMAGE', /^Image 1 of 1 is no data URL/],
      [[image(), 'data:image/svg+xml;base64,PHN2Zz4='], 400, 'INVALID_IMAGE', /^Image 2 of 2 is no data URL/],
      [['data:image/png;base64,'], 400, 'INVALID_IMAGE', /^Image 1 of 1 is not in base64/],
      [[`${image()}\n`], 400, 'INVALID_IMAGE', /not in base64/],
      [[image().replace('AAc', '*?c').replace('BwcH', '-_-_')], 400, 'INVALID_IMAGE', /not in base64/],
      [[image('png', { says: 'jpeg' })], 400, 'INVALID_IMAGE', /declared as image\/jpeg, but its bytes/],
      [[image(), image('webp', { says: 'gif' }), image()], 400, 'INVALID_IMAGE', /^Image 2 of 3/],
      [[image(), 7], 400, 'INVALID_REQUEST', /"images\.1" must be string/],
      ['data:', 400, 'INVALID_REQUEST', /"images" must be array/],
      [Array.from({ length: 9 }, () => image()), 400, 'INVALID_REQUEST', /"images" must NOT have more than 8 items/],
      [[image('png', { bytes: 5 * mebibyte + 1 })], 413, 'PAYLOAD_TOO_LARGE', /^Image 1 of 1 exceeds 5 MiB/],
      [Array.from({ length: 3 }, () => image('png', { bytes: 3.5 * mebibyte })), 413, 'PAYLOAD_TOO_LARGE', /together/],
      [Array.from({ length: 4 }, () => image('png', { bytes: 4 * mebibyte })), 413, 'PAYLOAD_TOO_LARGE', /16 MiB/],
    ];
    for (const [images, status, code, error] of refusals) {
      expect(await create(images)).toMatchObject({ status, body: { code, error: expect.stringMatching(error) } });
      if (/16 MiB|together/.test(error.source)) continue;
      expect(await send(images)).toMatchObject({ status, body: { code, error: expect.stringMatching(error) } });
    }
  });

  it.each<[string, string, Buffer]>([
    ['a PNG with a header only', 'png', Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')],
    ['a truncated PNG', 'png', Buffer.from(image('png').slice(22), 'base64').subarray(0, 40)],
    ['a JPEG with a header only', 'jpeg', Buffer.from('\xff\xd8\xff\xe0', 'latin1')],
    [
      'a JPEG truncated after its thumbnail',
      'jpeg',
      Buffer.from('\xff\xd8\xff\xe1\0\x06\xff\xd9\0\0\xff\xda\0\x02ab', 'latin1'),
    ],
  ])('B12: %s is refused', async (_name, type, bytes) => {
    const refused = await send([`data:image/${type};base64,${bytes.toString('base64')}`]);
    expect(refused).toMatchObject({
      status: 400,
      body: { code: 'INVALID_IMAGE', error: expect.stringContaining('cut off') },
    });
  });

  it('can fill the limits, all together in one frame', async () => {
    const images = [image('png', { bytes: 5 * mebibyte }), image('jpeg', { bytes: 5 * mebibyte })];
    const created = await create(images);
    expect(created.status).toBe(201);
    const start = await scene.daemon.next('task_start', (frame) => frame.task_id === created.body.taskId);
    expect((start.images as string[]).map((one) => one.length)).toEqual(images.map((one) => one.length));
  });

  it('allow a larger body than other routes', async () => {
    const title = 'x'.repeat(2 * mebibyte);
    expect(await scene.relay.call('updateSession', { params: { id: sessionId }, body: { title } })).toMatchObject({
      status: 413,
      body: { error: 'The body exceeds 1 MiB.' },
    });
    expect(await create([image()], {}, 'x'.repeat(2 * mebibyte))).toMatchObject({
      status: 413,
      body: { error: 'The body exceeds 1 MiB.' },
    });
    expect(await create([image()], {}, 'x'.repeat(17 * mebibyte))).toMatchObject({
      status: 413,
      body: { error: 'The body exceeds 16 MiB.' },
    });
  });

  it('are part of the request under an Idempotency-Key', async () => {
    const key = { 'Idempotency-Key': 'with-images' };
    const first = await create([image('png')], key);
    const again = await create([image('png')], key);
    expect(again.body).toEqual(first.body);
    expect(again.headers['idempotent-replay']).toBe('true');
    expect(await create([image('gif')], key)).toMatchObject({ status: 409, body: { code: 'IDEMPOTENCY_CONFLICT' } });
    expect(await create(undefined, key)).toMatchObject({ status: 409, body: { code: 'IDEMPOTENCY_CONFLICT' } });
  });

  it('wait for a device within a limit', async () => {
    await scene.daemon.close();
    const images = [image('png'), image('jpeg')];
    const [large, small] = [await create(images), await create(images)];
    const json = JSON.stringify(images);
    const fill = ({ body }: typeof large, bytes: number) =>
      scene.relay.database.sql.execute`
        UPDATE tasks SET images = ${json} || repeat(' ', ${bytes - json.length}::int) WHERE id = ${body.taskId as string}`;
    const bound = 64 * mebibyte;
    const size = json.length;
    // Once, because compressing it takes seconds.
    await fill(large, bound - 2 * size);
    await fill(small, size + 1);
    expect(await create(images)).toMatchObject({
      status: 409,
      body: { code: 'QUEUE_FULL', error: expect.stringContaining('64 MiB of images') },
    });
    expect((await create(undefined)).status).toBe(201);
    await fill(small, size);
    const last = await create(images);
    expect(last.status).toBe(201);
    await fill(large, size);
    scene.daemon = await connectDaemon(scene.relay, {
      registration: scene.daemon.registration,
      headers: { 'X-Daemon-Capabilities': 'images' },
    });
    for (const { body } of [large, small, last]) {
      const start = await scene.daemon.next('task_start', (frame) => frame.task_id === body.taskId);
      expect(start.images).toEqual(images);
    }
  });
});
