/** One draft in two tabs of a browser: neither tab loses or repeats its text. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import { type Frame, type TestDaemon, connectDaemon } from '@relay/testing';
import type { Browser, Page } from 'playwright-core';
import {
  type BrowserRelay,
  type Person,
  launchBrowser,
  newPerson,
  registeredDevice,
  startBrowserRelay,
  untilKept,
} from './browser.ts';

describeWith('chromium', 'a draft in two tabs', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  let person: Person;
  let daemon: TestDaemon;
  let second: Page;

  beforeAll(async () => {
    relay = await startBrowserRelay();
    browser = await launchBrowser();
    person = await newPerson(browser, relay.url);
    await person.createAccount(relay.setupLink, 'ada@example.com');
    daemon = await connectDaemon(relay.relay, { registration: await registeredDevice(person) });
    // The relay delays each load of the session for 10 s if the daemon does not answer.
    daemon.socket.on('message', (data: Buffer) => {
      const { type, request_id } = JSON.parse(data.toString('utf8')) as Frame;
      if (type === 'get_messages') daemon.send({ type: 'messages', request_id, messages: [], has_more: false });
    });
    await person.goto('/sessions/new');
    await person.page.getByLabel(/^What should/).fill('Water the garden');
    await person.click('Start session');
    const { task_id: taskId } = await daemon.next('task_start');
    daemon.event(String(taskId), 'SESSION_STARTED', { session_id: 'garden' });
    daemon.event(String(taskId), 'TASK_COMPLETE', { session_id: 'garden', result: 'The roses have water.' });
    await person.page.waitForURL('**%3Agarden');
    await person.text('The roses have water.');
    second = await person.context.newPage();
    await second.goto(person.page.url());
    await message(second).waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await daemon?.drop();
    await relay?.end();
  });

  const message = (page: Page) => page.getByLabel('Message');
  const shows = (page: Page, text: string) => page.locator('.dock textarea', { hasText: text }).waitFor();
  const isEmpty = (page: Page) => page.locator('.dock textarea:invalid').waitFor();

  it('43: neither tab loses text of the other', async () => {
    await message(person.page).fill('Cut the hedge');
    await shows(second, 'Cut the hedge');
    await message(second).press('End');
    await message(second).pressSequentially(' and the lawn');
    await shows(person.page, 'Cut the hedge and the lawn');
    await untilKept(second, 'relay', 'drafts', 'and the lawn');
    for (const page of [person.page, second]) {
      await page.reload();
      await shows(page, 'Cut the hedge and the lawn');
    }
  });

  it('43: a draft that one tab sent is gone in the other, and the agent gets it once', async () => {
    await message(person.page).press('Enter');
    const { task_id: taskId, message: text } = await daemon.next('task_resume');
    expect(text).toBe('Cut the hedge and the lawn');
    await isEmpty(second);
    daemon.event(String(taskId), 'TASK_COMPLETE', { session_id: 'garden', result: 'Both are cut.' });
    for (const page of [person.page, second]) {
      await page.getByText('Both are cut.').first().waitFor();
      expect(await page.locator('.log .me').getByText('Cut the hedge and the lawn').count()).toBe(1);
      await page.reload();
      await page.getByText('Both are cut.').first().waitFor();
      await isEmpty(page);
    }
    expect(daemon.inbox.all.filter(({ type }) => type === 'task_resume')).toHaveLength(1);
  });
});
