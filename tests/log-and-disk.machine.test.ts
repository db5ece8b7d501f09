/** Promise: an unread log pipe or a full disk costs log lines and failed requests, never the process. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type RelayProcess, type TestDaemon, connectDaemon, startRelayProcess } from '@relay/testing';
import { itWith } from '@relay/testing/needs';

const leftovers: (() => unknown)[] = [];
afterEach(async () => {
  for (const leave of leftovers.splice(0).reverse()) await leave();
});

/** At this level, the relay logs one line for each frame of an unknown type. */
const talkative = { LOG_LEVEL: 'debug', FRAMES_PER_SECOND: '10000', FRAME_BURST: '100000' };

const start = async (options: Parameters<typeof startRelayProcess>[0]) => {
  const relay = await startRelayProcess(options);
  leftovers.push(() => relay.end('SIGKILL'));
  return relay;
};
const residentMiB = ({ process: { pid } }: RelayProcess) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;

/** Causes this many log lines. Resolves when the relay has handled the frames, even if it could not write the lines. */
async function makeLines(daemon: TestDaemon, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) daemon.send({ type: `unknown ${n} ${'x'.repeat(100)}` });
  const answered = new Promise((resolve) => daemon.socket.once('pong', resolve));
  daemon.socket.ping('after all of them');
  const end = await Promise.race([answered.then(() => undefined), daemon.closed]);
  expect(end).toBeUndefined();
}

/** The relay accepts a task, its daemon receives it, and it completes. */
async function serves(relay: RelayProcess, daemon: TestDaemon): Promise<void> {
  const created = await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'work' } });
  expect(created.status).toBe(201);
  await daemon.next('task_start', (frame) => frame.task_id === created.body.taskId);
  daemon.event(created.body.taskId, 'TASK_COMPLETE', { session_id: 'native', result: 'done' });
}

/** Mounts a small disk until the test has finished. */
function makeDisk(size: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'relay-disk-'));
  leftovers.push(() => rmSync(folder, { recursive: true, force: true }));
  expect(spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=700`, 'tmpfs', folder])).toMatchObject({
    status: 0,
  });
  leftovers.push(() => spawnSync('umount', ['--lazy', folder]));
  return folder;
}
/** Fills the disk. Returns a function that frees the space. */
function fill(folder: string): () => void {
  const ballast = join(folder, 'ballast');
  spawnSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=64k']);
  spawnSync('sh', ['-c', `head -c 65536 /dev/zero >> ${ballast}`]);
  expect(statfsSync(folder).bavail).toBe(0);
  return () => rmSync(ballast);
}

describe('R11: the log', () => {
  it('R11: an unread log pipe costs lines and nothing else; a later line of the log counts them', async () => {
    const relay = await start({ env: talkative, log: 'unread' });
    const daemon = await connectDaemon(relay, { headers: { 'X-Daemon-Capabilities': 'receipts' } });
    await makeLines(daemon, 2_000);
    const before = residentMiB(relay);
    for (let round = 0; round < 10; round += 1) await makeLines(daemon, 4_000);
    await serves(relay, daemon);
    // 40,000 lines take more than 15 MiB, but the buffer for a slow reader is bounded.
    expect(residentMiB(relay) - before).toBeLessThan(200);
    const lines: string[] = [];
    const losses: { lost: number; level: string; msg: string }[] = [];
    // Node reads a part of the pipe before anything asks for it, so several lines can carry a count.
    await new Promise<void>((resolve) => {
      createInterface({ input: relay.process.stdout! }).on('line', (line) => {
        lines.push(line);
        if (!line.includes('"lost"')) return;
        losses.push(JSON.parse(line) as (typeof losses)[number]);
        if (losses.reduce((sum, { lost }) => sum + lost, 0) > 10_000) resolve();
      });
    });
    for (const { level, msg } of losses)
      expect({ level, msg }).toEqual({ level: 'warn', msg: expect.stringMatching(/lines of the log were lost/) });
    for (const line of lines) expect(() => JSON.parse(line) as unknown).not.toThrow();
    await serves(relay, daemon);
    expect(await relay.end('SIGTERM')).toBe(0);
  }, 120_000);

  it('R11: a process with an unread log pipe exits on SIGTERM', async () => {
    const relay = await start({ env: talkative, log: 'unread' });
    const daemon = await connectDaemon(relay, { headers: { 'X-Daemon-Capabilities': 'receipts' } });
    await makeLines(daemon, 4_000);
    expect(await relay.end('SIGTERM')).toBe(0);
  }, 60_000);

  it('R11: a closed log pipe costs lines and nothing else', async () => {
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
    'R11: a full disk makes writes fail with 503 and loses no accepted session; the relay recovers with free space',
    async () => {
      const disk = makeDisk('400m');
      mkdirSync(join(disk, 'data'));
      const relay = await start({ dataDir: join(disk, 'data'), env: { TEST_STATUS_WAIT_MS: '60000' } });
      const daemon = await connectDaemon(relay);
      await serves(relay, daemon);
      const ready = async () => (await relay.call('ready', { user: null })).status;
      const makeRoom = fill(disk);
      const accepted: string[] = [];
      const statuses = new Set<number>();
      // The database files have some free space of their own before the first 503.
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
