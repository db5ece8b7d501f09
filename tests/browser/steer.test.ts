/** Messages during a turn of the agent: "Send now", the bubbles, the queued messages, a phone, a second browser. */
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

describeWith('chromium', 'a message while the agent works', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  let person: Person;
  let registration: Registration;
  let daemon: TranscriptDaemon;
  let number = 0;

  beforeAll(async () => {
    relay = await startBrowserRelay();
    browser = await launchBrowser();
    person = await newPerson(browser, relay.url, { viewport: { width: 1360, height: 860 } });
    await person.createAccount(relay.setupLink, 'ada@example.com');
    registration = await registeredDevice(person, 'MacBook Pro');
    daemon = await connectTranscriptDaemon(relay.relay, registration, { capabilities: ['steer'] });
  });
  afterAll(async () => {
    await browser?.close();
    await daemon?.drop();
    await relay?.end();
  });
  afterEach(() => expect(person.complaints.splice(0)).toEqual([]));

  const pathOf = (nativeId: string) =>
    `/sessions/${encodeURIComponent(`${registration.deviceId}:scripted:${nativeId}`)}`;

  /** A session whose agent works. */
  async function working() {
    const nativeId = `steered-${++number}`;
    await person.goto('/sessions/new');
    await person.page.getByLabel(/^What should/).fill('Find the flaky test');
    await person.click('Start session');
    const task = await daemon.next('task_start');
    const into = task.task_id as string;
    daemon.send({ type: 'status', running_tasks: [into] });
    daemon.event(into, 'SESSION_STARTED', { session_id: nativeId });
    const turn = task.message_uuid as string;
    daemon.say(into, nativeId, [
      put(item(turn, 1, { kind: 'user' }, 'Find the flaky test')),
      put(item(`text-${number}`, 2, { kind: 'text' }, 'I’m running the test 50 times to be sure.')),
    ]);
    await person.page.waitForURL(`**${pathOf(nativeId)}`);
    await person.page.locator('.log').getByText('50 times').waitFor();
    return { nativeId, into, turn };
  }
  const field = (page: Page = person.page) => page.getByRole('textbox', { name: 'Message' });
  const log = (words: string | RegExp, page: Page = person.page) => page.locator('.log').getByText(words).waitFor();
  /** The response can come later than the frames. Until then Enter does nothing, and the field keeps its text. */
  const isSent = () => person.page.locator('.dock textarea:invalid').waitFor();
  /** Stops the turn and clears its queue. The task that the queue would start next belongs to no other test. */
  const stopAll = async (into: string) => {
    await person.page.getByRole('list', { name: 'Queued messages' }).waitFor();
    await person.page.getByRole('button', { name: 'Stop' }).click();
    await person.page.getByRole('button', { name: 'Stop and clear' }).click();
    await daemon.next('task_cancel', (frame) => frame.task_id === into);
  };
  const sendNow = async (text: string) => {
    await field().fill(text);
    await person.click('Send now');
    const frame = await daemon.next('task_steer');
    return { taskId: frame.task_id as string, uuid: frame.message_uuid as string };
  };
  const end = async (taskId: string) => {
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'Done.' });
    daemon.send({ type: 'status', running_tasks: [] });
    await person.page.locator('main[data-status="idle"]').waitFor();
  };
  const inject = (
    { taskId, uuid }: { taskId: string; uuid: string },
    { nativeId, into, turn }: Awaited<ReturnType<typeof working>>,
    content: string,
  ) => {
    daemon.say(into, nativeId, [put({ ...item(uuid, 3, { kind: 'user', steer: 'now' }, content), turn })]);
    daemon.event(taskId, 'STEERED', { session_id: nativeId, outcome: 'injected' });
  };

  it('is sent into the turn by its button, and shows its state during and after that, even after a reload', async () => {
    const scene = await working();
    await field().fill('Use 20 runs');
    await person.page.getByRole('button', { name: 'Queue' }).waitFor();
    await person.page.getByText('Send now reaches').waitFor();
    const sent = await sendNow('Use 20 runs');
    await log('Sending now…');
    await isSent();
    inject(sent, scene, 'Use 20 runs');
    await log('Sent while it worked');
    expect(await person.page.locator('.log').getByText('Use 20 runs').count()).toBe(1);
    await field().fill('Then write a note in CHANGELOG.md');
    await person.click('Queue');
    await person.page.getByRole('list', { name: 'Queued messages' }).waitFor();
    await field().fill('Leave the retry helper as it is');
    await everyLook(person, 'steer');
    expect(await axeFindings(person)).toEqual([]);
    await field().fill('');
    await person.page.reload();
    await log('Sent while it worked');
    await stopAll(scene.into);
  });

  it('is sent by its shortcut, and queued by Enter alone', async () => {
    const scene = await working();
    await field().fill('by keys');
    await person.page.getByRole('button', { name: 'Send now' }).waitFor();
    await field().press('Control+Shift+Enter');
    const frame = await daemon.next('task_steer');
    expect(frame).toMatchObject({ message: 'by keys', into: scene.into });
    inject({ taskId: frame.task_id as string, uuid: frame.message_uuid as string }, scene, 'by keys');
    await log('Sent while it worked');
    await isSent();
    await field().fill('queued');
    await field().press('Enter');
    await person.page.getByRole('list', { name: 'Queued messages' }).getByText('queued').waitFor();
    await stopAll(scene.into);
  });

  it('can come from the queue: its chip becomes a bubble, here and in a second browser', async () => {
    const scene = await working();
    await field().fill('now after all');
    await person.click('Queue');
    const other = await newPerson(browser, relay.url, { storageState: await person.context.storageState() });
    await other.goto(pathOf(scene.nativeId));
    const chips = (page: Page) => page.getByRole('list', { name: 'Queued messages' }).getByText('now after all');
    await chips(other.page).waitFor();
    await person.click('Send “now after all” now');
    const frame = await daemon.next('task_steer');
    for (const { page } of [person, other]) {
      await log('Sending now…', page);
      await chips(page).waitFor({ state: 'detached' });
    }
    inject({ taskId: frame.task_id as string, uuid: frame.message_uuid as string }, scene, 'now after all');
    for (const { page } of [person, other]) await log('Sent while it worked', page);
    expect(other.complaints).toEqual([]);
    await other.context.close();
    await end(scene.into);
  });

  it('follows the turn if that had finished', async () => {
    const { into, nativeId } = await working();
    const { taskId, uuid } = await sendNow('too late');
    daemon.event(into, 'TASK_COMPLETE', { session_id: nativeId, result: 'Done.' });
    daemon.event(taskId, 'STEERED', { session_id: nativeId, outcome: 'not_running' });
    const frame = await daemon.next('task_resume');
    expect(frame).toMatchObject({ task_id: taskId, steer: 'next' });
    daemon.say(taskId, nativeId, [put({ ...item(uuid, 4, { kind: 'user', steer: 'next' }, 'too late'), turn: uuid })]);
    await log('It had finished, so this came next.');
    await end(taskId);
  });

  it('that the agent did not read can be sent again', async () => {
    const scene = await working();
    const sent = await sendNow('unread');
    inject(sent, scene, 'unread');
    daemon.say(scene.into, scene.nativeId, [set(sent.uuid, { steer: 'dropped' })]);
    daemon.event(sent.taskId, 'STEERED', { session_id: scene.nativeId, outcome: 'dropped' });
    await log(/finished before it read this/);
    await end(scene.into);
    await person.click('Send it');
    const frame = await daemon.next('task_resume');
    expect(frame).toMatchObject({ message: 'unread' });
    await end(frame.task_id as string);
  });

  it('that the agent refused becomes a queued message, and shows why', async () => {
    const { into, nativeId } = await working();
    const { taskId } = await sendNow('not now');
    daemon.event(taskId, 'STEERED', { session_id: nativeId, outcome: 'refused' });
    const chips = person.page.getByRole('list', { name: 'Queued messages' });
    await chips.getByText(/can’t take it now. It’s queued./).waitFor();
    daemon.event(into, 'TASK_COMPLETE', { result: 'Done.' });
    const frame = await daemon.next('task_resume');
    expect(frame).toMatchObject({ task_id: taskId });
    await end(taskId);
  });

  it('with an unknown delivery shows that in its bubble', async () => {
    const { into, nativeId } = await working();
    const { taskId } = await sendNow('perhaps');
    await log('Sending now…');
    daemon.event(taskId, 'STEERED', { session_id: nativeId, outcome: 'unknown' });
    await person.page.locator('.log').getByText('Sending now…').waitFor({ state: 'detached' });
    await person.page.locator('.log .meta').filter({ hasText: /may/ }).waitFor();
    await end(into);
  });

  it('cannot be sent into the turn while the agent asks', async () => {
    const { into, nativeId } = await working();
    const question = {
      uuid: `q-${number}`,
      title: 'May I?',
      kind: 'permission',
      options: [{ id: 'yes', label: 'Yes' }],
      text: true,
    };
    daemon.event(into, 'WAIT_FOR_USER', {
      session_id: nativeId,
      prompt: 'May I?',
      question,
      message_uuid: question.uuid,
    });
    await person.page.getByRole('button', { name: 'Yes' }).waitFor();
    await field().fill('an answer');
    await person.page.getByRole('button', { name: 'Send', exact: true }).waitFor();
    expect(await person.page.getByRole('button', { name: 'Send now' }).count()).toBe(0);
    await field().fill('');
    await person.click('Yes');
    const frame = await daemon.next('task_resume');
    await end(frame.task_id as string);
  });

  it('has Stop, Send now and Queue in one line of a phone', async () => {
    const { nativeId, into } = await working();
    const phone = await newPerson(browser, relay.url, {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
      storageState: await person.context.storageState(),
    });
    await phone.goto(pathOf(nativeId));
    await field(phone.page).fill('Leave it');
    await phone.page.getByRole('button', { name: 'Send now' }).waitFor();
    const boxes = await Promise.all(
      ['Stop', 'Send now', 'Queue'].map((name) => phone.page.getByRole('button', { name, exact: true }).boundingBox()),
    );
    expect(new Set(boxes.map((box) => Math.round(box!.y)))).toHaveProperty('size', 1);
    expect(boxes.every((box) => box!.x >= 0 && box!.x + box!.width <= 390)).toBe(true);
    const cut = await phone.page
      .locator('.ends button')
      .evaluateAll((all) => all.some((one) => one.scrollWidth > one.clientWidth));
    expect(cut).toBe(false);
    await phone.picture('steer-phone');
    await phone.context.close();
    await end(into);
  });

  it('is queued at a daemon without the capability, and can be sent by stopping the turn', async () => {
    await daemon.drop();
    daemon = await connectTranscriptDaemon(relay.relay, registration);
    const { into } = await working();
    await field().fill('instead');
    await person.click('Send');
    expect(await person.page.getByRole('button', { name: 'Send now' }).count()).toBe(0);
    await person.click('Stop, then send this');
    await daemon.next('task_cancel', (frame) => frame.task_id === into);
    const frame = await daemon.next('task_resume');
    expect(frame).toMatchObject({ message: 'instead' });
    await end(frame.task_id as string);
  });
});
