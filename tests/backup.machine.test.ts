/**
 * Promise: a backup of a running relay is complete. `relay-admin` reaches the running relay over a socket in its data
 * folder.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as tick } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type RelayProcess, connectDaemon, startRelayProcess } from '@relay/testing';

const program = fileURLToPath(new URL('../apps/standalone/dist/admin.js', import.meta.url));

/** Runs concurrently, because this process produces the load of the relay. */
const admin = (dataDir: string, ...args: string[]) =>
  new Promise<{ status: number; stdout: string; stderr: string }>((resolve) => {
    execFile(
      process.execPath,
      [program, ...args],
      { env: { PATH: process.env.PATH, DATA_DIR: dataDir } },
      (error, stdout, stderr) => resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });

describe('relay-admin backup', () => {
  let folder: string;
  let relay: RelayProcess;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'relay-backup-'));
    relay = await startRelayProcess({ dataDir: join(folder, 'data') });
  }, 120_000);
  afterAll(async () => {
    await relay.end('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  const titles = async (at: RelayProcess) =>
    (await at.call('listSessions')).body.sessions.map(({ title }) => title).sort();

  it('has every session acknowledged before it, and the relay keeps serving concurrently', async () => {
    const { deviceId } = await connectDaemon(relay);
    const answered: string[] = [];
    let isWorking = true;
    const load = (async () => {
      for (let n = 1; isWorking && n <= 9; n += 1) {
        const { status, body } = await relay.call('createSession', { body: { deviceId, message: `task ${n}` } });
        expect(status).toBe(201);
        answered.push(body.title);
      }
    })();
    while (answered.length === 0) await tick(5);
    const before = [...answered];
    const target = join(folder, 'copy');
    const { status, stdout } = await admin(relay.dataDir, 'backup', target, '--json');
    isWorking = false;
    await load;
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ folder: target, files: expect.any(Number) });
    expect(statSync(target).mode & 0o777).toBe(0o700);
    expect(existsSync(join(target, 'admin.sock'))).toBe(false);
    expect(await titles(relay)).toEqual([...answered].sort());

    const restored = await startRelayProcess({ dataDir: target });
    try {
      const kept = await titles(restored);
      expect(kept).toEqual(expect.arrayContaining(before));
      expect(answered).toEqual(expect.arrayContaining(kept));
      expect((await restored.call('listDevices')).body.devices).toHaveLength(1);
    } finally {
      await restored.end('SIGTERM');
    }
  }, 180_000);

  it('works while the relay is stopped, too', async () => {
    const target = join(folder, 'cold');
    await relay.end('SIGTERM');
    const { status } = await admin(relay.dataDir, 'backup', target);
    const expected = relay.dataDir;
    relay = await startRelayProcess({ dataDir: expected });
    expect(status).toBe(0);
    const restored = await startRelayProcess({ dataDir: target });
    try {
      expect(await titles(restored)).toEqual(await titles(relay));
    } finally {
      await restored.end('SIGTERM');
    }
  }, 180_000);

  it('refuses a folder that exists or lies inside the data folder, and leaves nothing behind', async () => {
    const existing = await admin(relay.dataDir, 'backup', folder);
    expect(existing).toMatchObject({ status: 1, stderr: expect.stringContaining('it exists. Choose a new name.') });
    const inside = await admin(relay.dataDir, 'backup', join(relay.dataDir, 'backup'));
    expect(inside).toMatchObject({ status: 1, stderr: expect.stringContaining('lies inside of the data folder') });
    const nowhere = await admin(relay.dataDir, 'backup', join(folder, 'no', 'such'));
    expect(nowhere).toMatchObject({ status: 1, stderr: expect.stringContaining('the folder above it does not exist') });
    expect((await relay.call('listSessions')).status).toBe(200);
  }, 60_000);

  it('account commands also work while the relay runs, and after it was killed', async () => {
    const whileItRuns = await admin(relay.dataDir, 'people', '--json');
    expect(whileItRuns).toMatchObject({ status: 0, stderr: '' });
    await relay.end('SIGKILL');
    const afterwards = await admin(relay.dataDir, 'people');
    expect(afterwards).toMatchObject({ status: 0, stderr: '' });
    relay = await startRelayProcess({ dataDir: relay.dataDir });
    expect((await admin(relay.dataDir, 'people')).status).toBe(0);
  }, 180_000);
});
