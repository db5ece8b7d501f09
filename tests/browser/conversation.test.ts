/** A conversation in a real browser, with a daemon that sends exactly the frames of the test. */
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import { type Frame, type Registration, type TestDaemon, connectDaemon } from '@relay/testing';
import type { Browser, Locator } from 'playwright-core';
import {
  type BrowserRelay,
  type Person,
  holdSocket,
  launchBrowser,
  newPerson,
  phone,
  registeredDevice,
  startBrowserRelay,
} from './browser.ts';

describeWith('chromium', 'a conversation', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  let person: Person;
  let registration: Registration;
  let daemon: TestDaemon;

  beforeAll(async () => {
    relay = await startBrowserRelay();
    browser = await launchBrowser();
    person = await newPerson(browser, relay.url, { viewport: phone });
    await person.createAccount(relay.setupLink, 'ada@example.com');
    registration = await registeredDevice(person);
    daemon = await connectDaemon(relay.relay, { registration });
  });
  afterAll(async () => {
    await browser?.close();
    await daemon?.drop();
    await relay?.end();
  });
  afterEach(() => expect(person.complaints).toEqual([]));

  const said = (speaker: 'You' | 'Agent', words: string): Locator =>
    person.page.getByRole('article', { name: speaker, exact: true }).filter({ hasText: words });
  const status = (word: string) => person.page.locator(`main[data-status="${word}"]`).waitFor();

  /** Starts a session in the browser; the daemon gives it this name. */
  async function start(message: string, nativeId: string): Promise<string> {
    await person.goto('/sessions/new');
    await person.page.getByLabel(/^What should/).fill(message);
    await person.page.getByLabel('Folder on the machine').fill('/home/ada/garden');
    await person.click('Start session');
    const task = await daemon.next('task_start');
    expect(task).toMatchObject({ instruction: message, project_path: '/home/ada/garden' });
    await said('You', message).waitFor();
    const taskId = task.task_id as string;
    daemon.send({ type: 'status', running_tasks: [taskId] });
    daemon.event(taskId, 'SESSION_STARTED', { session_id: nativeId });
    await person.page.waitForURL(`**/sessions/${encodeURIComponent(`${registration.deviceId}:scripted:${nativeId}`)}`);
    return taskId;
  }

  const finish = (taskId: string, eventType: string, fields: Record<string, unknown>) => {
    daemon.event(taskId, eventType, fields);
    daemon.send({ type: 'status', running_tasks: [] });
  };

  /**
   * Answers every request for the history of this session, because a page reads it again when its socket opens late.
   * Returns a function that stops that. The relay delays the page for 10 s if the daemon does not answer.
   */
  const serveHistory = (nativeId: string, pageFor: (request: Frame) => object = () => ({})) => {
    const answer = (data: Buffer) => {
      const request = JSON.parse(data.toString('utf8')) as Frame;
      const { type, request_id, session_id } = request;
      if (type !== 'get_messages' || session_id !== nativeId) return;
      daemon.send({ type: 'messages', request_id, session_id, messages: [], has_more: false, ...pageFor(request) });
    };
    daemon.socket.on('message', answer);
    return () => daemon.socket.off('message', answer);
  };

  it("shows the agent's actions, output and answer live", async () => {
    const taskId = await start('Water the garden', 'native/1');
    await status('active');
    daemon.event(taskId, 'PROGRESS', { action: 'Reading', target: 'beds.txt' });
    await person.text('Reading beds.txt');
    daemon.event(taskId, 'OUTPUT', { output: 'three beds found\n' });
    await person.text('three beds found');
    await person.picture('conversation-working');
    finish(taskId, 'TASK_COMPLETE', { result: 'Done:\n```\n<b>not bold</b>\n```\nAll <i>three</i> beds.' });
    await said('Agent', 'All <i>three</i> beds.').waitFor();
    await said('Agent', 'Done').locator('pre', { hasText: '<b>not bold</b>' }).waitFor();
    await status('idle');
    await person.picture('conversation-answer');
  });

  it('continues with the next message', async () => {
    await person.page.getByLabel('Message').fill('And the hedge');
    await person.page.getByLabel('Message').press('Enter');
    const task = await daemon.next('task_resume');
    expect(task).toMatchObject({ session_id: 'native/1', message: 'And the hedge' });
    await said('You', 'And the hedge').waitFor();
    // The field becomes empty with the response to the request, which can come later than the frame.
    await person.page.locator('textarea:invalid').waitFor();
    finish(task.task_id as string, 'TASK_COMPLETE', { result: 'The hedge too.' });
    await said('Agent', 'The hedge too.').waitFor();
  });

  it("offers the agent's commands after a slash", async () => {
    const commands = [{ name: 'compact', description: 'Summarise' }, { name: 'review' }];
    daemon.send({ type: 'report_slash_commands', session_id: 'native/1', commands });
    daemon.event('', 'AGENT_RESPONSE', { session_id: 'native/1', content: 'I know two commands.' });
    await said('Agent', 'I know two commands.').waitFor();
    const message = person.page.getByLabel('Message');
    await message.pressSequentially('/co');
    const offered = person.page.getByRole('listbox', { name: 'Commands' }).getByRole('option');
    await offered.first().waitFor();
    expect(await offered.allInnerTexts()).toEqual([expect.stringMatching(/^\/compact\s+Summarise$/)]);
    // Esc closes the list, and further typing opens it.
    await message.press('Escape');
    expect(await offered.count()).toBe(0);
    await message.press('Backspace');
    await message.press('Backspace');
    await offered.nth(1).waitFor();
    await message.press('ArrowDown');
    await message.press('Enter');
    expect(await message.inputValue()).toBe('/review ');
    await message.fill('/');
    await offered.nth(1).waitFor();
    await message.press('ArrowUp');
    expect(await message.getAttribute('aria-activedescendant')).toBe(await offered.nth(2).getAttribute('id'));
    await message.press('ArrowDown');
    await offered.first().click();
    expect(await message.inputValue()).toBe('/compact ');
    await message.pressSequentially('the tests');
    await message.press('Enter');
    const task = await daemon.next('task_resume');
    expect(task).toMatchObject({ message: '/compact the tests' });
    await person.page.locator('textarea:invalid').waitFor();
    finish(task.task_id as string, 'TASK_COMPLETE', { result: 'Shorter now.' });
    await said('Agent', 'Shorter now.').waitFor();
  });

  it('leaves the Enter that accepts a composed word to the input method, in Safari too', async () => {
    const message = person.page.getByLabel('Message');
    // Safari sends this key after the composition, with the old code of an accepted key.
    const takeOver = () =>
      person.page.evaluate(
        `document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', keyCode: 229, bubbles: true, cancelable: true }))`,
      );
    await message.pressSequentially('/co');
    await person.page.getByRole('listbox', { name: 'Commands' }).getByRole('option').first().waitFor();
    await takeOver();
    expect(await message.inputValue()).toBe('/co');
    await message.fill('庭');
    await takeOver();
    await message.fill('庭の水やり');
    await message.press('Enter');
    const task = await daemon.next('task_resume');
    expect(task).toMatchObject({ message: '庭の水やり' });
    finish(task.task_id as string, 'TASK_COMPLETE', { result: '終わりました。' });
    await said('Agent', '終わりました。').waitFor();
  });

  it('shows a question of the agent, and answers it with a choice', async () => {
    const taskId = await start('Plan a trip', 'native-2');
    finish(taskId, 'WAIT_FOR_USER', {
      prompt: 'Which time zone?',
      result: 'I need a time zone.',
      options: [{ label: 'Europe/Paris' }, { label: 'Asia/Tokyo' }],
    });
    await status('waiting');
    await said('Agent', 'I need a time zone.').waitFor();
    await person.text('Which time zone?');
    await person.picture('conversation-question');
    await person.click('Europe/Paris');
    const answer = await daemon.next('task_resume');
    expect(answer).toMatchObject({ session_id: 'native-2', message: 'Europe/Paris' });
    await said('You', 'Europe/Paris').waitFor();
    finish(answer.task_id as string, 'TASK_COMPLETE', { result: 'Booked.' });
    await said('Agent', 'Booked.').waitFor();
    await person.page.getByText('Which time zone?').first().waitFor({ state: 'detached' });
  });

  /** Delivers one request to the relay, but hides the response from the page. */
  async function loseOneAnswer(): Promise<void> {
    await person.page.route(
      /\/api\/sessions\/[^/]+\/(messages|prompts\/[^/]+\/answer)$/,
      async (route) => {
        await route.fetch();
        await route.abort();
      },
      { times: 1 },
    );
  }

  it('answers the next question even if the response to the same earlier answer was lost', async () => {
    const ask = (taskId: string, prompt: string) =>
      finish(taskId, 'WAIT_FOR_USER', { prompt, result: '', options: [{ label: 'Allow' }] });
    ask(await start('Tidy the shed', 'native-allow'), 'May I open the door?');
    await person.text('May I open the door?');
    await loseOneAnswer();
    await person.click('Allow');
    const first = await daemon.next('task_resume');
    ask(first.task_id as string, 'May I move the ladder?');
    await person.text('May I move the ladder?');
    await person.click('Allow');
    const second = await daemon.next('task_resume');
    expect(second).toMatchObject({ session_id: 'native-allow', message: 'Allow' });
    finish(second.task_id as string, 'TASK_COMPLETE', { result: 'The shed is tidy.' });
    await said('Agent', 'The shed is tidy.').waitFor();
    person.complaints.splice(0);
  });

  it('clears a message that arrived even if its response was lost', async () => {
    await loseOneAnswer();
    await person.page.getByLabel('Message').fill('And sweep it');
    await person.click('Send');
    const task = await daemon.next('task_resume');
    await said('You', 'And sweep it').waitFor();
    finish(task.task_id as string, 'TASK_COMPLETE', { result: 'Swept.' });
    await said('Agent', 'Swept.').waitFor();
    await person.page.locator('textarea:invalid').waitFor();
    person.complaints.splice(0);
  });

  it('cancels a running task', async () => {
    const taskId = await start('Count to a million', 'native-3');
    await status('active');
    await person.click('Stop');
    await daemon.next('task_cancel', (frame) => frame.task_id === taskId);
    daemon.send({ type: 'status', running_tasks: [] });
    await person.text('You stopped the agent here.');
  });

  it('shows that the agent failed, and why', async () => {
    const taskId = await start('Do the impossible', 'native-4');
    finish(taskId, 'ERROR', { error: 'No such thing.' });
    await said('Agent', 'No such thing.').waitFor();
    await status('failed');
  });

  it('renames and archives', async () => {
    await person.click('More');
    await person.click('Rename');
    await person.page.getByLabel('Title').fill('Impossible things');
    await person.click('Save');
    await person.heading('Impossible things');
    await person.click('More');
    await person.click('Archive');
    await person.page.locator('.bar .where').getByText('Archived').waitFor();
    await person.page.getByRole('link', { name: 'All sessions' }).click();
    await person.heading('Sessions');
    await person.text('Plan a trip');
    // The list gets the change from the relay.
    await person.page.getByText('Impossible things').first().waitFor({ state: 'detached' });
    await person.click('Filter and group');
    await person.page.getByLabel('Archived', { exact: true }).check();
    await person.text('Impossible things');
  });

  it('is not overwritten by a response that is older than the received frames', async () => {
    serveHistory('native/late');
    const taskId = await start('Prune the roses', 'native/late');
    await status('active');
    let heard = () => {};
    const wasHeard = new Promise<void>((resolve) => (heard = resolve));
    let read = () => {};
    const nextRead = () => new Promise<void>((resolve) => (read = resolve));
    const late = /\/api\/sessions\/[^/?]+(\?|$)/;
    await person.page.route(late, async (route) => {
      const response = await route.fetch();
      read();
      await wasHeard;
      await route.fulfill({ response });
    });
    // The page loads at once, and again after its socket has opened.
    const listen = await holdSocket(person.page);
    const opened = person.page.waitForEvent('websocket');
    const first = nextRead();
    await person.page.reload();
    await first;
    const second = nextRead();
    listen();
    const socket = await opened;
    const frame = (pattern: RegExp) =>
      socket.waitForEvent('framereceived', { predicate: ({ payload }) => pattern.test(String(payload)) });
    await second;
    const idle = frame(/"session_update".*"status":"idle"/);
    finish(taskId, 'TASK_COMPLETE', { result: 'All pruned.' });
    await idle;
    heard();
    await said('Agent', 'All pruned.').waitFor();
    await status('idle');
    await person.page.unroute(late);
  });

  it('loads the history from the machine', async () => {
    const message = (uuid: string, role: string, content: string) => ({
      uuid,
      role,
      content,
      timestamp: '2026-11-20T10:00:00.000Z',
    });
    const newest = [message('m2', 'USER', 'From the history'), message('m3', 'AGENT', 'An old answer')];
    const older = [message('m1', 'USER', 'The very first')];
    const stop = serveHistory('native/1', ({ before_uuid: before, after_uuid: after }) => {
      if (after !== undefined) return {};
      if (before === 'm2') return { messages: older, oldest_uuid: 'm1', newest_uuid: 'm1' };
      return { messages: newest, has_more: true, oldest_uuid: 'm2', newest_uuid: 'm3' };
    });
    await person.goto('/sessions');
    await person.page.getByRole('link', { name: /Water the garden/ }).click();
    await said('Agent', 'An old answer').waitFor();
    // Happens without a click, because the beginning is visible.
    await said('You', 'The very first').waitFor();
    stop();
  });

  it('continues live after a lost connection, with all messages in between', async () => {
    daemon.event('', 'AGENT_RESPONSE', { session_id: 'native/1', content: 'Said before' });
    await said('Agent', 'Said before').waitFor();
    await person.context.setOffline(true);
    await person.text('Reconnecting in');
    daemon.event('', 'AGENT_RESPONSE', {
      session_id: 'native/1',
      response: 'Said meanwhile',
      content: 'Said meanwhile',
    });
    await person.context.setOffline(false);
    await said('Agent', 'Said meanwhile').waitFor();
  });

  it('shows that the machine is offline, and queues the message', async () => {
    await daemon.drop();
    await person.text('My laptop is offline');
    await person.page.getByLabel('Message').fill('For later');
    await person.click('Send');
    await person.text('Waiting for My laptop');
    await person.picture('conversation-offline');
    daemon = await connectDaemon(relay.relay, { registration });
    const task = await daemon.next('task_resume');
    expect(task).toMatchObject({ message: 'For later' });
    finish(task.task_id as string, 'TASK_COMPLETE', { result: 'Here I am.' });
    await said('Agent', 'Here I am.').waitFor();
  });

  it('shows output of the agent from before the page of a new session had opened', async () => {
    serveHistory('native/early');
    await person.goto('/sessions/new');
    await person.page.getByLabel(/^What should/).fill('Begin at once');
    const socket = new Promise<void>((resolve) => {
      person.page.on('websocket', (ws) => ws.on('framereceived', ({ payload }) => String(payload).includes('early') && resolve())); // prettier-ignore
    });
    await person.page.reload();
    await person.page.getByLabel(/^What should/).fill('Begin at once');
    let taskId = '';
    await person.page.route(
      /\/api\/sessions$/,
      async (route) => {
        const response = await route.fetch();
        taskId = (await daemon.next('task_start')).task_id as string;
        daemon.send({ type: 'status', running_tasks: [taskId] });
        daemon.event(taskId, 'SESSION_STARTED', { session_id: 'native/early' });
        daemon.event(taskId, 'OUTPUT', { output: 'early words' });
        await socket;
        await route.fulfill({ response });
      },
      { times: 1 },
    );
    await person.click('Start session');
    await person.text('early words');
    finish(taskId, 'TASK_COMPLETE', { result: 'Done early.' });
    await person.text('Done early.');
  });

  it('leads to all sessions from a deleted or unavailable one', async () => {
    const all = person.page.getByRole('link', { name: 'All sessions', exact: true });
    // The page does not retry after a refusal.
    await person.page.route(/\/api\/sessions\/none\b/, (route) =>
      route.fulfill({ status: 403, json: { code: 'FORBIDDEN', error: 'Not now.', status: 403 } }),
    );
    await person.goto('/sessions/none');
    await person.page.getByRole('button', { name: 'Try again' }).waitFor();
    await all.waitFor();
    await person.page.unrouteAll();
    await person.click('Try again');
    await person.text('Session not found. It might have been deleted.');
    expect(await person.page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    await all.click();
    await person.page.waitForURL('**/sessions');
    await person.page.getByRole('main', { name: 'Sessions', exact: true }).waitFor();
  });

  it('keeps typed text if a part of the page cannot be loaded', async () => {
    serveHistory('native/fence');
    const commands = /\/assets\/commands-/;
    const taskId = await start('Paint the fence', 'native/fence');
    finish(taskId, 'TASK_COMPLETE', { result: 'It is white.' });
    await said('Agent', 'It is white.').waitFor();
    await person.page.reload();
    await person.page.route(commands, (route) => route.abort('internetdisconnected'));
    const message = person.page.getByLabel('Message');
    const failed = person.page.waitForEvent('requestfailed', (request) => commands.test(request.url()));
    await message.pressSequentially('/');
    await failed;
    await message.pressSequentially('review the fence');
    expect(await message.inputValue()).toBe('/review the fence');
    await message.press('Enter');
    const task = await daemon.next('task_resume');
    expect(task).toMatchObject({ message: '/review the fence' });
    finish(task.task_id as string, 'TASK_COMPLETE', { result: 'It needs a second coat.' });
    await said('Agent', 'It needs a second coat.').waitFor();
  });

  it('is one tap away from a page that cannot be loaded, which shows the failure', async () => {
    const settings = /\/assets\/settings-/;
    await person.goto('/devices');
    await person.page.route(settings, (route) => route.abort('internetdisconnected'));
    const tab = (name: RegExp) => person.page.locator('.tabs').getByRole('link', { name });
    const alert = person.page.getByRole('alert');
    await tab(/^Settings/).click();
    await alert.getByText('Can’t reach Relay.').waitFor();
    await tab(/^Machines/).click();
    await person.heading('Machines');
    await tab(/^Settings/).click();
    // The second failure is waited for: without its route, a slow request would succeed and leave nothing to try again.
    await alert.getByText('Can’t reach Relay.').waitFor();
    await person.page.unroute(settings);
    await alert.getByRole('button', { name: 'Try again' }).click();
    await person.heading('Settings');
  });
});
