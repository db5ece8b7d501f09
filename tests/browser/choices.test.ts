/**
 * Choices of a person in a real browser: folder and agent of a new session, the order of queued messages, swipes on a
 * session.
 */
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import { type Frame, type Registration, type TestDaemon, connectDaemon } from '@relay/testing';
import type { Browser, CDPSession } from 'playwright-core';
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

const tree: Readonly<Record<string, readonly string[]>> = {
  '/home/ada': ['code', 'Documents', '.config'],
  '/home/ada/code': ['garden-api', 'storefront'],
  '/home/ada/code/garden-api': [],
};

describeWith('chromium', 'choices of a person', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  let person: Person;
  let registration: Registration;
  let daemon: TestDaemon;
  const asked: string[] = [];

  const answer = (frame: Frame) => {
    const { type, request_id: requestId, path } = frame as { type: string; request_id: string; path: string };
    if (type === 'get_messages')
      daemon.send({ type: 'messages', request_id: requestId, messages: [], has_more: false });
    if (type !== 'get_folders') return;
    asked.push(path);
    const at = path === '' ? '/home/ada' : path;
    const names = tree[at];
    daemon.send(
      names
        ? {
            type: 'folders',
            request_id: requestId,
            path: at,
            ...(at === '/home/ada' ? {} : { parent: at.slice(0, at.lastIndexOf('/')) }),
            folders: names.map((name) => ({ name, path: `${at}/${name}` })),
          }
        : { type: 'folders', request_id: requestId, code: 'FOLDER_NOT_FOUND', error: 'none' },
    );
  };

  beforeAll(async () => {
    relay = await startBrowserRelay();
    browser = await launchBrowser();
    person = await newPerson(browser, relay.url, { viewport: { width: 1360, height: 860 } });
    await person.createAccount(relay.setupLink, 'ada@example.com');
    registration = await registeredDevice(person, 'MacBook Pro');
    daemon = await connectDaemon(relay.relay, {
      registration,
      capabilities: ['browse'],
      headers: { 'X-Agents': 'scripted;name=Painter;version=1.2.0, codex;name=Codex;version=2.6.0' },
    });
    daemon.socket.on('message', (data: Buffer) => answer(JSON.parse(data.toString('utf8')) as Frame));
  });
  afterAll(async () => {
    await browser?.close();
    await daemon?.drop();
    await relay?.end();
  });
  afterEach(() => expect(person.complaints.splice(0)).toEqual([]));

  const folder = () => person.page.getByRole('combobox', { name: /^Folder/ });
  const options = () => person.page.getByRole('option');
  const start = async (message: string): Promise<Frame> => {
    await person.page.getByLabel(/^What should/).fill(message);
    await person.click('Start session');
    return daemon.next('task_start');
  };
  const finish = async (frame: Frame, nativeId: string) => {
    daemon.event(frame.task_id as string, 'TASK_COMPLETE', { session_id: nativeId, result: 'Done.' });
    daemon.send({ type: 'status', running_tasks: [] });
    await person.page.locator('main[data-status="idle"]').waitFor();
  };

  it('finds a folder by keyboard, into it and up again, and starts a session there', async () => {
    await person.goto('/sessions/new');
    await folder().click();
    await options().filter({ hasText: 'Documents' }).waitFor();
    expect(await options().allInnerTexts()).toEqual(['code', 'Documents', '.config']);
    await folder().press('ArrowDown');
    await folder().press('Enter');
    await options().filter({ hasText: 'storefront' }).waitFor();
    expect(await folder().inputValue()).toBe('/home/ada/code');
    await everyLook(person, 'new-session-folders');
    await folder().press('ArrowDown');
    expect(await person.page.getByRole('option', { selected: true }).innerText()).toBe('Up one folder');
    await folder().press('Enter');
    await options().filter({ hasText: 'Documents' }).waitFor();
    expect(await folder().inputValue()).toBe('/home/ada');
    await folder().fill('/home/ada/code/gar');
    await options().filter({ hasText: 'garden-api' }).waitFor();
    expect(await options().allInnerTexts()).toEqual(['Up one folder', 'garden-api']);
    await options().filter({ hasText: 'garden-api' }).click();
    await folder().press('Escape');
    expect(await options().count()).toBe(0);
    const task = await start('Water the garden');
    expect(task.project_path).toBe('/home/ada/code/garden-api');
    await finish(task, 'watered');
    expect(asked).toEqual(['', '/home/ada/code', '/home/ada', '/home/ada/code', '/home/ada/code/garden-api']);
  });

  it('shows the list of folders above the tabs of a phone, where a tap beside it works', async () => {
    const touching = await newPerson(browser, relay.url, {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
      storageState: await person.context.storageState(),
    });
    const { page } = touching;
    await touching.goto('/sessions/new');
    await page.getByLabel(/^What should/).fill('Water the roof');
    // The page remembers the folder of the previous session.
    await page.getByRole('combobox').fill('');
    await page.getByRole('option', { name: 'code', exact: true }).tap();
    await page.getByRole('option', { name: 'storefront' }).waitFor();
    const box = async (selector: string) => (await page.locator(selector).boundingBox())!;
    // The page scrolls the list into view after it has drawn it.
    const end = async () => {
      const list = await box('.pops');
      return list.y + list.height - Math.min((await box('.tabs')).y, (await box('.folder-field > .hint')).y);
    };
    expect(await eventually(end, (px) => px < 0)).toBeLessThan(0);
    await page.getByRole('combobox').press('Tab');
    expect(await page.locator('.pops').count()).toBe(0);
    await page.getByRole('combobox').tap();
    await page.getByRole('option', { name: 'storefront' }).waitFor();
    await page.getByRole('button', { name: 'Start session' }).tap();
    const task = await daemon.next('task_start');
    expect(task.project_path).toBe('/home/ada/code');
    daemon.event(task.task_id as string, 'TASK_COMPLETE', { session_id: 'roof', result: 'Done.' });
    daemon.send({ type: 'status', running_tasks: [] });
    expect(touching.complaints).toEqual([]);
    await touching.context.close();
    asked.splice(0);
  });

  it('starts with another agent of the machine, and offers it first the next time', async () => {
    await person.goto('/sessions/new');
    await person.page.getByRole('radio', { name: 'Codex', exact: true }).check();
    await person.page.getByLabel('What should Codex do?').waitFor();
    const task = await start('Paint the fence');
    expect(task.agent_type).toBe('codex');
    await finish(task, 'painted');
    expect(person.page.url()).toContain(encodeURIComponent(':codex:'));
    await person.goto('/sessions/new');
    await person.page.getByLabel('What should Codex do?').waitFor();
    await person.page.getByRole('radio', { name: 'Painter', exact: true }).check();
    const other = await start('Paint the shed');
    expect(other).not.toHaveProperty('agent_type');
    await finish(other, 'shed');
  });

  it('shows the agents of a machine, and tests its connection', async () => {
    await person.goto(`/devices/${registration.deviceId}`);
    await person.heading('MacBook Pro');
    await person.text('Painter 1.2.0');
    await person.text('Codex 2.6.0');
    await person.click('Test connection');
    await person.text(/^Its daemon answered in \d+ ms\.$/);
    await everyLook(person, 'machine-tested');
  });

  it('moves a queued message by its handle and by its menu', async () => {
    await person.page.setViewportSize({ width: 1360, height: 860 });
    await person.goto('/sessions/new');
    const task = await start('Dig the pond');
    daemon.send({ type: 'status', running_tasks: [task.task_id] });
    daemon.event(task.task_id as string, 'SESSION_STARTED', { session_id: 'pond' });
    const { page } = person;
    const chips = page.getByRole('list', { name: 'Queued messages' }).getByRole('listitem');
    for (const words of ['Plant lilies', 'Buy frogs', 'Invite ducks']) {
      await page.getByLabel('Message', { exact: true }).fill(words);
      await page.getByLabel('Message', { exact: true }).press('Enter');
      await chips.filter({ hasText: words }).waitFor();
      // The response can come later than the chip, and Enter does nothing until then.
      await page.locator('.dock textarea:invalid').waitFor();
    }
    const order = async () => (await chips.allInnerTexts()).map((text) => text.trim());
    const moved = (place: number) => page.getByText(`Moved to place ${place} of 3`).waitFor({ state: 'attached' });
    await person.click('Move “Invite ducks”');
    await everyLook(person, 'queue-menu');
    await page.setViewportSize({ width: 1360, height: 860 });
    await page.getByRole('button', { name: 'Move up' }).filter({ visible: true }).click();
    await moved(2);
    expect(await order()).toEqual(['Plant lilies', 'Invite ducks', 'Buy frogs']);
    const handle = (await page.getByRole('button', { name: 'Move “Plant lilies”', exact: true }).boundingBox())!;
    const last = (await chips.last().boundingBox())!;
    await page.mouse.move(handle.x + handle.width / 2, handle.y + handle.height / 2);
    await page.mouse.down();
    await page.mouse.move(handle.x + handle.width / 2, last.y + last.height - 2, { steps: 5 });
    await page.mouse.up();
    await moved(3);
    expect(await order()).toEqual(['Invite ducks', 'Buy frogs', 'Plant lilies']);
    expect(await page.getByRole('button', { name: 'Send first' }).filter({ visible: true }).count()).toBe(0);
    await person.click('Stop');
    await person.click('Stop and clear');
    await daemon.next('task_cancel', (frame) => frame.task_id === task.task_id);
    daemon.send({ type: 'status', running_tasks: [] });
    await chips.first().waitFor({ state: 'detached' });
  });

  it('swipes a session to the right as unread and to the left into the archive, with Undo; the edge does not swipe', async () => {
    const touching = await newPerson(browser, relay.url, {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
      storageState: await person.context.storageState(),
    });
    await touching.goto('/sessions');
    const row = touching.page.locator('.row-place', { hasText: 'Paint the fence' });
    await row.waitFor();
    const cdp = await touching.context.newCDPSession(touching.page);
    const swipe = async (from: number, to: number) => swiped(cdp, (await row.boundingBox())!, from, to);
    await swipe(150, 300);
    await row.locator('.row.un').waitFor();
    await swipe(5, 250);
    await swipe(150, 190);
    expect(await row.locator('.row.un').count()).toBe(1);
    await swipe(150, 300);
    await row.locator('.row:not(.un)').waitFor();
    await swipe(300, 120);
    await row.waitFor({ state: 'detached' });
    await touching.picture('list-swiped-390');
    await touching.click('Undo');
    await row.waitFor();
    expect(new URL(touching.page.url()).pathname).toBe('/sessions');
    expect(touching.complaints).toEqual([]);
    await touching.context.close();
  });
});

/** Swipes horizontally over the middle of a box. */
async function swiped(cdp: CDPSession, box: { y: number; height: number }, from: number, to: number): Promise<void> {
  const y = box.y + box.height / 2;
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', x?: number) =>
    cdp.send('Input.dispatchTouchEvent', { type, touchPoints: x === undefined ? [] : [{ x, y }] });
  await touch('touchStart', from);
  for (let step = 1; step <= 6; step++) await touch('touchMove', from + ((to - from) * step) / 6);
  await touch('touchEnd');
}
