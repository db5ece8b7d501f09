/**
 * A session that is open in a terminal, in a real browser: the list, the bar, the sheet, and the way back to the
 * machine.
 */
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import type { Held } from '@relay/protocol';
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
import { type TranscriptDaemon, connectTranscriptDaemon, item, put } from './transcript-daemon.ts';

const native = 'garden';
const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
const idle = (): Held => ({
  state: 'idle',
  program: 'Claude Code',
  terminal: 'pts/3',
  since: ago(70),
  at: ago(12),
  sure: true,
  ends: true,
});

describeWith('chromium', 'a session that is open in a terminal', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  let person: Person;
  let daemon: TranscriptDaemon;

  beforeAll(async () => {
    relay = await startBrowserRelay();
    browser = await launchBrowser();
    person = await newPerson(browser, relay.url, { viewport: { width: 390, height: 844 } });
    await person.createAccount(relay.setupLink, 'ada@example.com');
    daemon = await connectTranscriptDaemon(relay.relay, await registeredDevice(person), { capabilities: ['desk'] });
    await person.goto('/sessions/new');
    await person.page.getByLabel(/^What should/).fill('Water the garden');
    await person.click('Start session');
    const { task_id: taskId } = (await daemon.next('task_start')) as unknown as { task_id: string };
    daemon.event(taskId, 'SESSION_STARTED', { session_id: native });
    await person.page.waitForURL(`**%3A${native}`);
    daemon.say(taskId, native, [
      put(item('u1', 1, { kind: 'user' }, 'Water the garden')),
      put(item('a1', 2, { kind: 'text' }, 'The roses have water.')),
    ]);
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'The roses have water.' });
    await person.text('The roses have water.');
  });
  afterAll(async () => {
    await browser?.close();
    await daemon?.drop();
    await relay?.end();
  });
  afterEach(() => expect(person.complaints).toEqual([]));

  const hold = (held: Held | null) => daemon.send({ type: 'session_held', session_id: native, held });
  const bar = (name: string | RegExp) => person.page.getByRole('region', { name });
  const answer = async (status: string, more: object = {}) => {
    const { request_id: requestId, ...frame } = await daemon.next('force_quit_session');
    daemon.send({ type: 'force_quit_result', request_id: requestId, session_id: native, status, ...more });
    return frame;
  };

  it('44: shows its holder for each state, in the conversation and in the list', async () => {
    const states: [Held, string, RegExp][] = [
      [idle(), 'Open at the desk', /^Terminal on .+, idle for 12 min$/],
      [{ ...idle(), state: 'busy', at: ago(3) }, 'Working at the desk', /^Terminal on .+, for 3 min$/],
      [
        { ...idle(), state: 'waiting', waits: 'permission prompt' },
        'Waits for you at the desk',
        /: permission prompt$/,
      ],
      [{ ...idle(), ends: false, why: 'foreign' }, 'Open in another program', /^Claude Code on /],
      [{ ...idle(), ends: false, why: 'shared' }, 'Open in Claude Code’s background server', /^on /],
      [{ ...idle(), ends: false, sure: false }, 'May be open at the desk', /^Claude Code on /],
    ];
    for (const [held, title, line] of states) {
      hold(held);
      await bar(title).getByText(line).waitFor();
      expect(await bar(title).getByRole('button', { name: 'Continue here' }).count()).toBe(
        held.ends && held.state === 'idle' ? 1 : 0,
      );
      await everyLook(person, `desk-bar-${held.why ?? (held.sure ? held.state : 'likely')}`);
      await person.page.setViewportSize({ width: 390, height: 844 });
    }
    hold({ ...idle(), state: 'busy' });
    await person.page.setViewportSize({ width: 1360, height: 860 });
    await person.page.getByRole('navigation').getByText('Open at the desk, working').waitFor();
    await person.page.setViewportSize({ width: 390, height: 844 });
    hold(null);
    await bar('Working at the desk').waitFor({ state: 'detached' });
  });

  it('44: labels a message that the person typed there', async () => {
    daemon.say('', native, [put(item('u2', 3, { kind: 'user', at: 'desk' }, 'And the herbs'))]);
    await person.text('And the herbs');
    await person.page.locator('.meta span', { hasText: /^\s*at the desk\s*$/ }).waitFor();
  });

  it('44: offers choices before a message is sent: close it there, wait, or keep a draft', async () => {
    for (const [choice, desk] of [
      ['Close it there and send', 'take'],
      ['Send when it’s closed there', 'wait'],
    ] as const) {
      hold(idle());
      await bar('Open at the desk').waitFor();
      await person.page.getByLabel('Message', { exact: true }).fill('And test the body of the 429, please');
      await person.click('Send');
      const sheet = person.page.getByRole('dialog', { name: 'It’s still open at the desk' });
      await sheet.getByText(/idle for 12 min\. Two at once would split its history\.$/).waitFor();
      await sheet.getByText('And test the body of the 429, please').waitFor();
      await everyLook(person, 'desk-ask');
      expect(await axeFindings(person)).toEqual([]);
      await person.page.setViewportSize({ width: 390, height: 844 });
      await sheet.getByRole('button', { name: 'Keep as a draft' }).click();
      expect(await person.page.getByLabel('Message', { exact: true }).inputValue()).toMatch(/^And test/);
      await person.click('Send');
      await sheet.getByRole('button', { name: choice }).click();
      const task = await daemon.next('task_resume');
      expect(task).toMatchObject({ message: 'And test the body of the 429, please', desk });
      hold(null);
      daemon.event(task.task_id as string, 'TASK_COMPLETE', { result: `Tested after ${desk}.` });
      await person.text(`Tested after ${desk}.`);
      // The response can come later than the frames, and empties the field.
      await person.page.locator('.dock textarea:invalid').waitFor();
    }
  });

  it('44: offers to stop the work there as second choice, and only possible actions', async () => {
    hold({ ...idle(), state: 'busy' });
    await bar('Working at the desk').waitFor();
    await person.page.getByLabel('Message', { exact: true }).fill('Stop');
    await person.click('Send');
    const sheet = person.page.getByRole('dialog');
    const names = () => sheet.locator('.desk-ways strong').allTextContents();
    await sheet.getByText('What Claude Code is doing now is interrupted.').waitFor();
    expect(await names()).toEqual(['Send when it’s closed there', 'Stop it there and send', 'Keep as a draft']);
    hold({ ...idle(), ends: false, why: 'foreign' });
    await sheet.getByText('Relay can’t close it: it runs in Claude Code.').waitFor();
    expect(await names()).toEqual(['Send when it’s closed there', 'Keep as a draft']);
    await sheet.getByRole('button', { name: 'Close', exact: true }).click();
    await person.page.getByLabel('Message', { exact: true }).fill('');
  });

  it('44: can be taken over without a message, and shows the outcome', async () => {
    hold(idle());
    await person.click('Continue here');
    expect(await answer('busy')).not.toHaveProperty('stop_turn');
    await person.text('Claude Code is working there. Stop it?');
    await person.click('Stop it');
    expect(await answer('failed')).toMatchObject({ stop_turn: true });
    await person.text('It didn’t close. Close it in pts/3.');
    await person.click('Continue here');
    await answer('released');
    hold(null);
    await person.text('Closed at the desk. The session is yours.');
    await everyLook(person, 'desk-released');
    expect(await axeFindings(person)).toEqual([]);
    await person.page.setViewportSize({ width: 390, height: 844 });
  });

  it('44: shows its program, terminal, folder and time', async () => {
    hold(idle());
    await bar('Open at the desk').getByRole('button', { name: 'Details' }).click();
    const sheet = person.page.getByRole('dialog', { name: 'Open at the desk' });
    for (const text of [
      'Claude Code',
      'pts/3',
      'Relay ends only programs of your own that have this one session open.',
    ])
      await sheet.getByText(text, { exact: true }).waitFor();
    await sheet.getByRole('button', { name: 'Close', exact: true }).click();
    hold(null);
  });

  it('44: returns to the machine: the menu lets go and shows the command', async () => {
    await person.click('More');
    await person.click('Continue at the desk');
    const { request_id: requestId, let_go: letGo } = await daemon.next('desk_request');
    expect(letGo).toBe(true);
    const command = 'cd ~/projects/garden-api && claude --resume 546e4bc7';
    daemon.send({ type: 'desk_response', request_id: requestId, session_id: native, free: true, command });
    const sheet = person.page.getByRole('dialog', { name: 'Continue at the desk' });
    await sheet.getByText('Nothing runs here, so the session is free.').waitFor();
    await sheet.getByText(command).waitFor();
    await sheet.getByText(/^relay attach \w+$/).waitFor();
    await everyLook(person, 'desk-resume');
    expect(await axeFindings(person)).toEqual([]);
    await sheet.getByRole('button', { name: 'Close', exact: true }).click();
  });
});
