/**
 * Promise: the client in examples/ prints the frames of an app, and its exit code shows whether it could receive them.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type TestRelay, connectDaemon, startRelay } from '@relay/testing';

const program = fileURLToPath(new URL('../examples/listen.mjs', import.meta.url));
const running = new Set<ChildProcess>();

function listen(token: string, ...args: string[]) {
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env.PATH, TOKEN: token },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  const printed = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const said = createInterface({ input: child.stderr })[Symbol.asyncIterator]();
  return {
    /** The next frame except device_status: the device can come online before or after the example starts. */
    nextPrinted: async (): Promise<string> => {
      for (;;) {
        const { value } = await printed.next();
        if (!String(value).includes('device_status')) return String(value);
      }
    },
    nextSaid: async () => String((await said.next()).value),
    interrupt: () => child.kill('SIGINT'),
    exitCode: once(child, 'exit').then(([code]) => code as number | null),
  };
}

describe('the listening example', () => {
  let relay: TestRelay;

  beforeAll(async () => {
    relay = await startRelay();
  });
  afterAll(async () => {
    for (const child of running) child.kill('SIGKILL');
    await relay.stop();
  });

  it('prints one line per frame, and exits with 0 when interrupted', async () => {
    const daemon = await connectDaemon(relay);
    const example = listen(relay.token(), relay.url);
    expect(await example.nextSaid()).toContain('Listening');
    const { body } = await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'hello' } });
    expect(await example.nextPrinted()).toBe('session_update  pending');
    expect(await example.nextPrinted()).toBe('new_message     USER     "hello"');
    expect(await example.nextPrinted()).toBe('session_update  pending');
    daemon.event(body.taskId, 'OUTPUT', { output: 'line\n' });
    expect(await example.nextPrinted()).toBe('session_update  active');
    expect(await example.nextPrinted()).toBe('task_output     "line\\n"');
    example.interrupt();
    expect(await example.exitCode).toBe(0);
    await daemon.close();
  });

  it('prints unchanged frames with --json', async () => {
    const daemon = await connectDaemon(relay);
    const example = listen(relay.token(), '--json', relay.url);
    expect(await example.nextSaid()).toContain('Listening');
    const { body } = await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'hello' } });
    const frame = JSON.parse(await example.nextPrinted()) as unknown;
    expect(frame).toMatchObject({ type: 'session_update', session: { id: body.id } });
    example.interrupt();
    await example.exitCode;
    await daemon.close();
  });

  it('exits with 1 and the reason when the relay refuses its token', async () => {
    const example = listen('nonsense', relay.url);
    expect(await example.nextSaid()).toContain('INVALID_TOKEN');
    expect(await example.exitCode).toBe(1);
  });

  it('exits with 1 and the reason when the relay closes the connection', async () => {
    const leaving = await startRelay();
    const example = listen(leaving.token(), leaving.url);
    expect(await example.nextSaid()).toContain('Listening');
    await leaving.stop();
    expect(await example.nextSaid()).toContain('1001');
    expect(await example.exitCode).toBe(1);
  });
});
