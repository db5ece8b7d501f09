/** The time from publishing a frame to an app's socket: the frames that are counted. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Frame, type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';

let relay: TestRelay;
let daemon: TestDaemon;

beforeAll(async () => {
  relay = await startRelay();
  daemon = await connectDaemon(relay);
});
afterAll(() => relay.stop());

const written = async (): Promise<number> => {
  const text = await relay.apis[0]!.metrics.text();
  return Number(/^relay_app_frame_seconds_count\{.*\} (\d+)$/m.exec(text)?.[1] ?? 0);
};

it('the delivery time is recorded for each connected app, and not for frames that an app missed and reads later', async () => {
  const apps = [await connectApp(relay, { since: '' }), await connectApp(relay, { since: '' })];
  const { body } = await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'hello' } });
  const isFirst = ({ message }: Frame) => (message as { content: string }).content === 'hello';
  const [frame] = await Promise.all(apps.map((app) => app.next('new_message', isFirst)));
  const { task_id: taskId } = await daemon.next('task_start');
  await apps[0]!.close();
  daemon.event(taskId as string, 'SESSION_STARTED', { session_id: 'native' });
  daemon.event(taskId as string, 'TASK_COMPLETE', { result: 'done' });
  await apps[1]!.next('session_update', ({ session }) => (session as { status: string }).status === 'idle');
  await apps[1]!.close();
  const before = await written();
  expect(before).toBeGreaterThanOrEqual(2);

  const again = await connectApp(relay, { since: frame!.offset as string });
  await again.next('new_message', ({ message }) => (message as { content: string }).content === 'done');
  expect(await written()).toBe(before);
  await relay.call('sendMessage', { params: { id: body.id }, body: { content: 'more' } });
  await again.next('new_message', ({ message }) => (message as { content: string }).content === 'more');
  expect(await written()).toBeGreaterThan(before);
  await again.close();
});
