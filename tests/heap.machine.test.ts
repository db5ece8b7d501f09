/**
 * Promise: with a small heap, the relay slows or closes peers that send much and read nothing, and serves others (R11).
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type RelayProcess,
  type TestApp,
  type TestDaemon,
  connectApp,
  connectDaemon,
  startRelayProcess,
} from '@relay/testing';

describe('R11: a process with 160 MiB of heap', () => {
  let relay: RelayProcess;
  let daemon: TestDaemon;
  let app: TestApp;

  beforeAll(async () => {
    relay = await startRelayProcess({
      env: { NODE_OPTIONS: '--max-old-space-size=160', TEST_SLOW_READER_STALL_MS: '3000' },
    });
    daemon = await connectDaemon(relay, { user: 'alice' });
    app = await connectApp(relay, { user: 'alice', since: '' });
  }, 90_000);
  afterAll(async () => void (await relay.end('SIGKILL')));

  /** Another user's task runs and completes, and its result is published. */
  const serves = async () => {
    const created = await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'work' } });
    expect(created.status).toBe(201);
    const task = created.body.taskId;
    await daemon.next('task_start', ({ task_id: id }) => id === task, 60_000);
    daemon.event(task, 'TASK_COMPLETE', { session_id: `native-${task}`, result: `done ${task}` });
    const isEnd = (frame: object) => (frame as { message: { content: string } }).message.content === `done ${task}`;
    await app.next('new_message', isEnd, 60_000);
  };
  /** Checks this during `act` and while the relay works off its frames. */
  const servesDuring = async (act: Promise<unknown>) => {
    let isOver = false;
    const end = act.finally(() => (isOver = true));
    end.catch(() => undefined);
    do await serves();
    while (!isOver);
    await end;
    for (let n = 0; n < 5; n += 1) await serves();
    expect(relay.process.exitCode ?? relay.process.signalCode).toBeNull();
  };
  /** Writes as fast as the socket accepts frames, while it is open. */
  const pour = async (peer: TestDaemon, count: number, frame: (n: number) => string) => {
    for (let n = 0; n < count && peer.socket.readyState === peer.socket.OPEN; n += 1)
      await new Promise<void>((resolve) => peer.socket.send(frame(n), () => resolve()));
  };
  const attackers = (count: number) =>
    Promise.all(Array.from({ length: count }, (_, n) => connectDaemon(relay, { user: `mallory-${n}` })));
  const end = (peers: readonly TestDaemon[]) => {
    for (const { socket } of peers) socket.terminate();
  };

  it('R11: survives reports of the maximum frame size', async () => {
    const peers = await attackers(6);
    const entries = (n: number) =>
      Array.from({ length: 14_000 }, (_, i) => ({
        session_id: `${n}-${i}`,
        title: 'x'.repeat(900),
        project: '/x',
        last_activity: new Date().toISOString(),
      }));
    const act = Promise.all(
      peers.map((peer) => pour(peer, 1, (n) => JSON.stringify({ type: 'report_sessions', sessions: entries(n) }))),
    );
    await servesDuring(act);
    end(peers);
    await serves();
  }, 120_000);

  it('R11: survives output and messages for apps that read nothing', async () => {
    const peers = await attackers(4);
    const deaf = await Promise.all(
      peers.flatMap(({ registration: { user } }) =>
        [0, 1, 2].map(() => connectApp(relay, { user, since: '', output: true })),
      ),
    );
    for (const { socket } of deaf) socket.pause();
    const big = 'x'.repeat(1_000_000);
    const act = Promise.all(
      peers.map((peer) =>
        pour(peer, 40, (n) =>
          JSON.stringify({
            ...{ type: 'event', task_id: '', session_id: 'desk', uuid: `${n}` },
            ...(n % 2 === 0 ? { event_type: 'AGENT_RESPONSE', content: big } : { event_type: 'OUTPUT', output: big }),
          }),
        ),
      ),
    );
    // The relay slows these senders, so `act` might never resolve.
    act.catch(() => undefined);
    for (let n = 0; n < 40; n += 1) await serves();
    expect(relay.process.exitCode ?? relay.process.signalCode).toBeNull();
    for (const { socket } of deaf) socket.terminate();
    end(peers);
    await serves();
  }, 120_000);
});
