/** Permissions, model and effort in the composer and at New session, with a daemon whose settings the test controls. */
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import { type Registration, type TestDaemon, connectDaemon } from '@relay/testing';
import type { Browser } from 'playwright-core';
import {
  type BrowserRelay,
  type Person,
  launchBrowser,
  everyLook,
  newPerson,
  phone,
  registeredDevice,
  startBrowserRelay,
  axeFindings,
} from './browser.ts';

const offered = () => [
  {
    id: 'mode',
    kind: 'mode',
    category: 'mode',
    applies: 'now',
    name: 'Mode',
    value: 'default',
    options: [
      { id: 'default', name: 'Manual', description: 'Always ask before making changes' },
      { id: 'acceptEdits', name: 'Accept edits', description: 'Automatically accept all file edits' },
      { id: 'bypassPermissions', name: 'Bypass permissions', description: 'Accepts all permissions', danger: true },
    ],
  },
  {
    id: 'model',
    kind: 'model',
    category: 'model',
    name: 'Model',
    value: 'opus',
    options: [
      { id: 'opus', name: 'Opus 4.6' },
      { id: 'sonnet', name: 'Sonnet 5' },
    ],
  },
  {
    id: 'effort',
    kind: 'option',
    category: 'thought_level',
    name: 'Effort',
    value: 'high',
    options: [
      { id: 'low', name: 'Low' },
      { id: 'medium', name: 'Medium' },
      { id: 'high', name: 'High' },
    ],
  },
];

