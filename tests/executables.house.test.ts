/**
 * Promise: the executables of the daemon and the command line need no Node. Both run in an empty folder with an empty
 * PATH, and the agent of the machine answers.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openDevIssuer } from '@relay/auth';
import { createClient } from '@relay/client';
import { freePort, startRelayProcess } from '@relay/testing';
import { until } from './cluster/until.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const run = promisify(execFile);

describe('the executables', () => {
  let folder: string;
  let machine: string;
  let env: Record<string, string>;
  const ends: (() => Promise<void>)[] = [];
  const executable = (name: string) => join(folder, 'release', `${name}-${process.platform}-${process.arch}`);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'relay-executables-'));
    machine = join(folder, 'machine');
    await mkdir(machine);
    env = { PATH: '/nowhere', HOME: machine };
    const { stdout, stderr } = await run(
      process.execPath,
      ['scripts/pack.mjs', '--executables', '--into', join(folder, 'release')],
      { cwd: root },
    );
    process.stdout.write(stdout);
    expect(stderr).toBe('');
  }, 300_000);

  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
    await rm(folder, { recursive: true, force: true });
  });

  function start(args: readonly string[]): { child: ChildProcess; said: () => string } {
    const child = spawn(executable('relay-daemon'), args, { cwd: machine, env, stdio: ['ignore', 'pipe', 'pipe'] });
    ends.push(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
    return { child, said: () => said };
  }

  it('print their version and nothing else, and are one file each', async () => {
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
    for (const name of ['relay-daemon', 'relay'])
      expect(await run(executable(name), ['--version'], { env, cwd: machine })).toEqual({
        stdout: `${version}\n`,
        stderr: '',
      });
    expect(await readdir(join(folder, 'release'))).toHaveLength(2);
    expect((await stat(executable('relay'))).size).toBeLessThan(150e6);
  });

  it('connect a machine, and reach its agent', async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const relay = await startRelayProcess({ env: { PORT: String(port), PUBLIC_URL: url } });
    ends.push(async () => {
      await relay.end('SIGTERM');
      await rm(relay.dataDir, { recursive: true, force: true });
    });
    const token = openDevIssuer(relay.dataDir, { audience: `${url}/api` }).sign();
    const client = createClient({ baseUrl: url, token });

    const register = start(['register', '--server', url, '--agent', 'demo', '--name', 'bare', '--json']);
    await until('the code is shown', () => register.said().includes('user_code'));
    const code = /"user_code":"([\w-]+)"/.exec(register.said())?.[1] ?? '';
    await client.call('approveCode', { params: { userCode: code } });
    await once(register.child, 'exit');
    start(['up']);
    const isOnline = async () => (await client.call('listDevices')).devices.some(({ status }) => status === 'online');
    await until('the machine is online', isOnline);

    const person = { ...env, RELAY_CLI_URL: url, RELAY_CLI_TOKEN: token };
    const devices = await run(executable('relay'), ['devices'], { env: person, cwd: machine });
    expect(devices.stdout).toMatch(/bare.*online/);
    const sent = await run(executable('relay'), ['new', 'bare', 'hello', '--json'], { env: person, cwd: machine });
    const { taskId } = JSON.parse(sent.stdout) as { taskId: string };
    const state = async () => (await client.call('readTask', { params: { id: taskId } })).state;
    // The demonstration agent introduces itself, then asks a question.
    await until('it asks', async () => (await state()) === 'waiting');
  }, 120_000);
});
