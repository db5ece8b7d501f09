/** The head of a conversation in a real browser: its dot, its menu, and a session that its agent never started. */
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import { type TestDaemon, connectDaemon } from '@relay/testing';
import type { Browser } from 'playwright-core';
import {
  type BrowserRelay,
  type Person,
  launchBrowser,
  newPerson,
  registeredDevice,
  startBrowserRelay,
} from './browser.ts';

describeWith('chromium', 'the head of a conversation', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  let person: Person;
  let daemon: TestDaemon;

  beforeAll(async () => {
    relay = await startBrowserRelay();
    browser = await launchBrowser();
    person = await newPerson(browser, relay.url, { viewport: { width: 1360, height: 860 } });
    await person.createAccount(relay.setupLink, 'ada@example.com');
    daemon = await connectDaemon(relay.relay, { registration: await registeredDevice(person) });
    daemon.socket.on('message', (data: Buffer) => {
      const { type, request_id } = JSON.parse(data.toString()) as { type: string; request_id: string };
      if (type === 'get_messages') daemon.send({ type: 'messages', request_id, messages: [], has_more: false });
    });
  });
  afterAll(async () => {
    await browser?.close();
    await daemon?.drop();
    await relay?.end();
  });
  afterEach(() => expect(person.complaints.splice(0)).toEqual([]));

  async function start(message: string): Promise<string> {
    await person.goto('/sessions/new');
    await person.page.getByLabel(/^What should/).fill(message);
    await person.click('Start session');
    return (await daemon.next('task_start')).task_id as string;
  }

  it('D5: offers to start a session again with its message if its agent never started it', async () => {
    const taskId = await start('Water the garden');
    daemon.event(taskId, 'ERROR', { error: 'The agent is not installed.' });
    await person.page.locator('main[data-status="failed"]').waitFor();
    const message = person.page.getByLabel('Message');
    await message.fill('Water the hedge');
    await message.press('Enter');
    await person.page.getByRole('link', { name: 'Start again with this message' }).click();
    await person.heading('New session');
    expect(await person.page.getByLabel(/^What should/).inputValue()).toBe('Water the hedge');
    await person.click('Start session');
    const task = await daemon.next('task_start', ({ instruction }) => instruction === 'Water the hedge');
    daemon.event(task.task_id as string, 'SESSION_STARTED', { session_id: 'hedge' });
    daemon.event(task.task_id as string, 'TASK_COMPLETE', { result: 'The hedge has water.' });
    await person.text('The hedge has water.');
    await person.page.waitForURL('**%3Ahedge');
  });

  it('W23: the menus of the head and of a row rename and delete', async () => {
    const choices = () => person.page.locator('.menu:popover-open button').allInnerTexts();
    await person.page.locator('header').getByRole('button', { name: 'More', exact: true }).click();
    expect(await choices()).toEqual(expect.arrayContaining(['Rename', 'Delete']));
    await person.page.keyboard.press('Escape');
    for (const [before, after] of [
      ['Water the hedge', 'The hedge'],
      ['The hedge', 'A green hedge'],
    ] as const) {
      await person.page.getByRole('link', { name: new RegExp(`Done ${before}`) }).hover();
      await person.page.getByRole('button', { name: `More for ${before}` }).click();
      expect(await choices()).toEqual(expect.arrayContaining(['Rename', 'Delete']));
      await person.click('Rename');
      await person.page.getByLabel('Title').fill(after);
      await person.click('Save');
      await person.heading(after);
    }
    await person.page.reload();
    await person.heading('A green hedge');
    expect(await person.page.getByLabel('Title').count()).toBe(0);
  });

  it('W22: shows a green dot for a machine only while the relay is reachable', async () => {
    const dot = person.page.locator('.where .dot');
    await dot.and(person.page.locator(':not(.off)')).waitFor();
    await person.context.setOffline(true);
    await dot.and(person.page.locator('.off')).waitFor();
    await person.context.setOffline(false);
    await dot.and(person.page.locator(':not(.off)')).waitFor();
  });
});
