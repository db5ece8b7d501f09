/** The demonstration with the real daemon: the log is a true account of the agent's actions. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Child, startProgram } from '@relay/testing';
import { describeWith } from '@relay/testing/needs';
import type { Browser } from 'playwright-core';
import { type BrowserRelay, type Person, launchBrowser, newPerson, pictures, startBrowserRelay } from './browser.ts';

const program = fileURLToPath(new URL('../../apps/daemon/bin/relay-daemon.js', import.meta.url));

describeWith('chromium', 'the demonstration', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  let person: Person;
  let home: string;
  let daemon: Child;

  beforeAll(async () => {
    relay = await startBrowserRelay();
    browser = await launchBrowser();
    person = await newPerson(browser, relay.url, { viewport: { width: 1360, height: 860 } });
    await person.createAccount(relay.setupLink, 'ada@example.com');
    home = await mkdtemp(join(tmpdir(), 'relay-demonstration-'));
    const options = { cwd: home, env: { PATH: process.env.PATH, HOME: home, RELAY_DAEMON_HOME: join(home, 'daemon') } };
    const words = ['register', '--server', relay.url, '--agent', 'demo', '--name', 'Laptop', '--no-qr'];
    const registering = startProgram(process.execPath, [program, ...words], options);
    const [link] = await registering.wrote(/http\S+user_code=\S+/);
    await person.goto(link);
    await person.click('Approve');
    await registering.wrote(/Registered as device/);
    daemon = startProgram(process.execPath, [program, 'up'], options);
    await person.text('Laptop is online.');
  });
  afterAll(async () => {
    await browser?.close();
    await daemon?.end('SIGTERM');
    await relay?.end();
    if (home) await rm(home, { recursive: true, force: true });
  });

  const calls = () => person.page.locator('.log .call');
  const send = async (message: string) => {
    await person.page.getByLabel('Message', { exact: true }).fill(message);
    await person.click('Send');
  };

  it('W1: shows a rejected command as Rejected, live and loaded again', async () => {
    await person.goto('/sessions/new');
    await person.page.getByLabel(/^What should/).fill('Ask for permission');
    await person.click('Start session');
    await person.page.locator('.q').getByRole('button', { name: 'Reject', exact: true }).click();
    await person.page.locator('main[data-status="idle"]').waitFor();
    for (let time = 0; time < 2; time += 1) {
      // The status of the session can come before the last operations of its transcript.
      await calls().filter({ hasText: 'Rejected' }).waitFor();
      expect(await calls().count()).toBe(1);
      expect(await calls().first().innerText()).toMatch(/^Rejected\s+npm test\s+\d+:\d\d [AP]M$/);
      expect(await person.page.locator('.log').getByLabel('Done').count()).toBe(0);
      await person.page.reload();
    }
  });

  it('W2: shows a diff without a click', async () => {
    await send('Show a diff');
    const call = person.page.locator('.log .call', { has: person.page.locator('.diff') });
    await call.filter({ hasText: 'Edited' }).waitFor();
    expect(await call.innerText()).toMatch(/^Edited/);
    await pictures(person, 'demonstration');
  });
});
