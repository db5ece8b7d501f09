/**
 * The first steps of a person who has just started a relay: an account, a machine, a first answer. Uses the real
 * programs.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { describeWith } from '@relay/testing/needs';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import {
  type BrowserRelay,
  type Person,
  launchBrowser,
  newPerson,
  phone,
  pictures,
  startBrowserRelay,
} from './browser.ts';

const run = promisify(execFile);
const program = fileURLToPath(new URL('../../apps/daemon/bin/relay-daemon.js', import.meta.url));

describeWith('chromium', 'a stranger', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  let person: Person;
  let home: string;
  let project: string;
  const running = new Set<ChildProcess>();

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'relay-stranger-'));
    project = await mkdtemp(join(tmpdir(), 'relay-project-'));
    relay = await startBrowserRelay();
    browser = await launchBrowser();
    person = await newPerson(browser, relay.url, { viewport: phone });
  });
  afterAll(async () => {
    for (const child of running) {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    }
    await browser?.close();
    await relay?.end();
    for (const folder of [home, project]) await rm(folder, { recursive: true, force: true });
  });

  /** Starts relay-daemon like a person; `said` waits for a text in its output. */
  function daemon(...words: string[]) {
    const child = spawn(process.execPath, [program, ...words], {
      cwd: project,
      env: { PATH: process.env.PATH ?? '', RELAY_DAEMON_HOME: home },
    });
    running.add(child);
    let written = '';
    let look = (): void => undefined;
    const hear = (chunk: Buffer) => {
      written += chunk.toString('utf8');
      look();
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    const exited = once(child, 'exit').then(([code]) => {
      running.delete(child);
      return code as number | null;
    });
    const said = (pattern: RegExp) =>
      new Promise<RegExpExecArray>((resolve, reject) => {
        look = () => {
          const found = pattern.exec(written);
          if (found) resolve(found);
        };
        look();
        void exited.then(() => reject(new Error(`relay-daemon ended and never said ${String(pattern)}:\n${written}`)));
      });
    return { said, exited };
  }

  /** Replaces systemd, which containers lack: starts the daemon in the background, and keeps its process id. */
  const serviceManager = `#!/bin/sh
case "$2" in
  restart) "$HOME/.local/bin/relay-daemon" up >"$HOME/up.log" 2>&1 & echo $! >"$HOME/up.pid" ;;
esac
`;

  it('gets from the link on the console to a first answer of an agent', async () => {
    await person.goto(relay.setupLink);
    await person.heading('Create the first account');
    await person.picture('stranger-1-setup');
    await person.createAccount(relay.setupLink, 'ada@example.com');
    await person.text(`curl -fsSL ${relay.url}/install.sh | sh`);
    await person.page.getByText('No terminal, or it stopped').click();
    await person.text(`~/.local/bin/relay-daemon register --server ${relay.url} --agent auto`);
    await person.picture('stranger-2-connect');

    const registering = daemon('register', '--server', relay.url, '--agent-type', 'shell', '--name', 'My laptop');
    const [link] = await registering.said(/http\S+user_code=\S+/);
    await person.goto(link);
    await person.text('My laptop');
    await person.picture('stranger-3-approve');
    await person.click('Approve');
    await person.text('is approved.');
    expect(await registering.exited).toBe(0);

    daemon('run', '--agent', 'command', '--', 'sh');
    // The page of the code continues by itself.
    await person.heading('New session');
    await person.text('My laptop is online.');
    await person.picture('stranger-4-online');

    await person.page.getByLabel(/^What should/).fill('expr 6 + 36');
    await person.picture('stranger-5-message');
    await person.click('Start session');
    await person.page.getByRole('article', { name: 'Agent' }).getByText('42').waitFor();
    // The turn has finished: its line is gone, and so is the Stop button.
    await person.page.locator('main[data-status="idle"]').waitFor();
    expect(await person.page.getByRole('button', { name: 'Stop' }).count()).toBe(0);
    expect(await person.page.locator('.now-line').count()).toBe(0);
    await person.picture('stranger-6-answer');
    expect(person.complaints).toEqual([]);
  });

  it('finds the conversation again after a reload', async () => {
    await person.page.reload();
    await person.page.getByRole('article', { name: 'You' }).getByText('expr 6 + 36').waitFor();
    await person.page.getByRole('article', { name: 'Agent' }).getByText('42').waitFor();
    expect(await person.page.getByRole('article').count()).toBe(2);
  });

  it('connects a second machine in two actions', async () => {
    const second = await mkdtemp(join(tmpdir(), 'relay-second-'));
    const tools = join(second, 'tools');
    await mkdir(tools);
    await writeFile(join(tools, 'systemctl'), serviceManager, { mode: 0o755 });
    try {
      await person.goto('/devices/new');
      await person.click('Approve it now');
      await person.text('This line works once');
      await pictures(person, 'stranger-7-second');
      const line = await person.page.getByLabel('the command that installs', { exact: true }).innerText();
      const env = { PATH: `${tools}:${process.env.PATH ?? ''}`, HOME: second };
      const { stdout } = await run('sh', ['-c', line], { env });
      expect(stdout).toContain('Installed and started');
      await person.heading('New session');
      await expect(run('sh', ['-c', line], { env: { ...env, HOME: tools } })).rejects.toThrow('key');
    } finally {
      const pid = Number(await readFile(join(second, 'up.pid'), 'utf8').catch(() => ''));
      if (pid > 0) process.kill(pid);
      await rm(second, { recursive: true, force: true, maxRetries: 5 });
    }
    expect(person.complaints).toEqual([]);
  });
});
