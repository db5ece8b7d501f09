/** The inbox on the pages: the start page, its answers, and the count outside the page (rules, 14.16 to 14.18). */
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import type { Registration } from '@relay/testing';
import type { Browser } from 'playwright-core';
import {
  type BrowserRelay,
  type Person,
  eventually,
  everyLook,
  launchBrowser,
  newPerson,
  registeredDevice,
  startBrowserRelay,
} from './browser.ts';
import { type TranscriptDaemon, connectTranscriptDaemon, item, put } from './transcript-daemon.ts';

describeWith('chromium', 'the inbox', () => {
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
    daemon = await connectTranscriptDaemon(relay.relay, registration);
  });
  afterAll(async () => {
    await browser?.close();
    await daemon?.drop();
    await relay?.end();
  });
  afterEach(() => expect(person.complaints.splice(0)).toEqual([]));

  async function start(words: string, nativeId: string, folder: string): Promise<string> {
    await person.goto('/sessions/new');
    await person.page.getByLabel(/^What should/).fill(words);
    await person.page.getByLabel('Folder on the machine').fill(folder);
    await person.click('Start session');
    const task = await daemon.next('task_start');
    const taskId = task.task_id as string;
    daemon.send({ type: 'status', running_tasks: [taskId] });
    daemon.event(taskId, 'SESSION_STARTED', { session_id: nativeId });
    daemon.say(taskId, nativeId, [put(item(task.message_uuid as string, 1, { kind: 'user' }, words))]);
    await person.page.waitForURL(`**/sessions/${encodeURIComponent(`${registration.deviceId}:scripted:${nativeId}`)}`);
    return taskId;
  }
  const ask = (taskId: string, uuid: string, title: string, options: object[], subject?: object) => {
    const kind = subject ? 'permission' : 'choice';
    const question = { uuid, title, kind, options, text: true, ...(subject && { subject }) };
    daemon.event(taskId, 'WAIT_FOR_USER', { prompt: title, result: '', options: [], message_uuid: uuid, question });
    daemon.send({ type: 'status', running_tasks: [] });
  };
  const end = (taskId: string, type: 'TASK_COMPLETE' | 'ERROR', fields: object) => {
    daemon.event(taskId, type, { ...fields });
    daemon.send({ type: 'status', running_tasks: [] });
  };
  const titleIs = async (title: string) =>
    expect(
      await eventually(
        () => person.page.title(),
        (now) => now === title,
      ),
    ).toBe(title);
  const waiting = () => person.page.locator('.inbox');

  it('is the start page, to answer questions, dismiss failures and snooze others; the title counts', async () => {
    const migrate = await start('Rate limit for invites', 'migrate', '/home/ada/code/garden-api');
    const charts = await start('Reports in dark mode', 'charts', '/home/ada/code/storefront');
    const checkout = await start('Checkout is slow on Safari', 'checkout', '/home/ada/code/storefront');
    const upgrade = await start('Upgrade to Node 24', 'upgrade', '/home/ada/code/garden-api');
    await person.goto('/devices');
    await person.heading('Machines');
    ask(
      migrate,
      'q1',
      'Run the database migration?',
      [
        { id: 'yes', label: 'Allow once', kind: 'allow_once' },
        { id: 'no', label: 'Reject', kind: 'reject_once' },
      ],
      { type: 'command', command: 'npm run db:migrate -- --env staging' },
    );
    ask(charts, 'q2', 'Which chart library should I use?', [
      { id: 'a', label: 'Recharts' },
      { id: 'b', label: 'visx' },
      { id: 'c', label: 'Plain SVG' },
    ]);
    end(checkout, 'ERROR', { error: 'The agent crashed: out of memory.' });
    end(upgrade, 'TASK_COMPLETE', { result: '14 files changed, all tests pass.' });
    await titleIs('(3) Machines · Relay');
    await person.goto('/');
    await titleIs('(3) Relay');
    await waiting().getByText('Which chart library should I use?').waitFor();
    await waiting().getByText('14 files changed, all tests pass.').waitFor();
    expect(await person.page.locator('.side .ask').count()).toBe(0);
    await everyLook(person, 'inbox');

    await waiting().getByRole('button', { name: 'visx' }).click();
    expect(await daemon.next('task_resume')).toMatchObject({ prompt_uuid: 'q2', option_id: 'b' });
    await titleIs('(2) Relay');
    await waiting().getByRole('button', { name: 'Dismiss: Checkout is slow on Safari' }).click();
    await titleIs('(1) Relay');
    await waiting().getByRole('button', { name: 'Show later: Run the database migration?' }).click();
    await person.page.getByRole('button', { name: 'In an hour' }).filter({ visible: true }).click();
    await titleIs('Relay');
    await waiting().getByText('1 for later').click();
    await waiting().getByRole('button', { name: 'Show now' }).click();
    await titleIs('(1) Relay');
    await waiting().getByRole('button', { name: 'Allow once' }).click();
    expect(await daemon.next('task_resume')).toMatchObject({ prompt_uuid: 'q1', option_id: 'yes' });
    await titleIs('Relay');

    // A focused page counts as having seen the end of the turn.
    const seen = person.page.waitForResponse(/\/api\/inbox\/[^/]+\/ack$/);
    await waiting()
      .getByRole('link', { name: /Upgrade to Node 24/ })
      .click();
    await person.heading('Upgrade to Node 24');
    await seen;
    await person.goto('/sessions');
    await person.text('Pick a session, or start one');
  });

  it('offers no Allow for a permission that a card cannot show, not even in the list', async () => {
    const taskId = await start('Clean up the branches', 'branches', '/home/ada/code/storefront');
    await person.goto('/');
    ask(
      taskId,
      'q3',
      'Use delete_branch?',
      [
        { id: 'yes', label: 'Allow once', kind: 'allow_once' },
        { id: 'no', label: 'Reject', kind: 'reject_once' },
      ],
      { type: 'tool', tool: 'delete_branch', input: '{"branch":"main"}' },
    );
    const card = waiting().locator('.ask', { hasText: 'Use delete_branch?' });
    await card.getByRole('link', { name: 'Open' }).waitFor();
    expect(await card.getByRole('button', { name: 'Allow once' }).count()).toBe(0);
    await person.goto('/devices');
    const inList = person.page.locator('.side .ask', { hasText: 'Use delete_branch?' });
    await inList.getByRole('link', { name: 'Review' }).click();
    expect(await inList.getByRole('button', { name: 'Allow once' }).count()).toBe(0);
    const question = person.page.locator('.q');
    await question.getByText('{"branch":"main"}').waitFor();
    await question.getByRole('button', { name: 'Reject' }).click();
    expect(await daemon.next('task_resume')).toMatchObject({ prompt_uuid: 'q3', option_id: 'no' });
    end(taskId, 'TASK_COMPLETE', { result: 'Nothing was deleted.' });
  });

  it('is the head of the list on a phone', async () => {
    await person.page.setViewportSize({ width: 390, height: 844 });
    const broken = await start('Release notes', 'notes', '/home/ada/code/storefront');
    await person.goto('/sessions');
    end(broken, 'ERROR', { error: 'no disk space' });
    const row = person.page.locator('.side .item', { hasText: 'no disk space' });
    await row.waitFor();
    await titleIs('(1) Relay');
    await row.getByRole('button', { name: 'Dismiss: Release notes' }).click();
    await row.waitFor({ state: 'detached' });
    await titleIs('Relay');
  });

  it('sets the number on the icon of the app, and replaces an earlier one', async () => {
    const other = await newPerson(browser, relay.url);
    await other.context.addInitScript(`
      Navigator.prototype.setAppBadge = async (count) => localStorage.setItem('test.badge', count);
      Navigator.prototype.clearAppBadge = async () => localStorage.setItem('test.badge', 'none');
    `);
    const badgeIs = async (badge: string) => {
      const read = () => other.page.evaluate<string | null>(`localStorage.getItem('test.badge')`);
      expect(await eventually(read, (now) => now === badge)).toBe(badge);
    };
    await other.goto('/sign-in');
    await other.page.evaluate(`localStorage.setItem('test.badge', '3')`);
    await other.signIn('ada@example.com');
    await badgeIs('0');
    const broken = await start('Prune the roses', 'roses', '/home/ada/code/garden');
    end(broken, 'ERROR', { error: 'no scissors' });
    await badgeIs('1');
    // The person signed out elsewhere.
    await other.context.clearCookies();
    await other.goto('/sessions');
    await other.heading('Sign in');
    await badgeIs('none');
    expect(other.complaints).toEqual([]);
    await other.context.close();
  });
});
