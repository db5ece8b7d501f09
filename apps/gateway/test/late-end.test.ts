import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestApp, type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { messageIn, readTask, run, tick } from './conversation.ts';

describe('the late completion of a task', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;

  beforeAll(async () => {
    // Earlier messages are forgotten at once: only the record of the task knows.
    relay = await startRelay({ config: { dedupeWindowMs: 1 } });
    daemon = await connectDaemon(relay);
    app = await connectApp(relay);
  });
  afterAll(() => relay.stop());

  it('R6: is shown once, however often and however late it is repeated', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'late');
    await relay.call('cancelSession', { params: { id } });
    for (let time = 0; time < 3; time += 1) {
      daemon.event(taskId, 'TASK_COMPLETE', { result: 'Too late\n' });
      await tick(daemon, app);
    }
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'Too late' });
    await tick(daemon, app);
    const said = app.inbox.all.filter((frame) => frame.type === 'new_message' && frame.sessionId === id);
    expect(said.map((frame) => messageIn(frame).content).filter((content) => content.startsWith('Too late'))).toEqual([
      'Too late\n',
    ]);
    expect(await readTask(relay, taskId)).toMatchObject({ state: 'cancelled' });
  });
});
