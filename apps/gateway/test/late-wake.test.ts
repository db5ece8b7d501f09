/**
 * Promise: the next queued message is written when the turn completes, even if a gateway that the daemon has left saves
 * the completion.
 */
import { expect, it } from '@jest/globals';
import { connectApp, connectDaemon, startRelay } from '@relay/testing';
import { run, say, tick } from './conversation.ts';
import { openHeldDatabase } from './held-database.ts';

it.each(['TASK_COMPLETE', 'ERROR'])(
  'an end (%s) that is saved late wakes the gateway that has the daemon now',
  async (kind) => {
    const database = await openHeldDatabase();
    // Nothing else looks at the queue while this runs.
    const config = { sweepIntervalMs: 600_000, outcomeAskMs: 600_000, statusLostMs: 600_000 };
    const relay = await startRelay({ database, gateways: 2, config });
    try {
      const daemon = await connectDaemon(relay, { gateway: 0 });
      const app = await connectApp(relay);
      const { taskId, id } = await run(relay, daemon, app, 'late');
      const followUp = await say(relay, id, 'and then');
      const held = database.holdNext();
      daemon.event(taskId, kind, { result: 'done', error: 'broken', session_id: 'late' });
      await held.reached;
      const hello = [{ type: 'status', running_tasks: [] }];
      const next = await connectDaemon(relay, { gateway: 1, registration: daemon.registration, hello });
      await tick(next, app);
      held.release();
      expect(await next.next('task_resume')).toMatchObject({ task_id: followUp });
    } finally {
      await relay.stop();
    }
  },
);
