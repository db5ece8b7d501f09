/** Usage figures: the ring of the composer, its sheet, and the page by day. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import type { Registration } from '@relay/testing';
import type { Browser, Page } from 'playwright-core';
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
import { type TranscriptDaemon, connectTranscriptDaemon, item, put, set } from './transcript-daemon.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
async function faultsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const { violations } = await page.evaluate<{ violations: { id: string }[] }>('axe.run(document)');
  return violations.map(({ id }) => id);
}

const hour = 3_600_000;
const soon = new Date(Date.now() + 3 * hour).toISOString();
const now = new Date().toISOString();
const limit = (id: string, used: number, resets: string) => ({
  id,
  name: id,
  used,
  resets,
  state: 'allowed',
  as_of: now,
});
const used = {
  kind: 'usage',
  used: 68_400,
  size: 200_000,
  cost: { amount: 1.42, currency: 'USD' },
  limits: [
    limit('five_hour', 0.72, soon),
    limit('seven_day', 0.41, soon),
    limit('over', 0.99, new Date(0).toISOString()),
  ],
};

describeWith('chromium', '§2: usage', () => {
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
    daemon = await connectTranscriptDaemon(relay.relay, registration, { capabilities: ['usage', 'spending'] });
    daemon.socket.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString('utf8')) as Record<string, string>;
      const about = { request_id: frame['request_id'], session_id: frame['session_id'] };
      if (frame['type'] === 'usage_request')
        daemon.send({ type: 'usage_response', ...about, error: 'not since a restart' });
      if (frame['type'] !== 'spending_request') return;
      const day = { day: frame['to'], agent_type: 'scripted', turns: 3, tokens: 41_200 };
      const days = [
        { ...day, cost: { amount: 6.1, currency: 'USD' } },
        { ...day, agent_type: 'codex', cost: undefined },
      ];
      daemon.send({ type: 'spending_response', request_id: frame['request_id'], days, since: now });
    });
    daemon.send({ type: 'report_slash_commands', commands: [{ name: 'compact', description: 'Summarise' }] });
  });
  afterAll(async () => {
    await browser?.close();
    await daemon?.drop();
    await relay?.end();
  });
  afterEach(() => expect(person.complaints.splice(0)).toEqual([]));

  const pathOf = (nativeId: string) =>
    `/sessions/${encodeURIComponent(`${registration.deviceId}:scripted:${nativeId}`)}`;
  const ring = (page: Page) => page.getByRole('button', { name: /^Context \d+% full/ });
  const sheet = (page: Page) => page.getByRole('dialog', { name: 'Usage' });

  async function start(nativeId: string): Promise<string> {
    await person.goto('/sessions/new');
    await person.page.getByLabel(/^What should/).fill('Water the beds');
    await person.click('Start session');
    const task = await daemon.next('task_start');
    const taskId = task.task_id as string;
    daemon.send({ type: 'status', running_tasks: [taskId] });
    daemon.event(taskId, 'SESSION_STARTED', { session_id: nativeId });
    daemon.say(taskId, nativeId, [put(item(task.message_uuid as string, 1, { kind: 'user' }, 'Water the beds'))]);
    await person.page.waitForURL(`**${pathOf(nativeId)}`);
    return taskId;
  }
  const finish = (taskId: string, nativeId: string) => {
    daemon.say(taskId, nativeId, [put(item(`${nativeId}-end`, 9, { kind: 'text' }, 'All watered.'))]);
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'All watered.', message_uuid: `${nativeId}-end` });
    daemon.send({ type: 'status', running_tasks: [] });
  };

  it('shows no ring until the agent reports figures', async () => {
    const taskId = await start('silent');
    finish(taskId, 'silent');
    await person.text('All watered.');
    await person.page.getByRole('button', { name: 'Send' }).waitFor();
    expect(await ring(person.page).count()).toBe(0);
  });

  it('the ring shows the usage of the context, live and in a second tab', async () => {
    const taskId = await start('figures');
    daemon.say(taskId, 'figures', [put(item('used', 2, { ...used, used: 20_000 }))]);
    await person.page.getByRole('button', { name: 'Context 10% full. Usage' }).waitFor();
    daemon.say(taskId, 'figures', [set('used', used)]);
    finish(taskId, 'figures');
    await person.page.getByRole('button', { name: 'Context 34% full. Usage' }).waitFor();
    const tab = await person.context.newPage();
    await tab.goto(`${relay.url}${pathOf('figures')}`);
    await tab.getByRole('button', { name: 'Context 34% full. Usage' }).waitFor();
    await tab.close();
  });

  it('the sheet shows context, costs and active limits, and compacts the session', async () => {
    await ring(person.page).click();
    const shown = sheet(person.page);
    await shown.getByText('34% of the context').waitFor();
    await shown.getByText('68,400 of 200,000 tokens').waitFor();
    await shown.getByText('$6.10').waitFor();
    expect(await shown.getByText('$1.42').count()).toBe(1);
    const meters = shown.getByRole('meter');
    expect(await meters.count()).toBe(2);
    expect(await meters.first().getAttribute('aria-label')).toBe('5 hours');
    expect(await meters.first().getAttribute('aria-valuetext')).toMatch(/^72% · resets /);
    await shown.getByText(/^From the agent on MacBook Pro, /).waitFor();
    expect(await faultsOf(person.page)).toEqual([]);
    await everyLook(person, 'usage-sheet');
    expect(await axeFindings(person)).toEqual([]);
    await shown.getByRole('button', { name: 'Compact' }).click();
    await shown.waitFor({ state: 'detached' });
    const task = await daemon.next('task_resume');
    expect(task).toMatchObject({ message: '/compact', session_id: 'figures' });
    daemon.event(task.task_id as string, 'TASK_COMPLETE', { result: 'Compacted.', session_id: 'figures' });
  });

  it('43: a turn that a cap stopped shows the reason, and continues with a tap', async () => {
    const taskId = await start('capped');
    const why = 'Stopped at about $15.02, half as much again as the $10 you set.';
    daemon.say(taskId, 'capped', [put(item('capped-end', 9, { kind: 'error', code: 'COST_CAP' }, why))]);
    daemon.event(taskId, 'ERROR', { error: why, code: 'COST_CAP', message_uuid: 'capped-end' });
    daemon.send({ type: 'status', running_tasks: [] });
    await person.text(why);
    await person.click('Continue');
    const task = await daemon.next('task_resume', ({ session_id: id }) => id === 'capped');
    expect(task).toMatchObject({ message: 'Continue where you stopped.' });
    daemon.event(task.task_id as string, 'TASK_COMPLETE', { result: 'Went on.', session_id: 'capped' });
  });

  it('43: shows a usage limit as a note, not as a failure', async () => {
    const taskId = await start('limited');
    const why = 'You’ve hit your limit · resets 3pm';
    daemon.say(taskId, 'limited', [put(item('limit-end', 9, { kind: 'error', code: 'USAGE_LIMIT' }, why))]);
    daemon.event(taskId, 'ERROR', { error: why, code: 'USAGE_LIMIT', message_uuid: 'limit-end' });
    daemon.send({ type: 'status', running_tasks: [] });
    await person.text(`The agent reached a usage limit. Its work is kept. ${why}`);
    expect(await person.page.locator('.note.bad').count()).toBe(0);
  });

  it('43: a cap asks and stops in the language of the pages, and an answer counts in both tabs', async () => {
    const taskId = await start('asked');
    const options = [
      { id: 'continue', label: 'Continue' },
      { id: 'raise', label: 'Continue up to $20' },
      { id: 'stop', label: 'Stop here' },
    ];
    const title = 'This session has cost about $10.04. Continue?';
    const reason = { code: 'cap_session', spent: 10.04, next: 20 };
    const question = { uuid: 'cap', title, kind: 'choice', options, text: true, person: true, reason };
    daemon.say(taskId, 'asked', [put(item('cap', 2, { kind: 'question', question, state: 'open' }, title))]);
    daemon.event(taskId, 'WAIT_FOR_USER', { prompt: title, result: '', options, question, message_uuid: 'cap' });
    daemon.send({ type: 'status', running_tasks: [] });
    await person.text(title);
    await person.page.evaluate(`localStorage.setItem('relay-language', 'de')`);
    await person.page.reload();
    await person.page
      .getByRole('heading', { name: 'Diese Sitzung hat etwa 10,04 $ gekostet. Weitermachen?' })
      .waitFor();
    await person.page.getByRole('link', { name: /Diese Sitzung hat etwa/ }).waitFor();
    const tab = await person.context.newPage();
    await tab.goto(`${relay.url}${pathOf('asked')}`);
    const inTab = tab.getByRole('heading', { name: /^Diese Sitzung hat etwa/ });
    await inTab.waitFor();
    await person.click('Weiter bis 20 $');
    const task = await daemon.next('task_resume', ({ session_id: id }) => id === 'asked');
    expect(task).toMatchObject({ prompt_uuid: 'cap', option_id: 'raise' });
    await inTab.waitFor({ state: 'detached' });
    const next = task.task_id as string;
    daemon.say(next, 'asked', [
      set('cap', { state: 'answered', answer: { option: 'raise', at: now } }),
      put(item('over', 9, { kind: 'error', code: 'COST_CAP', spent: 30.1, cap: 20 }, 'Stopped at about $30.10.')),
    ]);
    daemon.event(next, 'ERROR', { error: 'Stopped at about $30.10.', code: 'COST_CAP', message_uuid: 'over' });
    const stopped = 'Bei etwa 30,10 $ gestoppt, dem Eineinhalbfachen deiner Grenze von 20 $.';
    await person.page.getByRole('log').getByText(stopped).waitFor();
    await tab.getByRole('log').getByText(stopped).waitFor();
    const left = { kind: 'text', reason: { code: 'cap_stopped' } };
    daemon.say(next, 'asked', [put(item('left', 10, left, 'Stopped here. The message was not sent to the agent.'))]);
    await person.page.getByRole('log').getByText('Hier aufgehört. Die Nachricht ging nicht an den Agenten.').waitFor();
    const later = { kind: 'mark', what: 'notice', text: 'A later text.', reason: { code: 'of_a_later_release' } };
    daemon.say(next, 'asked', [put(item('later', 11, later, 'A later text.'))]);
    await person.page.getByRole('log').getByText('A later text.').waitFor();
    await tab.close();
    const asked = person.page.locator('[data-kind=question]');
    expect((await asked.textContent())?.replaceAll('\u00a0', ' ')).toMatch(/^Weiter bis 20 \$: Diese Sitzung hat etwa/);
    await person.page.evaluate(`localStorage.removeItem('relay-language')`);
    await person.page.reload();
    await person.page.getByText('half as much again as your $20').waitFor();
  });

  it('the page by day has a bar for each of 30 days, and a row for each machine and agent', async () => {
    await person.goto(pathOf('figures'));
    await ring(person.page).click();
    await sheet(person.page).getByRole('link', { name: 'Usage by day' }).click();
    await person.heading('Usage');
    const bars = person.page.getByRole('listitem').filter({ hasText: / turns?$/ });
    await bars.last().waitFor();
    expect(await bars.count()).toBe(30);
    expect(await bars.last().textContent()).toMatch(/: \$6\.10, 6 turns$/);
    expect(await bars.first().textContent()).toMatch(/: 0 turns$/);
    const rows = await person.page.getByRole('row').allInnerTexts();
    expect(rows.slice(1).map((row) => row.replace(/\s+/g, ' '))).toEqual([
      'The agent MacBook Pro 3 $6.10 41,200',
      'Codex MacBook Pro 3 – 41,200',
    ]);
    expect(await faultsOf(person.page)).toEqual([]);
    await everyLook(person, 'usage-page');
    expect(await axeFindings(person)).toEqual([]);
  });

  it('shows the figures of the last turn while the machine is offline, and names its missing days', async () => {
    await daemon.drop();
    await person.goto(pathOf('figures'));
    await ring(person.page).click();
    await sheet(person.page).getByText(/^As of /).waitFor(); // prettier-ignore
    await sheet(person.page).getByText('$1.42').waitFor();
    await person.page.keyboard.press('Escape');
    await person.goto('/usage');
    await person.text('MacBook Pro is offline; its figures are missing.');
    await person.text('No figures yet.');
  });
});
