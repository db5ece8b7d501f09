import { afterEach, describe, expect, it } from '@jest/globals';
import { itWith } from '@relay/testing/needs';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { terminalOn } from '@relay/machine';
import { serviceCommand } from '../src/commands/service.ts';
import { addressOf, takeHome } from '../src/lock.ts';
import { launchdPlist, systemdUnit, windowsTask } from '../src/service/definitions.ts';
import { installedService, servicePlan, serviceSystem } from '../src/service/service.ts';
import { temporaryFolders } from '@relay/testing/folders';
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

/** A definition as decoded by Python's parsers, independent of our code. */
function parsed(program: string, input: string | Buffer): unknown {
  const { stdout, stderr } = spawnSync('python3', ['-c', program], { input, encoding: 'utf8' });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout);
}

describe('the service', () => {
  itWith(
    'systemd',
    'is a unit that systemd accepts, and that does not loop after the relay rejected the daemon',
    () => {
      const unit = systemdUnit(plan);
      expect(unit).toContain('RestartPreventExitStatus=78');
      expect(unit).toContain('"/home/me/100%% $$HOME"');
      // systemd checks the unit itself.
      const file = join(folders.make(), 'relay-daemon.service');
      writeFileSync(file, unit);
      const { status, stderr } = spawnSync('systemd-analyze', ['--user', 'verify', file], {
        encoding: 'utf8',
        env: { ...process.env, XDG_RUNTIME_DIR: folders.make() },
      });
      expect(stderr).not.toContain('relay-daemon.service');
      expect(status).toBe(0);
    },
  );

  it('is a property list and a task in XML, with everything escaped', () => {
    for (const text of [launchdPlist(plan), windowsTask(plan)]) {
      expect(text).toContain('a &quot;b&quot; &amp; &lt;c&gt;');
      expect(text).not.toContain('<c>');
    }
  });

  itWith('python3-websockets', 'is a property list from which launchd reads every argument unchanged', () => {
    const read = 'import json, plistlib, sys; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))';
    expect(parsed(read, launchdPlist(plan))).toEqual({
      Label: 'dev.agent-session-relay.relay-daemon',
      ProgramArguments: [plan.node, plan.script, ...plan.args, '--supervised'],
      EnvironmentVariables: plan.env,
      RunAtLoad: true,
      KeepAlive: { SuccessfulExit: false },
      ThrottleInterval: 10,
      Umask: 0o077,
      StandardOutPath: plan.logFile,
      StandardErrorPath: plan.logFile,
    });
  });

  itWith('python3-websockets', "is a task whose elements and values match the Task Scheduler's schema", () => {
    const read = [
      'import json, sys, xml.etree.ElementTree as tree',
      'short = lambda tag: tag.split("}")[1]',
      'told = lambda node: {short(child.tag): told(child) for child in node} if len(node) else node.text',
      'task = tree.fromstring(sys.stdin.buffer.read().decode("utf-16"))',
      'print(json.dumps({"root": task.tag, "version": task.get("version"), "task": told(task)}))',
    ].join('\n');
    const text = windowsTask({ ...plan, user: 'HOME\\ada & co' });
    const { root, version, task } = parsed(read, Buffer.from(`\ufeff${text}`, 'utf16le')) as {
      root: string;
      version: string;
      task: Record<string, Record<string, Record<string, unknown>>>;
    };
    expect(root).toBe('{http://schemas.microsoft.com/windows/2004/02/mit/task}Task');
    expect(version).toBe('1.2');
    const { Triggers, Principals, Settings, Actions } = task;
    expect(Triggers).toEqual({ LogonTrigger: { Enabled: 'true', UserId: 'HOME\\ada & co' } });
    expect(Principals).toEqual({
      Principal: { UserId: 'HOME\\ada & co', LogonType: 'InteractiveToken', RunLevel: 'LeastPrivilege' },
    });
    // An unsignedByte in the schema, and an interval between a minute and 31 days.
    expect(Settings?.RestartOnFailure).toEqual({ Interval: 'PT1M', Count: '255' });
    expect(Settings).toMatchObject({ MultipleInstancesPolicy: 'IgnoreNew', ExecutionTimeLimit: 'PT0S' });
    expect(Actions?.Exec?.Command).toBe('cmd.exe');
    expect(Actions?.Exec?.Arguments).toContain(`"${plan.node}" "${plan.script}" "up"`);
  });

  it.each(['linux', 'darwin', 'win32'] as const)('has commands for install, start, stop and logs on %s', (platform) => {
    const system = serviceSystem({ HOME: '/home/me' }, '/state', platform);
    expect(Object.keys(system.run)).toEqual(['start', 'stop', 'logs']);
    expect(system.install.length).toBeGreaterThan(0);
  });

  it('shows its definition without installing it', async () => {
    const folder = folders.make();
    const { code, out } = await runProgram(['service', 'install', '--print', '--home', relative('', folder)]);
    expect(code).toBe(0);
    expect(out).toContain(`"--home" "${folder}"`);
    expect(out).toContain(process.execPath);
    expect(out).toContain('PATH=');
  });

  it("trusts the installing user's certificate authorities", () => {
    const { env } = servicePlan({ NODE_EXTRA_CA_CERTS: '/home/me/lan-authority.crt' }, '/state', []);
    expect(env).toEqual({ NODE_EXTRA_CA_CERTS: '/home/me/lan-authority.crt' });
  });

  it("gets absolute paths for relative ones in the user's variables", () => {
    const { env } = servicePlan({ RELAY_DAEMON_HOME: 'relay', NODE_EXTRA_CA_CERTS: 'ca.crt' }, '/state', []);
    expect(env).toEqual({ RELAY_DAEMON_HOME: resolve('relay'), NODE_EXTRA_CA_CERTS: resolve('ca.crt') });
  });

  it('keeps the variables of custom agent folders, and no secret', () => {
    const places = { CLAUDE_CONFIG_DIR: 'claude', CODEX_HOME: '/data/codex', XDG_DATA_HOME: '/data' };
    const { env } = servicePlan({ ...places, OPENAI_API_KEY: 'secret' }, '/state', []);
    expect(env).toEqual({ ...places, CLAUDE_CONFIG_DIR: resolve('claude') });
  });

  it('starts through the link that installed it, so that an update changes the program of the service', () => {
    const link = join(folders.make(), 'relay-daemon');
    symlinkSync(fileURLToPath(new URL('../dist/main.js', import.meta.url)), link);
    const words = [link, 'service', 'install', '--print', '--home', folders.make()];
    const { stdout } = spawnSync(process.execPath, words, { encoding: 'utf8' });
    expect(stdout).toContain(`ExecStart="${process.execPath}" "${link}" "up"`);
  });

  it.each(['linux', 'darwin'] as const)(
    'is reported as starting another program, or a missing one, on %s',
    (platform) => {
      const env = { HOME: folders.make() };
      const system = serviceSystem(env, '', platform);
      const script = join(folders.make(), `100% $HOME & "a" 'b' \\c.js`);
      mkdirSync(dirname(system.file), { recursive: true });
      expect(installedService(env, platform)).toBeUndefined();
      writeFileSync(system.file, system.definition({ ...plan, script }));
      expect(installedService(env, platform)).toEqual({ file: system.file, gone: script });
      writeFileSync(script, '');
      expect(installedService(env, platform)).toEqual({ file: system.file, other: script });
    },
  );

  it('is a problem in doctor while its program is missing, until it is installed again', async () => {
    const folder = folders.make();
    const file = join(folder, 'systemd', 'user', 'relay-daemon.service');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, systemdUnit(plan));
    const doctor = async () => (await runProgram(['doctor', '--home', folder], { XDG_CONFIG_HOME: folder })).out;
    const found = await doctor();
    expect(found).toContain(`BAD  Service: ${file} starts ${plan.script}, which is gone`);
    expect(found).toContain('→ relay-daemon service install');
    writeFileSync(file, (await runProgram(['service', 'install', '--print', '--home', folder])).out);
    expect(await doctor()).toContain(`ok   Service: installed, ${file}`);
  });

  it('is installed again with its changes, reports whether it runs, and is removed completely', async () => {
    const folder = folders.make();
    const home = join(folder, 'home');
    mkdirSync(join(home, 'state'), { recursive: true });
    // Replaces the system's service manager, which a container lacks: logs its arguments, and keeps the running state.
    const manager = join(folder, 'systemctl');
    const script = `#!/bin/sh
echo "$*" >>"${folder}/words"
case "$2" in
  restart) touch "${folder}/runs" ;;
  disable) rm -f "${folder}/runs" ;;
  is-active) test -e "${folder}/runs" ;;
esac
`;
    writeFileSync(manager, script, { mode: 0o755 });
    const env = { HOME: folder, XDG_CONFIG_HOME: undefined, PATH: `${folder}:${process.env.PATH}` };
    const run = (...words: string[]) => runProgram(['service', ...words, '--home', home], env);
    const file = join(folder, '.config', 'systemd', 'user', 'relay-daemon.service');
    expect(await run('status')).toMatchObject({ code: 3, out: 'Not installed.\n' });
    expect((await run('install')).code).not.toBe(0);
    expect(existsSync(file)).toBe(false);

    writeFileSync(join(home, 'config.json'), JSON.stringify({ server: 'http://localhost:4000', device_id: 'd1' }));
    const first = await run('install');
    expect(first).toMatchObject({ code: 0, err: '' });
    const written = readFileSync(file, 'utf8');
    for (const line of written.split('\n')) expect(first.out).toContain(line);
    expect(await run('status')).toMatchObject({ code: 0, out: `Running: ${file}\n` });
    expect((await run('install')).code).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe(written);
    const words = readFileSync(join(folder, 'words'), 'utf8').split('\n');
    expect(words.filter((word) => word === '--user restart relay-daemon')).toHaveLength(2);

    expect(await run('remove')).toMatchObject({ code: 0, out: `Removed: ${file}\n` });
    expect(existsSync(file)).toBe(false);
    expect((await run('remove')).err).toContain('not installed');
    expect((await run('status', '--json')).out).toContain('"installed":false');
  });

  it.each(['darwin', 'win32'] as const)('restarts and runs while a daemon does, on %s', async (platform) => {
    const folder = folders.make();
    const home = join(folder, 'home');
    mkdirSync(join(home, 'state'), { recursive: true });
    writeFileSync(join(home, 'config.json'), JSON.stringify({ server: 'http://localhost:4000', device_id: 'd1' }));
    // launchd forgets a service after its process exits, and refuses to start a known one.
    const manager = `#!/bin/sh
echo "$1" >>"${folder}/words"
case "$1" in
  bootout) test -e "${folder}/known" && echo 2 >"${folder}/known" ;;
  print) left=$(cat "${folder}/known") || exit 113
    case $left in 0) rm "${folder}/known"; exit 113 ;; *) echo $((left - 1)) >"${folder}/known" ;; esac ;;
  bootstrap) test ! -e "${folder}/known" && echo 9 >"${folder}/known" ;;
esac
`;
    for (const name of ['launchctl', 'schtasks']) writeFileSync(join(folder, name), manager, { mode: 0o755 });
    let said = '';
    const screen = { write: (text: string) => Boolean((said = text)) };
    const env = { HOME: folder, PATH: `${folder}:${process.env.PATH}` };
    const terminal = terminalOn({ stdin: Readable.from([]), stdout: screen, stderr: screen, env });
    const run = (action: 'install' | 'status') => serviceCommand(action, { home }, terminal, platform);
    expect(await run('install')).toBe(0);
    expect(await run('install')).toBe(0);
    const words = readFileSync(join(folder, 'words'), 'utf8').trim().split('\n');
    const second = { darwin: ['bootout', 'print', 'print', 'print', 'bootstrap'], win32: ['/End', '/Create', '/Run'] };
    expect(words.slice(-second[platform].length)).toEqual(second[platform]);

    expect(await run('status')).toBe(3);
    expect(said).toContain('Installed, and not running: ');
    const lock = await takeHome(addressOf(join(home, 'state')));
    expect(await run('status')).toBe(0);
    expect(said).toContain('Running: ');
    await lock.release();
  });
});
