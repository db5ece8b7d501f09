import { afterEach, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { launchdPlist, systemdUnit, windowsTask } from '../src/service/definitions.ts';
import { serviceSystem } from '../src/service/service.ts';
import { temporaryFolders } from './folders.ts';
import { runProgram } from './program.ts';

const folders = temporaryFolders();
afterEach(() => folders.remove());

const plan = {
  node: process.execPath,
  script: '/opt/relay "daemon"/main.js',
  args: ['up', '--home', '/home/me/100% $HOME'],
  env: { PATH: '/usr/bin:/bin', NAME: `a "b" & <c>` },
  logFile: '/home/me/daemon.log',
};
const has = (program: string) => spawnSync(program, ['--version']).error === undefined;

describe('the service', () => {
  it('is a unit that systemd accepts, and that does not loop when the relay has turned the daemon away', () => {
    const unit = systemdUnit(plan);
    expect(unit).toContain('RestartPreventExitStatus=78');
    expect(unit).toContain('"/home/me/100%% $$HOME"');
    // The verdict of systemd itself, where there is one.
    if (!has('systemd-analyze')) return;
    const file = join(folders.make(), 'relay-daemon.service');
    writeFileSync(file, unit);
    const { status, stderr } = spawnSync('systemd-analyze', ['--user', 'verify', file], {
      encoding: 'utf8',
      env: { ...process.env, XDG_RUNTIME_DIR: folders.make() },
    });
    expect(stderr).not.toContain('relay-daemon.service');
    expect(status).toBe(0);
  });

  it('is a property list and a task in XML, with everything escaped', () => {
    for (const text of [launchdPlist(plan), windowsTask(plan)]) {
      expect(text).toContain('a &quot;b&quot; &amp; &lt;c&gt;');
      expect(text).not.toContain('<c>');
    }
  });

  it.each(['linux', 'darwin', 'win32'] as const)('has commands for install, start, stop and logs on %s', (platform) => {
    const system = serviceSystem({ HOME: '/home/me' }, '/state', platform);
    expect(Object.keys(system.run)).toEqual(['start', 'stop', 'logs']);
    expect(system.install.length).toBeGreaterThan(0);
  });

  it('shows its definition without installing it', async () => {
    const { code, out } = await runProgram(['service', 'install', '--print', '--home', folders.make()]);
    expect(code).toBe(0);
    expect(out).toContain(process.execPath);
    expect(out).toContain('PATH=');
  });
});
