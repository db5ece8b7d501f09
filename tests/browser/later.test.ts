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
    await dialog.waitFor({ state: 'detached' });

    // A custom time: the form of the dialog submits only itself.
    await field().fill('At last report');
    await person.page.keyboard.press('Control+Shift+L');
    await dialog.getByLabel('Date and time').fill(tomorrowNoon());
    await dialog.getByRole('button', { name: 'Change' }).click();
    await dialog.getByLabel('Time zone').selectOption('Asia/Tokyo');
    const request = person.page.waitForRequest((sent) => sent.method() === 'POST' && /\/messages$/.test(sent.url()));
    await dialog.getByRole('button', { name: 'Send later' }).click();
    const { notBefore } = (await request).postDataJSON() as { notBefore: string };
    expect(Date.parse(notBefore)).toBe(Date.parse(`${tomorrowNoon()}+09:00`));
    await chips().getByText('At last report').waitFor();
    await dialog.waitFor({ state: 'detached' });
    expect(daemon.inbox.all.filter(({ type }) => type === 'task_resume')).toEqual([]);
    await chips().getByRole('button', { name: 'Don’t send “At last report”' }).click();
    await chips().getByText('At last report').waitFor({ state: 'detached' });

    await person.page.reload();
    await chips().getByText('Then sum up').waitFor();
    await chips().getByRole('button', { name: 'Don’t send “Then sum up”' }).click();
    await chips().getByText('Then sum up').waitFor({ state: 'detached' });

    await everyLook(person, 'later-link');
    await person.page.getByRole('link', { name: /^Later 1$/ }).click();
    const list = person.page.getByRole('list', { name: 'Later' });
    await list.getByText('Run the slow tests').waitFor();
    await list.getByRole('button', { name: 'More for Run the slow tests' }).click();
    await list.getByRole('button', { name: 'Change time' }).click();
    const other = person.page.getByRole('dialog', { name: 'Change time' });
    await everyLook(person, 'later');
    await other.getByRole('button', { name: /^Tomorrow/ }).click();
    await other.waitFor({ state: 'detached' });
    await list.getByRole('button', { name: 'More for Run the slow tests' }).click();
    await list.getByRole('button', { name: 'Don’t send' }).click();
    await person.page.getByText('No messages to send later.').waitFor();
  });

  it('26.30: is cancelled when its session is archived, and the page names it', async () => {
    const { page } = person;
    await person.goto('/sessions');
    await page.locator('.side').getByText('Look around').first().click();
    await field().fill('Too late');
    await page.keyboard.press('Control+Shift+L');
    await page.getByRole('dialog', { name: 'Send later' }).getByRole('button', { name: 'In 1 hour' }).click();
    await chips().getByText('Too late').waitFor();
    const row = page.locator('.side li').filter({ hasText: 'Look around' });
    await row.hover();
    await row.getByRole('button', { name: 'More for Look around' }).click();
    await page.getByRole('button', { name: 'Archive', exact: true }).filter({ visible: true }).click();
    await page.getByText(/1 message for later was cancelled/).waitFor();
    const isWhole = page.locator('.toast .grow').evaluate((text) => text.scrollWidth <= text.clientWidth);
    expect(await isWhole).toBe(true);
    await person.picture('later-archived');
    await page.getByRole('button', { name: 'Undo' }).click();
    await row.waitFor();
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

  it('continues by itself with the switch of the card, and shows that in the list', async () => {
    const { page } = person;
    await person.goto('/sessions/new');
    await page.getByLabel(/^What should/).fill('Move the accounts');
    await person.click('Start session');
    const { task_id } = await daemon.next('task_start', ({ instruction }) => instruction === 'Move the accounts');
    daemon.event(String(task_id), 'SESSION_STARTED', { session_id: 'alone' });
    const reach = (id: string) => {
      const resetsAt = new Date(Date.now() + 2 * 3_600_000).toISOString();
      const limit = { name: 'five_hour', resets_at: resetsAt, source: 'figures' };
      daemon.event(id, 'ERROR', { error: 'You’ve hit your limit', code: 'USAGE_LIMIT', limit });
    };
    reach(String(task_id));
    const card = page.getByRole('region', { name: /^Continue at/ });
    const always = { name: /^Always continue by itself/ };
    await card.getByRole('switch', always).click();
    await card.getByRole('switch', { ...always, checked: true }).waitFor();
    const row = page.getByRole('link', { name: /Move the accounts/ });
    await row.getByText(/^Limit reached\. Resets at/).waitFor();
    await card.getByRole('textbox', { name: 'Message' }).waitFor();
    await page.getByPlaceholder('Message the agent').fill('Try again');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    const next = await daemon.next('task_resume', ({ message }) => message === 'Try again');
    reach(String(next.task_id));
    await chips().getByText('Continue where you stopped.').waitFor();
    await row.getByText(/^Continues at/).waitFor();
  });

  it('starts later, and repeats in the same session, from the composer', async () => {
    const { page } = person;
    await person.goto('/sessions/new');
    await page.getByLabel(/^What should/).fill('Water the plants');
    await page.getByRole('button', { name: 'Start later' }).click();
    const start = page.getByRole('dialog', { name: 'Start later' });
    await start.getByRole('button', { name: /^Tomorrow/ }).click();
    await chips().getByText('Water the plants').waitFor();
    await chips()
      .getByRole('button', { name: /^Don’t send/ })
      .click();

    await person.goto('/sessions/new');
    await page.getByLabel(/^What should/).fill('Keep the log');
    await person.click('Start session');
    const { task_id } = await daemon.next('task_start', ({ instruction }) => instruction === 'Keep the log');
    daemon.event(String(task_id), 'SESSION_STARTED', { session_id: 'kept' });
    daemon.event(String(task_id), 'TASK_COMPLETE', { result: 'Kept.' });
    await page.locator('main[data-status="idle"]').waitFor();
    await field().fill('Add a line');
    await page.keyboard.press('Control+Shift+L');
    const dialog = page.getByRole('dialog', { name: 'Send later' });
    await dialog.getByRole('button', { name: 'Repeat' }).click();
    await dialog.getByRole('combobox', { name: 'Day' }).selectOption('Every day');
    await dialog.getByLabel('Time', { exact: true }).fill('07:30');
    // Three times, as the relay computes them.
    await dialog
      .locator('.next li')
      .nth(2)
      .getByText(/7:30.AM$/)
      .waitFor();
    await dialog.getByRole('radio', { name: /^The same session/ }).check();
    await everyLook(person, 'schedule-tab');
    expect(await axeFindings(person)).toEqual([]);
    const request = page.waitForRequest((sent) => sent.url().endsWith('/api/schedules'));
    await dialog.getByRole('button', { name: 'Schedule', exact: true }).click();
    expect((await request).postDataJSON()).toMatchObject({
      ...{ message: 'Add a line', cron: '30 7 * * *', waitSeconds: 7200 },
      sessionId: expect.stringMatching(/:kept$/),
    });
    const list = page.getByRole('list', { name: 'Repeating' });
    await list.getByText(/^Every day 7:30.AM/).waitFor();
    await list.getByRole('button', { name: 'More for Add a line' }).click();
    await list.getByRole('button', { name: 'Delete schedule' }).click();
    await list.waitFor({ state: 'detached' });
  });

  it('repeats: made, changed, paused, run and deleted on the page of later messages', async () => {
    const { page } = person;
    await person.goto('/later');
    await page.getByRole('button', { name: 'Repeat a message' }).click();
    const dialog = page.getByRole('dialog', { name: 'Repeat a message' });
    await dialog.getByLabel('Message').fill('Read the CI failures');
    await dialog.getByRole('combobox', { name: 'Day' }).selectOption('Every weekday');
    await dialog.getByLabel('Time', { exact: true }).fill('07:30');
    await everyLook(person, 'schedule');
    expect(await axeFindings(person)).toEqual([]);
    await dialog.getByRole('button', { name: 'Schedule', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    const list = page.getByRole('list', { name: 'Repeating' });
    const choose = async (name: string) => {
      await list.getByRole('button', { name: 'More for Read the CI failures' }).click();
      await list.getByRole('button', { name }).click();
    };
    await list.getByText(/^Every weekday 7:30.AM/).waitFor();
    await choose('Run now');
    await list.getByText(/^Running since/).waitFor();
    const { task_id } = await daemon.next('task_start', ({ instruction }) => instruction === 'Read the CI failures');
    daemon.event(String(task_id), 'SESSION_STARTED', { session_id: 'repeated' });
    daemon.event(String(task_id), 'TASK_COMPLETE', { result: 'Two fixed.' });
    const row = page.getByRole('link', { name: /Read the CI failures/ }).first();
    await row.getByRole('img', { name: 'Repeats' }).waitFor();
    await choose('Pause');
    await list.getByText('Paused').waitFor();
    await list.getByText('Two fixed.').waitFor();
    await list.getByText('Sessions of this schedule').click();
    await list.locator('details').getByRole('link', { name: /✓/ }).waitFor();
    await everyLook(person, 'scheduled');
    expect(await axeFindings(person)).toEqual([]);
    await choose('Change schedule');
    const change = page.getByRole('dialog', { name: 'Change schedule' });
    await change.getByRole('combobox', { name: 'Day' }).selectOption('By a rule');
    await change.getByLabel(/^Rule/).fill('* * * * *');
    await change.getByRole('button', { name: 'Save' }).click();
    await change.getByText('Two times of the schedule are nearer than 15 minutes.').waitFor();
    await change.getByLabel(/^Rule/).fill('0 9 1 * *');
    await change.getByRole('button', { name: 'Save' }).click();
    await list.getByText(/^Monthly 9:00.AM/).waitFor();
    await choose('Delete schedule');
    await list.waitFor({ state: 'detached' });
  });
});