describeWith('chromium', 'the controls of the composer', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  let person: Person;
  let registration: Registration;
  let daemon: TestDaemon;
  let settings = offered();
  /** Changes that the daemon received. */
  const changes: unknown[] = [];
  const headers = { 'X-Daemon-Capabilities': 'settings, controls' };

  /** Replies to settings requests, and refuses the model "sonnet". */
  const serve = (to: TestDaemon) => {
    to.socket.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString('utf8')) as Record<string, unknown> & {
        change?: { id: string; value: string | null };
      };
      const { type, request_id, session_id, change } = frame;
      // The relay delays the page for 10 s if the daemon does not answer.
      if (type === 'get_messages') to.send({ type: 'messages', request_id, session_id, messages: [], has_more: false });
      if (type !== 'settings_request' && type !== 'agent_settings_request') return;
      const reply = { type: type.replace('request', 'response'), request_id, ...(session_id ? { session_id } : {}) };
      if (change) changes.push({ ...change, ...(frame.keep ? { keep: true } : {}) });
      if (change?.value === 'sonnet')
        return to.send({ ...reply, code: 'INVALID_SETTING', error: 'This plan has no Sonnet.' });
      settings = settings.map((one) => (one.id === change?.id ? { ...one, value: change.value ?? 'default' } : one));
      to.send({ ...reply, settings });
    });
  };

  const look = async (name: string) => {
    await everyLook(person, name);
    await person.page.setViewportSize(phone);
  };

  beforeAll(async () => {
    relay = await startBrowserRelay();
    browser = await launchBrowser();
    person = await newPerson(browser, relay.url, { viewport: phone });
    await person.createAccount(relay.setupLink, 'ada@example.com');
    registration = await registeredDevice(person);
    daemon = await connectDaemon(relay.relay, { registration, headers });
    serve(daemon);
  });
  afterAll(async () => {
    await browser?.close();
    await daemon?.drop();
    await relay?.end();
  });
  afterEach(() => expect(person.complaints).toEqual([]));

  const permissions = () => person.page.locator('.box .set-chip').first();
  const sheet = () => person.page.getByRole('dialog', { name: /this session|new session/ });
  const faults = () => axeFindings(person);

  it('3.4: a schedule takes its own settings, and asks for a confirmation of a mode that never asks', async () => {
    const { page } = person;
    await person.goto('/later');
    await page.getByRole('button', { name: 'Repeat a message' }).click();
    const dialog = page.getByRole('dialog', { name: 'Repeat a message' });
    await dialog.getByLabel('Message').fill('Clean up');
    await dialog.getByRole('button', { name: 'Permissions: Manual' }).click();
    await sheet()
      .getByRole('radio', { name: /Bypass permissions/ })
      .click();
    const confirm = page.getByRole('alertdialog');
    await confirm.getByText(/while you’re not there: Every weekday 9:00/).waitFor();
    expect(await faults()).toEqual([]);
    await confirm.getByRole('button', { name: 'Turn on Bypass permissions' }).click();
    await confirm.waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    const request = page.waitForRequest((sent) => sent.method() === 'POST' && sent.url().endsWith('/api/schedules'));
    await dialog.getByRole('button', { name: 'Schedule', exact: true }).click();
    expect((await request).postDataJSON()).toMatchObject({
      settings: [{ id: 'mode', value: 'bypassPermissions' }],
      dangerous: true,
    });
    const more = page.getByRole('button', { name: 'More for Clean up' });
    await more.click();
    await page.getByRole('button', { name: 'Delete schedule' }).click();
    await more.waitFor({ state: 'detached' });
    expect(changes).toEqual([]);
  });

  it('1.4: the menu has the settings of a daemon without controls, its composer shows no chips', async () => {
    const old = await connectDaemon(relay.relay, {
      registration: await registeredDevice(person, 'Old machine'),
      headers: { 'X-Daemon-Capabilities': 'settings' },
    });
    serve(old);
    const session = { session_id: 'old', last_message: 'Hello', is_active: false, message_count: 1 };
    old.send({ type: 'report_sessions', sessions: [{ ...session, last_activity: new Date().toISOString() }] });
    // The list shows the session as soon as the relay has it.
    await person.goto('/sessions');
    await person.page.getByRole('link', { name: /Hello/ }).click();
    await person.page.getByRole('button', { name: 'More', exact: true }).click();
    await person.page.getByRole('button', { name: 'Permissions and model' }).click();
    const changed = person.page.waitForResponse((answer) => answer.request().method() === 'PATCH');
    await sheet()
      .getByRole('radio', { name: /Accept edits/ })
      .check();
    await changed;
    expect(changes).toEqual([{ id: 'mode', value: 'acceptEdits' }]);
    await person.page.keyboard.press('Escape');
    expect(await person.page.locator('.box .set-chip').count()).toBe(0);
    await old.drop();
    settings = offered();
    changes.length = 0;
  });

  it('1: New session shows the settings of the agent, and sends the choice with the first message', async () => {
    await person.goto('/sessions/new');
    await person.page.getByLabel(/^What should/).fill('Fix the test');
    await person.page.getByRole('button', { name: 'Permissions: Manual' }).click();
    await sheet()
      .getByRole('radio', { name: /Accept edits/ })
      .check();
    expect(await faults()).toEqual([]);
    await look('new-session-sheet');
    await person.page.keyboard.press('Escape');
    await person.page.getByRole('button', { name: 'Permissions: Accept edits' }).waitFor();
    await look('new-session-controls');
    await person.click('Start session');
    const task = await daemon.next('task_start');
    expect(task).toMatchObject({ settings: [{ id: 'mode', value: 'acceptEdits', keep: true }] });
    settings[0]!.value = 'acceptEdits';
    daemon.send({ type: 'status', running_tasks: [task.task_id] });
    daemon.event(task.task_id as string, 'SESSION_STARTED', { session_id: 'native/1' });
    daemon.event(task.task_id as string, 'TASK_COMPLETE', { result: 'Done.' });
    daemon.send({ type: 'status', running_tasks: [] });
    await person.page.getByRole('button', { name: 'Permissions: Accept edits' }).waitFor();
    await person.page.getByRole('button', { name: 'Model: Opus 4.6, High' }).waitFor();
    await look('composer-controls');
  });

  it('1: a choice takes effect at once, the sheet stays open, and a refusal restores the old value', async () => {
    await permissions().click();
    await sheet().getByText('applies at once').waitFor();
    await sheet()
      .getByRole('radio', { name: /Manual/ })
      .check();
    await person.page.getByRole('button', { name: 'Low' }).click();
    await sheet().locator('[aria-pressed=true]', { hasText: 'Low' }).waitFor();
    await sheet().getByLabel('Model').selectOption('sonnet');
    await sheet().getByRole('alert').waitFor();
    expect(await sheet().getByRole('alert').innerText()).toContain('This plan has no Sonnet.');
    expect(await sheet().getByLabel('Model').inputValue()).toBe('opus');
    expect(await faults()).toEqual([]);
    await look('mode-sheet');
    await sheet().getByRole('button', { name: 'Close' }).click();
    await person.page.getByRole('button', { name: 'Model: Opus 4.6, Low' }).waitFor();
    expect(changes).toContainEqual({ id: 'effort', value: 'low' });
  });

  it('43, 1.5: a mode that never asks needs one confirmation and shows in red; "Ask again" does not', async () => {
    await permissions().click();
    const changed = person.page.waitForResponse((answer) => answer.request().method() === 'PATCH');
    await sheet()
      .getByRole('radio', { name: /Accept edits/ })
      .check();
    await changed;
    await sheet()
      .getByRole('radio', { name: /Bypass/ })
      .click();
    const question = person.page.getByRole('alertdialog');
    await question.getByText('You won’t be notified of questions').waitFor();
    expect(await faults()).toEqual([]);
    await look('confirm-danger');
    const before = changes.length;
    // The focus is on Cancel, so Enter does not confirm.
    await person.page.keyboard.press('Enter');
    await question.waitFor({ state: 'detached' });
    expect(changes).toHaveLength(before);
    await sheet()
      .getByRole('radio', { name: /Bypass/ })
      .click();
    await question.getByRole('button', { name: 'Turn on Bypass permissions' }).click();
    await question.waitFor({ state: 'detached' });
    await sheet().getByRole('button', { name: 'Close' }).click();
    await person.page.getByRole('button', { name: 'Permissions: Bypass permissions, dangerous' }).waitFor();
    expect(changes.slice(before)).toEqual([{ id: 'mode', value: 'bypassPermissions' }]);
    expect(await faults()).toEqual([]);
    await look('full-access');
    // Another app shows it in red as well.
    const second = await person.context.newPage();
    await second.goto(person.page.url());
    await second.getByRole('button', { name: 'Permissions: Bypass permissions, dangerous' }).waitFor();
    // It is on now: a message asks nothing more.
    await person.page.getByLabel('Message').fill('Water the garden');
    await person.page.getByRole('button', { name: 'Send' }).click();
    const task = await daemon.next('task_resume', ({ message }) => message === 'Water the garden');
    daemon.event(String(task.task_id), 'TASK_COMPLETE', { session_id: String(task.session_id), result: 'Watered.' });
    await person.page.locator('.log').getByText('Watered.').waitFor();
    expect(await question.count()).toBe(0);
    // Back to the mode before it.
    await person.click('Ask again');
    await person.page.getByRole('button', { name: 'Permissions: Accept edits' }).waitFor();
    expect(await question.count()).toBe(0);
    expect(changes.slice(before)).toEqual([
      { id: 'mode', value: 'bypassPermissions' },
      { id: 'mode', value: 'acceptEdits' },
    ]);
    daemon.send({ type: 'settings_activity', session_id: String(task.session_id) });
    await second.getByRole('button', { name: 'Permissions: Accept edits' }).waitFor();
    await second.close();
  });

  it('7: a change in another app appears in this one', async () => {
    settings[0]!.value = 'default';
    daemon.send({ type: 'settings_activity', session_id: 'native/1' });
    await person.page.getByRole('button', { name: 'Permissions: Manual' }).waitFor();
    await person.page.getByLabel('Message').press('Shift+Tab');
    await person.page.getByRole('button', { name: 'Permissions: Accept edits' }).waitFor();
    await person.page.getByLabel('Message').press('Shift+Tab');
    await person.page.getByRole('button', { name: 'Permissions: Manual' }).waitFor();
  });

  it('9: a choice for an offline machine goes with the next message', async () => {
    await daemon.drop();
    await person.page.locator('.set-chip .hollow').first().waitFor({ timeout: 30_000 });
    await permissions().click();
    await sheet().getByText('What you choose goes with your next message.').waitFor();
    await sheet()
      .getByRole('radio', { name: /Accept edits/ })
      .check();
    await sheet().getByRole('button', { name: 'Close' }).click();
    await person.page.getByRole('button', { name: 'Permissions: Accept edits' }).waitFor();
    await person.page.getByLabel('Message').fill('Go on');
    await person.page.getByRole('button', { name: 'Send' }).click();
    daemon = await connectDaemon(relay.relay, { registration, headers });
    serve(daemon);
    expect(await daemon.next('task_resume')).toMatchObject({
      message: 'Go on',
      settings: [{ id: 'mode', value: 'acceptEdits' }],
    });
  });
});
