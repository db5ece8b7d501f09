/** Promise: a log that is not read, and a disk without room, cost lines of the log and answers, never the process. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RelayProcess, type TestDaemon, connectDaemon, startRelayProcess } from '@relay/testing';
import { itWith } from '@relay/testing/needs';

const leftovers: (() => unknown)[] = [];
afterEach(async () => {
  for (const leave of leftovers.splice(0).reverse()) await leave();
});

/** Every frame of an unknown type is a line of the log at this level. */
const talkative = { LOG_LEVEL: 'debug', FRAMES_PER_SECOND: '10000', FRAME_BURST: '100000' };

const start = async (options: Parameters<typeof startRelayProcess>[0]) => {
  const relay = await startRelayProcess(options);
  leftovers.push(() => relay.end('SIGKILL'));
  return relay;
};
const residentMiB = ({ process: { pid } }: RelayProcess) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;

/** Makes this many lines of the log, and resolves when the relay has written them, or not. */
async function makeLines(daemon: TestDaemon, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) daemon.send({ type: `unknown ${n} ${'x'.repeat(100)}` });
  const answered = new Promise((resolve) => daemon.socket.once('pong', resolve));
  daemon.socket.ping('after all of them');
  const end = await Promise.race([answered.then(() => undefined), daemon.closed]);
  expect(end).toBeUndefined();
}

/** A task is accepted, reaches the daemon, and ends. */
async function serves(relay: RelayProcess, daemon: TestDaemon): Promise<void> {
  const created = await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'work' } });
  expect(created.status).toBe(201);
  await daemon.next('task_start', (frame) => frame.task_id === created.body.taskId);
  daemon.event(created.body.taskId, 'TASK_COMPLETE', { session_id: 'native', result: 'done' });
}

/** A disk of its own, ended with the test. */
function makeDisk(size: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'relay-disk-'));
  leftovers.push(() => rmSync(folder, { recursive: true, force: true }));
  expect(spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=700`, 'tmpfs', folder])).toMatchObject({
    status: 0,
  });
  leftovers.push(() => spawnSync('umount', ['--lazy', folder]));
  return folder;
}
/** Takes all room; returns what gives it back. */
function fill(folder: string): () => void {
  const ballast = join(folder, 'ballast');
  spawnSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=64k']);
  spawnSync('sh', ['-c', `head -c 65536 /dev/zero >> ${ballast}`]);
  expect(statfsSync(folder).bavail).toBe(0);
  return () => rmSync(ballast);
}

describe('R11: the log', () => {
  it('R11: a log pipe that is not read costs lines and nothing else; the log says how many when it is read again', async () => {
    const relay = await start({ env: talkative, log: 'unread' });
    const daemon = await connectDaemon(relay, { headers: { 'X-Daemon-Capabilities': 'receipts' } });
    await makeLines(daemon, 2_000);
    const before = residentMiB(relay);
    for (let round = 0; round < 10; round += 1) await makeLines(daemon, 4_000);
    await serves(relay, daemon);
    // 40,000 lines are more than 15 MiB; what waits for a reader has a bound.
    expect(residentMiB(relay) - before).toBeLessThan(200);
    let log = '';
    const told = new Promise<void>((resolve) => {
      relay.process.stdout!.on('data', (chunk: Buffer) => {
        log += chunk.toString('utf8');
        if (/"lost":\d+.*\n/.test(log)) resolve();
      });
    });
    await told;
    const lines = log.trim().split('\n');
    const loss = lines.find((line) => line.includes('"lost"'))!;
    const { lost, level, msg } = JSON.parse(loss) as { lost: number; level: string; msg: string };
    expect({ level, msg }).toEqual({ level: 'warn', msg: expect.stringMatching(/lines of the log were lost/) });
    expect(lost).toBeGreaterThan(10_000);
    for (const line of lines) expect(() => JSON.parse(line) as unknown).not.toThrow();
    await serves(relay, daemon);
    expect(await relay.end('SIGTERM')).toBe(0);
  }, 120_000);

  it('R11: a process whose log pipe is not read leaves on SIGTERM', async () => {
    const relay = await start({ env: talkative, log: 'unread' });
    const daemon = await connectDaemon(relay, { headers: { 'X-Daemon-Capabilities': 'receipts' } });
    await makeLines(daemon, 4_000);
    expect(await relay.end('SIGTERM')).toBe(0);
  }, 60_000);

  it('R11: a log pipe whose reader has gone costs lines and nothing else', async () => {
    const relay = await start({ env: talkative, log: 'unread' });
    const daemon = await connectDaemon(relay, { headers: { 'X-Daemon-Capabilities': 'receipts' } });
    relay.process.stdout!.destroy();
    await makeLines(daemon, 100);
    await serves(relay, daemon);
    expect(await relay.end('SIGTERM')).toBe(0);
  }, 60_000);

  itWith(
    'root',
    'R11: a log file on a full disk costs lines and nothing else',
    async () => {
      const disk = makeDisk('1m');
      const file = join(disk, 'log');
      const log = openSync(file, 'a');
      leftovers.push(() => closeSync(log));
      const relay = await start({ env: talkative, log });
      const daemon = await connectDaemon(relay, { headers: { 'X-Daemon-Capabilities': 'receipts' } });
      const makeRoom = fill(disk);
      await makeLines(daemon, 1_000);
      await serves(relay, daemon);
      makeRoom();
      await makeLines(daemon, 10);
      await serves(relay, daemon);
      expect(readFileSync(file, 'utf8')).toMatch(/^\{.*"lost":\d+.*lines of the log were lost.*\}$/m);
      expect(await relay.end('SIGTERM')).toBe(0);
    },
    60_000,
  );
});

describe('R11: the disk of DATA_DIR', () => {
  itWith(
    'root',
    'R11: when it is full what changes something is 503 and what was accepted is kept; it goes on when there is room',
    async () => {
      const disk = makeDisk('400m');
      mkdirSync(join(disk, 'data'));
      const relay = await start({ dataDir: join(disk, 'data'), env: { STATUS_WAIT_MS: '60000' } });
      const daemon = await connectDaemon(relay);
      await serves(relay, daemon);
      const ready = async () => (await relay.call('ready', { user: null })).status;
      const makeRoom = fill(disk);
      const accepted: string[] = [];
      const statuses = new Set<number>();
      // Until it says so: files of the database have room of their own for a while.
      while (!statuses.has(503)) {
        const created = await relay.call('createSession', {
          body: { deviceId: daemon.deviceId, message: 'x'.repeat(50_000) },
        });
        statuses.add(created.status);
        if (created.status === 201) accepted.push(created.body.id);
      }
      expect([...statuses].filter((status) => ![201, 503].includes(status))).toEqual([]);
      while ((await ready()) !== 503);
      expect((await relay.call('health', { user: null })).status).toBe(200);
      makeRoom();
      while ((await ready()) !== 200);
      for (const id of accepted) expect((await relay.call('readSession', { params: { id } })).status).toBe(200);
      await serves(relay, daemon);
      expect(await relay.end('SIGTERM')).toBe(0);
    },
    120_000,
  );
});
