/**
 * `npm run test:morning`: one morning of a person with three machines. Claude Code, Codex and OpenCode with a simulated
 * model, each with the real daemon; ten sessions with questions, diffs, failures, and a machine that sleeps. Pictures
 * go to tests/artefacts/.
 */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Child, startProgram } from '@relay/testing';
import type { Browser } from 'playwright-core';
import { type InstalledAgent, installedAgent } from '../../apps/daemon/scripts/agents/installed.mjs';
import { startMock } from '../../apps/daemon/scripts/agents/mock-llm.mjs';
import { until } from '../cluster/until.ts';
import { type BrowserRelay, type Person, everyLook, launchBrowser, newPerson, startBrowserRelay } from './browser.ts';

const program = fileURLToPath(new URL('../../apps/daemon/bin/relay-daemon.js', import.meta.url));
const machines = { Laptop: 'claude_code', Studio: 'codex', 'Build box': 'opencode' } as const;
type Machine = keyof typeof machines;
/** An agent starts, asks the model and writes its files, on two slow cores. */
const patienceMs = 120_000;

describe('a morning with three agents', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  let person: Person;
  let model: Awaited<ReturnType<typeof startMock>>;
  const agents = new Map<Machine, InstalledAgent>();
  const running = new Map<Machine, Child>();

  const daemon = (machine: Machine, ...words: string[]) => {
    const { env, home, project, program: agent } = agents.get(machine)!;
    return {
      cwd: project,
      env: { ...env, PATH: `${dirname(agent)}:${env['PATH']}`, RELAY_DAEMON_HOME: join(home, 'daemon') },
      args: [program, ...words],
    };
  };

  async function connect(machine: Machine): Promise<void> {
    const words = ['register', '--server', relay.url, '--agent', machines[machine], '--name', machine, '--no-qr'];
    const { args, ...options } = daemon(machine, ...words);
    const registering = startProgram(process.execPath, args, options);
    const [link] = await registering.wrote(/http\S+user_code=\S+/);
    await person.goto(link);
    await person.text(machine);
    await person.click('Approve');
    await registering.wrote(/Registered as device/);
    const up = daemon(machine, 'up');
    // Starts the daemon in its own process group, so that a test can stop the machine as a whole.
    running.set(machine, startProgram(process.execPath, up.args, { cwd: up.cwd, env: up.env, detached: true }));
    await person.heading('New session');
    await person.text(`${machine} is online.`);
  }

  async function begin(machine: Machine, message: string): Promise<string> {
    await person.goto('/sessions/new');
    await person.page.getByRole('radio', { name: new RegExp(machine) }).check({ force: true });
    await person.page.getByLabel(/^What should/).fill(message);
    await person.click('Start session');
    await person.page.waitForURL(
      (url) => /\/sessions\/[^/]+$/.test(url.pathname) && !/PENDING|new/.test(url.pathname),
      {
        timeout: patienceMs,
      },
    );
    return person.page.url();
  }

  const is = (...status: string[]) =>
    person.page.locator(status.map((one) => `main[data-status="${one}"]`).join(', ')).waitFor({ timeout: patienceMs });
  const tell = async (message: string) => {
    await person.page.getByLabel('Message', { exact: true }).fill(message);
    await person.page.getByRole('button', { name: /^(Send|Queue)/ }).click();
  };
  /** Allows the request, and waits until the question is closed. */
  const allow = async () => {
    const question = person.page.locator('[data-prompt]').first();
    const id = await question.getAttribute('data-prompt');
    await question
      .getByRole('button', { name: /^(Allow|Yes)/ })
      .first()
      .click();
    await person.page.locator(`[data-prompt="${id}"]`).waitFor({ state: 'detached' });
  };
  const look = (name: string) => everyLook(person, `morning-${name}`);
  const made = (machine: Machine, file: string) => existsSync(join(agents.get(machine)!.project, file));

  beforeAll(async () => {
    model = await startMock();
    for (const machine of Object.keys(machines) as Machine[])
      agents.set(machine, installedAgent(machines[machine], model.url));
    relay = await startBrowserRelay();
    browser = await launchBrowser();
    person = await newPerson(browser, relay.url, { viewport: { width: 1360, height: 860 } });
    person.page.setDefaultTimeout(60_000);
    await person.createAccount(relay.setupLink, 'ada@example.com');
    for (const machine of agents.keys()) await connect(machine);
  }, 600_000);
  afterAll(async () => {
    for (const child of running.values()) await child.end('SIGTERM');
    await browser?.close();
    await relay?.end();
    await model?.close();
    for (const { home } of agents.values()) await rm(home, { recursive: true, force: true, maxRetries: 5 });
  });

  it('1: Claude Code reads, asks to write a file, is allowed, and reports its work', async () => {
    await begin('Laptop', '@@say Reading the notes first.\n@@sh ls -la\n@@write notes.md # Notes');
    await is('waiting');
    await look('01-question');
    await allow();
    await is('idle');
    expect(made('Laptop', 'notes.md')).toBe(true);
    await look('01-done');
  });

  it('2: Claude Code is stopped in the middle of an answer, and continues', async () => {
    await begin('Laptop', '@@slow 600');
    await is('active');
    await person.page.getByRole('button', { name: /^Stop/ }).first().click();
    await person.page.locator('main:not([data-status="active"])').waitFor();
    await look('02-stopped');
    await tell('@@say I am still here, with **bold** and `code`');
    await person.text('I am still here');
    await is('idle');
    await look('02-on');
  });

  it('3: Claude Code is not allowed to run a command', async () => {
    await begin('Laptop', '@@sh rm -rf build && echo made > rejected.txt');
    await is('waiting');
    await look('03-question');
    await person.page.getByRole('button', { name: 'Reject', exact: true }).first().click();
    await is('idle');
    expect(made('Laptop', 'rejected.txt')).toBe(false);
    await look('03-rejected');
  });

  it('4: Codex asks for a command, and is allowed', async () => {
    await begin('Studio', '@@sh !echo made > allowed.txt');
    await is('waiting');
    await look('04-question');
    await allow();
    await is('idle');
    expect(made('Studio', 'allowed.txt')).toBe(true);
    await look('04-done');
  });

  it('5: Codex adds a file with a patch', async () => {
    await begin('Studio', '@@say Adding it now.\n@@patch hello.md Hello, world');
    await is('waiting', 'idle');
    await look('05-patch');
    if ((await person.page.locator('[data-prompt]').count()) > 0) await allow();
    await is('idle');
    await look('05-done');
  });

  it('6: the model of Codex refuses, and the session shows that', async () => {
    await begin('Studio', '@@fail 400');
    await is('failed', 'idle');
    await look('06-failed');
  });

  it('7: OpenCode writes a file after an allowed question', async () => {
    await begin('Build box', '@@write garden.txt roses');
    await is('waiting');
    await look('07-question');
    await allow();
    await is('idle');
    expect(made('Build box', 'garden.txt')).toBe(true);
    await look('07-done');
  });

  it('8: a machine sleeps in the middle of an answer, and the page is correct again when it wakes', async () => {
    const { pid } = running.get('Build box')!.process;
    await begin('Build box', '@@slow 200');
    await is('active');
    process.kill(-pid!, 'SIGSTOP');
    // The relay waits for the replies to its pings.
    await person.page
      .getByText(/offline/)
      .filter({ visible: true })
      .first()
      .waitFor({ timeout: patienceMs });
    await look('08-asleep');
    process.kill(-pid!, 'SIGCONT');
    await is('idle');
    await look('08-awake');
    expect(await person.page.getByText(/As of/).count()).toBe(0);
  });

  it('9: messages wait while OpenCode works, and get their answers in order', async () => {
    await begin('Build box', '@@slow 100');
    await is('active');
    await tell('@@say first of the queue');
    await tell('@@say second of the queue');
    await look('09-queue');
    await person.text('second of the queue');
    const said = person.page.getByRole('article', { name: 'You' });
    await until('three messages were taken', async () => (await said.count()) === 3, patienceMs);
    await is('idle');
    await look('09-done');
  });

  it('10: Claude Code asks, and the person answers in the list', async () => {
    await begin('Laptop', '@@sh echo made > from-the-list.txt');
    await is('waiting');
    await person.goto('/');
    await person.text('from-the-list.txt');
    await look('10-needs-you');
    await person.page
      .getByRole('button', { name: /^(Allow|Yes)/ })
      .first()
      .click();
    await until('the command has run', () => made('Laptop', 'from-the-list.txt'), patienceMs);
    await person.goto('/sessions');
    await look('10-list');
    expect(person.complaints).toEqual([]);
  });
});
