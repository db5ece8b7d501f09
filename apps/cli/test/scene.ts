/** One world, a signed-in user and their machine: the base of the command tests. */
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import type { RelayConfig } from '@relay/config';
import type { TestDaemon } from '@relay/testing';
import { type Own, createDesk } from './desk.ts';
import { type Person, type World, logIn, openWorld } from './world.ts';

/** Sets up the tests of the calling file. `own` is new for every test, and signed in. */
export function scene(config: () => Promise<Partial<RelayConfig>> = () => Promise.resolve({})) {
  let world: World;
  const desk = createDesk();
  const daemons: TestDaemon[] = [];
  const state = {
    desk,
    get world() {
      return world;
    },
    person: undefined as unknown as Person,
    own: undefined as unknown as Own,
    /** Connects a daemon as a device with this name. */
    async daemon(
      name: string,
      registration?: TestDaemon['registration'],
      headers: Record<string, string> = {},
    ): Promise<TestDaemon> {
      const daemon = await state.person.daemon({ name, headers, ...(registration ? { registration } : {}) });
      daemons.push(daemon);
      return daemon;
    },
    /** A session that the daemon named `native`, with a completed first task. */
    async session(daemon: TestDaemon, native: string, title = native): Promise<string> {
      const created = await state.person.relay.call('POST', '/api/sessions', {
        body: { deviceId: daemon.deviceId, message: 'begin', title },
      });
      const { task_id: task } = (await daemon.next('task_start')) as unknown as { task_id: string };
      daemon.event(task, 'SESSION_STARTED', { session_id: native });
      daemon.event(task, 'TASK_COMPLETE', { session_id: native, result: 'begun' });
      const id = `${daemon.deviceId}:scripted:${native}`;
      await state.settled((created.body as { taskId: string }).taskId, 'completed');
      return id;
    },
    /** Waits until the relay has the task in this state. */
    async settled(taskId: string, wanted: string): Promise<void> {
      for (;;) {
        const task = await state.person.relay.call('GET', `/api/tasks/${taskId}`);
        if ((task.body as { state: string }).state === wanted) return;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
  };
  beforeAll(async () => {
    world = await openWorld({ config: await config() });
  });
  beforeEach(async () => {
    state.person = await world.person();
    state.own = desk.open();
    const { code, err } = await logIn(state.own, world.url, state.person.browser);
    if (code !== 0) throw new Error(`the login failed: ${err}`);
  });
  afterEach(async () => {
    world.front.setDown(false);
    await desk.clear();
    for (const daemon of daemons.splice(0)) await daemon.close();
  });
  afterAll(() => world.close());
  return state;
}

/** Answers one history request with these messages. */
export async function tellHistory(daemon: TestDaemon, ...said: [role: string, content: string][]): Promise<void> {
  const request = await daemon.next('get_messages');
  const messages = said.map(([role, content], index) => ({
    uuid: `history-${index}`,
    role,
    content,
    timestamp: new Date(Date.now() - 3_600_000).toISOString(),
  }));
  daemon.send({
    type: 'messages',
    request_id: request.request_id,
    session_id: request.session_id,
    messages,
    has_more: false,
    oldest_uuid: messages[0]?.uuid ?? null,
    newest_uuid: messages.at(-1)?.uuid ?? null,
  });
}
