/**
 * Promise: no installation needs a clone. The packed relay serves from an empty folder, a second machine installs the
 * daemon from that relay, and its agent answers.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openDevIssuer } from '@relay/auth';
import { createClient } from '@relay/client';
import { freePort } from '@relay/testing';
import { until } from './cluster/until.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const run = promisify(execFile);

interface Packed {
  name: string;
  file: string;
  bytes: number;
}

/** The environment of a machine with Node and nothing of this repository. */
const bare = (home: string, more: Record<string, string> = {}) => ({ PATH: process.env.PATH, HOME: home, ...more });

describe('the packages', () => {
  let folder: string;
  let packed: Packed[];
  const running: ChildProcess[] = [];
  const inFolder = (...path: string[]) => join(folder, ...path);
  const archive = (name: string) => packed.find((one) => one.name === name)!;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'relay-pack-'));
    const { stdout } = await run(process.execPath, ['scripts/pack.mjs', '--json', '--into', inFolder('release')], {
      cwd: root,
    });
    packed = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Packed);
  }, 300_000);

  afterAll(async () => {
    for (const child of running) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await rm(folder, { recursive: true, force: true });
  });

  function start(program: string, args: readonly string[], env: Record<string, string | undefined>, cwd: string) {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    running.push(child);
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
    return { child, said: () => said };
  }

  /** Installs these archives into an empty folder. Resolves with its path. */
  async function installed(name: string, ...archives: string[]): Promise<string> {
    const place = inFolder(name);
    await mkdir(place);
    await writeFile(join(place, 'package.json'), '{}');
    const files = archives.map((one) => archive(one).file);
    await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts', ...files], {
      cwd: place,
      env: { ...process.env, NODE_ENV: undefined },
    });
    return place;
  }

  const countIn = async (place: string) => {
    const lock = JSON.parse(await readFile(join(place, 'node_modules', '.package-lock.json'), 'utf8')) as {
      packages: object;
    };
    return Object.keys(lock.packages).length;
  };

  const sizeOf = async (place: string) => {
    const files = await readdir(place, { recursive: true, withFileTypes: true });
    const sizes = files.filter((one) => one.isFile()).map((one) => stat(join(one.parentPath, one.name)));
    return (await Promise.all(sizes)).reduce((sum, { size }) => sum + size, 0);
  };

  it('M5: of daemon and command line are one package each, smaller than 5 MB, and run', async () => {
    const place = await installed('programs', '@agent-session-relay/daemon', '@agent-session-relay/cli');
    expect(await countIn(place)).toBe(2);
    expect(archive('@agent-session-relay/daemon').bytes).toBeLessThan(5e6);
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    for (const program of ['relay-daemon', 'relay']) {
      const { stdout } = await run(join(place, 'node_modules', '.bin', program), ['--version'], { env: bare(folder) });
      expect(stdout.trim()).toBe(version);
    }
  }, 120_000);

  it('of the libraries install together and can be imported by their public names', async () => {
    const names = ['protocol', 'client', 'machine', 'daemon-kit', 'conformance'].map(
      (name) => `@agent-session-relay/${name}`,
    );
    const place = await installed('libraries', ...names);
    const script = `
      const { createClient } = await import('@agent-session-relay/client');
      const { createDaemon } = await import('@agent-session-relay/daemon-kit');
      const { decodeDaemonFrame } = await import('@agent-session-relay/protocol');
      console.log(typeof createClient, typeof createDaemon, typeof decodeDaemonFrame);`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], { cwd: place });
    expect(stdout.trim()).toBe('function function function');
    const help = await run(join(place, 'node_modules', '.bin', 'relay-conformance'), ['--help']);
    expect(help.stdout).toContain('Usage');
    expect(existsSync(join(place, 'node_modules/@agent-session-relay/protocol/openapi.json'))).toBe(true);
  }, 120_000);

  it('serve a relay from an empty folder, install a second machine from that relay, and bring a first answer', async () => {
    const place = await installed('relay', 'agent-session-relay');
    const url = `http://127.0.0.1:${String(await freePort())}`;
    const data = inFolder('data');
    const relay = start(
      join(place, 'node_modules', '.bin', 'agent-session-relay'),
      [],
      { ...bare(folder), PORT: new URL(url).port, PUBLIC_URL: url, DATA_DIR: data, AUTH_DEV_ISSUER: 'on' },
      place,
    );
    await until('the relay is ready', () => relay.said().includes('is ready at'));
    expect(await (await fetch(`${url}/docs/`)).text()).toContain('Agents on your own machines');
    const bytes = await sizeOf(join(place, 'node_modules'));
    process.stdout.write(`the relay, installed: ${(bytes / 1e6).toFixed(1)} MB in ${await countIn(place)} packages\n`);
    expect(bytes).toBeLessThan(120e6);

    const machine = inFolder('machine');
    await mkdir(machine);
    const script = await (await fetch(`${url}/install.sh`)).text();
    await run('sh', ['-c', script], { env: bare(machine) });
    const program = join(machine, '.local', 'bin', 'relay-daemon');
    expect(readlinkSync(program)).toContain(join(machine, '.local', 'share', 'relay-daemon'));

    const register = start(
      program,
      ['register', '--server', url, '--agent-type', 'demo', '--name', 'second', '--json'],
      bare(machine),
      machine,
    );
    await until('the code is shown', () => register.said().includes('user_code'));
    const code = /"user_code":"([\w-]+)"/.exec(register.said())?.[1] ?? '';
    const client = createClient({ baseUrl: url, token: openDevIssuer(data).sign() });
    await client.call('approveCode', { params: { userCode: code } });
    await once(register.child, 'exit');
    start(program, ['run'], bare(machine), machine);
    const online = async () => (await client.call('listDevices')).devices.find(({ status }) => status === 'online');
    await until('the machine is online', async () => (await online()) !== undefined);
    const device = (await online())!;
    const { taskId } = await client.call('createSession', { body: { deviceId: device.id, message: 'hello' } });
    await until(
      'it answers',
      async () => (await client.call('readTask', { params: { id: taskId } })).state === 'completed',
    );
  }, 300_000);
});
