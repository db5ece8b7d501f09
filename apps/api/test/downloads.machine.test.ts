/**
 * The daemon as the relay serves it: the install script reports each step, and changes nothing if anything is wrong.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { send } from '@relay/testing';
import express from 'express';
import { mountDownloads } from '../src/downloads.ts';
import { installScript } from '../src/install-script.ts';

const run = promisify(execFile);

/** Prints its version, and records each command; `status` reports that the machine is not registered. */
const main = `#!/usr/bin/env node
const { appendFileSync } = require('node:fs');
const words = process.argv.slice(2).join(' ');
if (words === '' || words === '--version') console.log('1.2.3');
else appendFileSync(process.env.HOME + '/commands', words + '\\n');
process.exit(words === 'status' ? 78 : 0);
`;

describe('the daemon that the relay serves', () => {
  let folder: string;
  let server: Server;
  let url: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'relay-downloads-'));
    await mkdir(join(folder, 'package', 'dist'), { recursive: true });
    await writeFile(join(folder, 'package', 'dist', 'main.js'), main);
    await run('tar', ['-czf', 'daemon.tgz', 'package'], { cwd: folder });
    const app = express();
    server = createServer((request, response) => void app(request, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    mountDownloads(app, { daemon: join(folder, 'daemon.tgz'), publicUrl: url, version: '1.2.3' });
  });
  afterAll(async () => {
    server.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Runs a script in a separate home. Resolves with its exit code, its output and the files of that home. */
  async function install(script: string, args: readonly string[] = [], env: Record<string, string> = {}) {
    const home = await mkdtemp(join(folder, 'home-'));
    const file = join(folder, `install-${String(args.length)}.sh`);
    await writeFile(file, script);
    const ended = await run('sh', [file, ...args], { env: { PATH: process.env.PATH, HOME: home, ...env } }).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      (error: { code: number; stdout: string; stderr: string }) => error,
    );
    const files = await readdir(home, { recursive: true });
    return { home, code: ended.code, stdout: ended.stdout, stderr: ended.stderr, files };
  }
  const served = async () => String((await send('GET', `${url}/install.sh`)).text);

  it('installs for one user, as a link to a folder of its version', async () => {
    const { home, code, stdout } = await install(await served());
    expect(code).toBe(0);
    expect(stdout).toContain(`register --server ${url} --agent auto`);
    const { stdout: version } = await run(join(home, '.local', 'bin', 'relay-daemon'));
    expect(version).toBe('1.2.3\n');
    expect(await readdir(join(home, '.local', 'share', 'relay-daemon'))).toEqual(['1.2.3']);
  });

  it('installs again over itself', async () => {
    const script = await served();
    const { home, stdout } = await install(script);
    const again = await run('sh', ['-c', script], { env: { PATH: process.env.PATH, HOME: home } });
    expect(again.stdout).toContain('Installed.');
    expect(again.stdout).toMatch(/service, this starts the new version:\n\n {2}.*relay-daemon service install\n/);
    expect(stdout).not.toContain('service install');
    expect(await readdir(join(home, '.local', 'share', 'relay-daemon'))).toEqual(['1.2.3']);
  });

  it.each([
    ['--service', {}, ['service install']],
    ['--no-service', { RELAY_DAEMON_KEY: 'rly_key' }, []],
  ] as [string, Record<string, string>, string[]][])(
    'W11: connects the machine in one line, with %s',
    async (option, env, last) => {
      const { code, home } = await install(await served(), [option], env);
      expect(code).toBe(0);
      const commands = (await readFile(join(home, 'commands'), 'utf8')).trim().split('\n');
      expect(commands).toEqual(['status', `register --server ${url} --agent auto`, ...last]);
    },
  );

  it('W11: refuses an unknown option', async () => {
    const { code, stderr, files } = await install(await served(), ['--servcie']);
    expect({ code, files }).toEqual({ code: 1, files: [] });
    expect(stderr).toContain('--servcie');
  });

  it('is described before anything changes; --dry-run changes nothing', async () => {
    const { stdout, files } = await install(await served(), ['--dry-run']);
    expect(stdout).toContain('This installs relay-daemon 1.2.3');
    expect(files).toEqual([]);
  });

  it('is rejected if its checksum differs', async () => {
    const script = installScript({ base: url, version: '1.2.3', sha256: '0'.repeat(64) });
    const { code, stderr, home } = await install(script);
    expect(code).toBe(1);
    expect(stderr).toContain('another checksum');
    expect(existsSync(join(home, '.local', 'bin', 'relay-daemon'))).toBe(false);
    expect(await readdir(join(home, '.local', 'share', 'relay-daemon'))).toEqual([]);
  });

  /** A PATH with these programs only. */
  async function pathOf(...programs: string[]) {
    const tools = await mkdtemp(join(folder, 'tools-'));
    for (const program of programs) {
      const { stdout } = await run('sh', ['-c', `command -v ${program}`]);
      await symlink(stdout.trim(), join(tools, program));
    }
    return tools;
  }

  it('is downloaded with Node where neither curl nor wget is installed', async () => {
    const env = {
      PATH: await pathOf('sh', 'node', 'tar', 'gzip', 'cat', 'mkdir', 'mktemp', 'rm', 'mv', 'ln', 'chmod'),
    };
    const { home, code, stderr } = await install(await served(), [], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(existsSync(join(home, '.local', 'bin', 'relay-daemon'))).toBe(true);
    const missing = installScript({ base: `${url}/nowhere`, version: '1.2.3', sha256: 'ab' });
    expect((await install(missing, [], env)).stderr).toContain('could not download');
  });

  it('requires Node, and names the version to install', async () => {
    const { code, stderr, files } = await install(await served(), [], { PATH: await pathOf('sh') });
    expect(code).toBe(1);
    expect(stderr).toContain('install Node 20.19 or newer');
    expect(files).toEqual([]);
  });

  it('does nothing when its script arrives in part', async () => {
    const script = await served();
    const { files } = await install(script.slice(0, script.indexOf('main "$@"')));
    expect(files).toEqual([]);
  });

  it('quotes its address safely for the shell', () => {
    const base = "https://relay.example/a'$(touch x)`b`";
    expect(installScript({ base, version: '1.2.3', sha256: 'ab' })).toContain(
      String.raw`base='https://relay.example/a'\''$(touch x)` + "`b`'",
    );
  });

  it('returns 404 where it is not built', async () => {
    const app = express();
    mountDownloads(app, { daemon: join(folder, 'nothing.tgz'), publicUrl: url, version: '1.2.3' });
    const other = createServer((request, response) => void app(request, response)).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { status } = await send('GET', `http://127.0.0.1:${(other.address() as AddressInfo).port}/install.sh`);
    other.close();
    expect(status).toBe(404);
  });

  it('matches the checksum in its script', async () => {
    const bytes = await readFile(join(folder, 'daemon.tgz'));
    expect(await served()).toContain(createHash('sha256').update(bytes).digest('hex'));
  });
});
