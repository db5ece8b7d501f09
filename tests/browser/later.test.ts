/** Messages for a later time: in the composer, above it, on their page; on a wide page and a phone. */
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import type { Registration } from '@relay/testing';
import type { Browser } from 'playwright-core';
import {
  type BrowserRelay,
  type Person,
  axeFindings,
  everyLook,
  launchBrowser,
  newPerson,
  registeredDevice,
  startBrowserRelay,
} from './browser.ts';
import { type TranscriptDaemon, connectTranscriptDaemon } from './transcript-daemon.ts';

/** Tomorrow at noon in local time, in the format of a datetime field. */
function tomorrowNoon(): string {
  const day = new Date(Date.now() + 24 * 3_600_000);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}T12:00`;
}

describeWith('chromium', 'a message for a later time', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  let person: Person;
  let registration: Registration;
  let daemon: TranscriptDaemon;

  beforeAll(async () => {
    relay = await startBrowserRelay();
    browser = await launchBrowser();
    person = await newPerson(browser, relay.url, { viewport: { width: 1360, height: 860 } });
    await person.createAccount(relay.setupLink, 'ada@example.com');
    registration = await registeredDevice(person, 'MacBook Pro');
    daemon = await connectTranscriptDaemon(relay.relay, registration, {});
  });
  afterAll(async () => {
    await browser?.close();
    await daemon?.drop();
    await relay?.end();
  });
  afterEach(() => expect(person.complaints.splice(0)).toEqual([]));

  const field = () => person.page.getByRole('textbox', { name: 'Message', exact: true });
  const chips = () => person.page.getByRole('list', { name: 'Sent later' });

  it('waits above the composer and on its page, can get another time, and can be removed', async () => {
    await person.goto('/sessions/new');
    await person.page.getByLabel(/^What should/).fill('Look around');
    await person.click('Start session');
    const task = await daemon.next('task_start');
    const taskId = task.task_id as string;
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'nightly' });
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'Done.' });
    await person.page.locator('main[data-status="idle"]').waitFor();

    await field().fill('Run the slow tests');
    await person.page.getByRole('button', { name: 'Send' }).click({ button: 'right' });
    const dialog = person.page.getByRole('dialog', { name: 'Send later' });
    await dialog.getByRole('button', { name: 'In 1 hour' }).click();
    await chips().getByText('Run the slow tests').waitFor();
    await dialog.waitFor({ state: 'detached' });
    expect(await field().inputValue()).toBe('');
    expect(await person.page.locator('.log').getByText('Run the slow tests').count()).toBe(0);
    await everyLook(person, 'later-chips');

    await field().fill('Then sum up');
    await person.page.keyboard.press('Control+Shift+L');
    await dialog.getByRole('button', { name: /^Tomorrow/ }).click();
    await chips().getByText('Then sum up').waitFor();

    // A custom time: the form of the dialog submits only itself.
    await field().fill('At last report');
    await person.page.keyboard.press('Control+Shift+L');
    await dialog.getByLabel('Date and time').fill(tomorrowNoon());
    await dialog.getByRole('button', { name: 'Send later' }).click();
    await chips().getByText('At last report').waitFor();
    await dialog.waitFor({ state: 'detached' });
    expect(daemon.inbox.all.filter(({ type }) => type === 'task_resume')).toEqual([]);
    await chips().getByRole('button', { name: 'Don’t send “At last report”' }).click();
    await chips().getByText('At last report').waitFor({ state: 'detached' });

    await person.page.reload();
    await chips().getByText('Then sum up').waitFor();
    await chips().getByRole('button', { name: 'Don’t send “Then sum up”' }).click();
    await chips().getByText('Then sum up').waitFor({ state: 'detached' });

    await person.goto('/later');
    const list = person.page.getByRole('list', { name: 'Later' });
    await list.getByText('Run the slow tests').waitFor();
    await list.getByRole('button', { name: /Change the time of/ }).click();
    const other = person.page.getByRole('dialog', { name: 'Change time' });
    await everyLook(person, 'later');
    await other.getByRole('button', { name: /^Tomorrow/ }).click();
    await other.waitFor({ state: 'detached' });
    await list.getByRole('button', { name: /^Don’t send/ }).click();
    await person.page.getByText('No messages to send later.').waitFor();
  });

  it('continues at the reset of a usage limit, ahead of the queue, and its card can be closed', async () => {
    const { page } = person;
    await person.goto('/sessions/new');
    await page.getByLabel(/^What should/).fill('Move the invites');
    await person.click('Start session');
    const { task_id } = await daemon.next('task_start', ({ instruction }) => instruction === 'Move the invites');
    daemon.event(String(task_id), 'SESSION_STARTED', { session_id: 'limited' });
    const resetsAt = new Date(Date.now() + 2 * 3_600_000).toISOString();
    const limit = { name: 'five_hour', resets_at: resetsAt, source: 'figures' };
    daemon.event(String(task_id), 'ERROR', { error: 'You’ve hit your limit', code: 'USAGE_LIMIT', limit });
    const card = page.getByRole('region', { name: /^Continue at/ });
    await card.getByText(/^5-hour limit/).waitFor();
    await everyLook(person, 'limit');
    expect(await axeFindings(person)).toEqual([]);
    await card.getByRole('button', { name: 'Not now' }).click();
    await card.waitFor({ state: 'detached' });
    await page.reload();
    await card.getByRole('textbox', { name: 'Message' }).fill('Continue with revoke.');
    const request = page.waitForRequest((sent) => sent.method() === 'POST' && /\/messages$/.test(sent.url()));
    await card.getByRole('button', { name: /^Continue at/ }).click();
    const body = (await request).postDataJSON() as { content: string; notBefore: string; because: string };
    expect(body).toMatchObject({ content: 'Continue with revoke.', because: 'limit' });
    expect(Date.parse(body.notBefore) - Date.parse(resetsAt)).toBeGreaterThanOrEqual(30_000);
    expect(Date.parse(body.notBefore) - Date.parse(resetsAt)).toBeLessThanOrEqual(120_000);
    await chips().getByText('Continue with revoke.').waitFor();
    await card.waitFor({ state: 'detached' });
    expect(daemon.inbox.all.filter(({ type }) => type === 'task_resume')).toEqual([]);
  });
});
