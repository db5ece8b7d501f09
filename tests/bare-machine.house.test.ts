/**
 * Promise: on a machine with nothing but Node, jest skips tests by name whose programs are missing, and the build names
 * missing dependencies.
 */
import { describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startRelayProcess } from '@relay/testing';
import { allPrograms } from '@relay/testing/needs';
import { until } from './cluster/until.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (file: string) => readFileSync(join(root, file), 'utf8');

function run(words: readonly string[], env: NodeJS.ProcessEnv = {}, cwd = root) {
  const { status, stdout, stderr } = spawnSync(process.execPath, words, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  return { status, output: `${stdout}${stderr}` };
}

describe('M1: a program that is not installed', () => {
  const noKubectl = { KUBECTL: '/nowhere/kubectl' };
  const oneFile = ['scripts/jest.mjs', 'tests/k8s-settings.house.test.ts'];

  it('skips its tests, listed by name at the start and in a table at the end', () => {
    const { status, output } = run(oneFile, { ...noKubectl, TEST_PROGRAMS: '' });
    // Other programs can be missing as well on this machine.
    expect(output).toMatch(/Not installed, so their tests are skipped: .*\bkubectl\./);
    expect(output).toMatch(/SKIPPED: \d+ tests of 1 suites/);
    expect(output).toMatch(/tests\/k8s-settings\.house\.test\.ts +\d+ +kubectl/);
    expect(output).toContain('scripts/install-test-programs.sh');
    expect(status).toBe(0);
  });

  it('fails a run of all tests before its first test', () => {
    const { status, output } = run(oneFile, { ...noKubectl, TEST_PROGRAMS: 'required' });
    expect(output).toMatch(/Programs are missing that tests need: .*\bkubectl\./);
    expect(output).not.toContain('PASS');
    expect(status).not.toBe(0);
  });
});

describe('M2: a fresh machine of the checks', () => {
  it('gets every program that a test needs before anything else runs', () => {
    const steps = read('.ci/run')
      .split('\n')
      .flatMap((line) => /^step (.+)/.exec(line)?.[1] ?? []);
    expect(steps[0]).toBe('scripts/install-test-programs.sh');
    expect(steps).toContain('npm test');
    expect(read('.ci/run')).toContain('TEST_PROGRAMS=required');
    const script = read('scripts/install-test-programs.sh');
    const installs = [...script.matchAll(/missing\+=\(([^)]+)\)/g)].flatMap(([, names]) => names!.split(' '));
    expect(allPrograms.filter((name) => !installs.includes(name))).toEqual([]);
  });
});

describe('M7: `npm ci`', () => {
  it('installs no deprecated package, and Dependabot looks for newer ones every week', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, { deprecated?: string }> };
    expect(Object.keys(packages).length).toBeGreaterThan(100);
    expect(Object.keys(packages).filter((name) => packages[name]!.deprecated !== undefined)).toEqual([]);
    const npm = read('.github/dependabot.yml')
      .split('package-ecosystem: ')
      .find((part) => part.startsWith('npm'));
    expect(npm).toMatch(/interval: weekly/);
  });
});

describe('M3: the build', () => {
  const inputsOf = (name: string) => {
    const { output } = run(['scripts/turbo.mjs', 'run', 'build', `--filter=${name}`, '--dry=json']);
    const { tasks } = JSON.parse(output.slice(output.indexOf('{'))) as {
      tasks: { taskId: string; inputs: Record<string, string> }[];
    };
    return Object.keys(tasks.find(({ taskId }) => taskId === `${name}#build`)!.inputs);
  };

  it('does not depend on files that it writes itself', () => {
    const inputs = inputsOf('@relay/database');
    expect(inputs.filter((file) => file.includes('generated'))).toEqual([]);
    expect(inputs).toContain('src/open.ts');
  });

  it('runs again after a change of a static file or of the packing script', () => {
    const served = readdirSync(join(root, 'apps/web/public')).map((name) => `public/${name}`);
    expect(served.length).toBeGreaterThan(3);
    expect(inputsOf('@relay/web')).toEqual(expect.arrayContaining(served));
    for (const name of ['@relay/cli', '@relay/daemon'])
      expect(inputsOf(name)).toContain('../../scripts/pack/program.mjs');
  });
});

describe('M6: an installation without development dependencies', () => {
  const inFolder = (work: (folder: string) => void) => {
    const folder = mkdtempSync(join(tmpdir(), 'relay-bare-'));
    try {
      mkdirSync(join(folder, 'scripts'));
      copyFileSync(join(root, 'scripts/turbo.mjs'), join(folder, 'scripts/turbo.mjs'));
      work(folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
  const build = ['scripts/turbo.mjs', 'run', 'build', '--quiet'];

  it('names the missing dependencies if nothing was built', () => {
    inFolder((folder) => {
      const { status, output } = run(build, {}, folder);
      expect(output).toMatch(/not built.*needs the development dependencies.*`npm ci` without --omit=dev/s);
      expect(output).not.toMatch(/ {4}at |Cannot find module/);
      expect(status).toBe(1);
    });
  });

  it('uses an existing build', () => {
    inFolder((folder) => {
      mkdirSync(join(folder, 'apps/standalone/dist'), { recursive: true });
      writeFileSync(join(folder, 'apps/standalone/dist/main.js'), '');
      expect(run(build, {}, folder)).toEqual({ status: 0, output: '' });
    });
  });
});

describe('M6: a METRICS_PORT that is taken', () => {
  it('logs a sentence that names the variable', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const port = String((taken.address() as AddressInfo).port);
    const relay = await startRelayProcess({ env: { METRICS_PORT: port } });
    try {
      await until('the warning is in the log', () => relay.output().includes('METRICS_PORT'));
      expect(relay.output()).toMatch(/the port is not available; choose another one with METRICS_PORT/);
      expect(relay.output()).not.toMatch(/"stack"| {4}at /);
    } finally {
      await relay.end('SIGKILL');
      rmSync(relay.dataDir, { recursive: true, force: true });
      taken.close();
    }
  });
});
