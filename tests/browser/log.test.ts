/**
 * The log of a session in a real browser: it opens at the right place, follows, and never moves the text that a person
 * reads.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import { type Registration, type TestDaemon, connectDaemon } from '@relay/testing';
import type { Browser, Page } from 'playwright-core';
import {
  type BrowserRelay,
  type Person,
  eventually,
  launchBrowser,
  newPerson,
  registeredDevice,
  startBrowserRelay,
} from './browser.ts';
import { conversation, everyPart } from './transcript-scenes.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
type Message = Record<string, unknown> & { uuid: string };

describeWith('chromium', 'the log', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  let person: Person;
  let registration: Registration;
  let daemon: TestDaemon;
  let path: string;
  /** All messages of the session; the page loads the newest 50, and 50 older ones with each request. */
  let held: Message[] = [];
  let olderAsked = 0;

  beforeAll(async () => {
    relay = await startBrowserRelay();
    browser = await launchBrowser();
    person = await newPerson(browser, relay.url, { viewport: { width: 1360, height: 860 } });
    await person.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await person.createAccount(relay.setupLink, 'ada@example.com');
    registration = await registeredDevice(person, 'MacBook Pro');
    daemon = await connectDaemon(relay.relay, { registration });
    const taskId = await begin(person, 'Find out why', 'long');
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'Found.' });
    daemon.send({ type: 'status', running_tasks: [] });
    await person.page.locator('main[data-status="idle"]').waitFor();
    path = `/sessions/${encodeURIComponent(`${registration.deviceId}:scripted:long`)}`;
    await serve(person.page);
  });
  afterAll(async () => {
    await browser?.close();
    await daemon?.drop();
    await relay?.end();
  });
  afterEach(() => expect(person.complaints.splice(0)).toEqual([]));

  async function begin(who: Person, message: string, nativeId: string): Promise<string> {
    await who.goto('/sessions/new');
    await who.page.getByLabel(/^What should/).fill(message);
    await who.page.getByLabel('Folder on the machine').fill('/home/ada/code/garden-api');
    await who.click('Start session');
    const task = await daemon.next('task_start');
    const taskId = task.task_id as string;
    daemon.send({ type: 'status', running_tasks: [taskId] });
    daemon.event(taskId, 'SESSION_STARTED', { session_id: nativeId });
    await who.page.waitForURL(`**/sessions/${encodeURIComponent(`${registration.deviceId}:scripted:${nativeId}`)}`);
    return taskId;
  }

  /** Replaces the messages in the responses of the relay with those of the test. */
  async function serve(page: Page): Promise<void> {
    await page.route(/\/api\/sessions\/[^/?]+\?limit=/, async (route) => {
      if (held.length === 0) return route.continue();
      const response = await route.fetch();
      const body = (await response.json()) as object;
      const { messagesError: _, ...rest } = body as { messagesError?: unknown };
      await route.fulfill({ response, json: { ...rest, messages: held.slice(-50), hasMore: held.length > 50 } });
    });
    await page.route(/\/api\/sessions\/[^/?]+\/messages\?/, async (route) => {
      olderAsked += 1;
      const before = new URL(route.request().url()).searchParams.get('before');
      const end = held.findIndex(({ uuid }) => uuid === before);
      const messages = held.slice(Math.max(0, end - 50), end);
      await route.fulfill({ json: { messages, hasMore: end > 50, oldestUuid: null, newestUuid: null } });
    });
    daemon.socket.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString('utf8')) as { type: string; request_id: string };
      if (frame.type !== 'get_messages') return;
      daemon.send({ type: 'messages', request_id: frame.request_id, messages: [], has_more: false });
    });
  }

  const evaluate = <T>(script: string): Promise<T> => person.page.evaluate<T>(script);
  const distance = 'Math.round(log.scrollHeight - log.clientHeight - log.scrollTop)';
  const log = `const log = document.querySelector('.log');`;
  const fromEnd = () => evaluate<number>(`{ ${log} ${distance} }`);
  /**
   * Records the distance from the end in each painted frame, after the observers of the page, starting with the first
   * frame that shows a row.
   */
  const sampling = `window.frames_ = []; (function look() {
    ${log}
    if (log && log.querySelector('.entry')) {
      const last = new ResizeObserver(() => { last.disconnect(); window.frames_.push(${distance}); });
      last.observe(log);
    }
    requestAnimationFrame(look);
  })();`;
  const sampled = () => evaluate<number[]>('window.frames_.splice(0)');
  const frames = (count: number) =>
    evaluate(
      `new Promise((done) => { let left = ${count}; (function next() { left-- > 0 ? requestAnimationFrame(next) : done() })() })`,
    );
  /** The first completely visible row, and its position. */
  const firstRow = () =>
    evaluate<{ key: string; top: number }>(`{ ${log}
      const top = log.getBoundingClientRect().top;
      const row = [...document.querySelectorAll('.entry')].map((entry) => ({ key: entry.dataset.key, top: entry.getBoundingClientRect().top }))
        .filter((row) => row.top >= top).sort((a, b) => a.top - b.top)[0]; row }`);
  const topOf = (key: string) =>
    evaluate<number | undefined>(
      `[...document.querySelectorAll('.entry')].find((entry) => entry.dataset.key === ${JSON.stringify(key)})?.getBoundingClientRect().top`,
    );
  const output = (taskId: string, text: string) => daemon.event(taskId, 'OUTPUT', { output: text });
  const text = (words: string) => person.page.locator('.log').getByText(words).first().waitFor();
  const opened = () => person.page.locator('.log .entry').first().waitFor();

  it('opens a session of 500 items at its newest, by its address, after a reload and by a click', async () => {
    held = conversation(500);
    await person.page.addInitScript(sampling);
    for (const open of [
      () => person.goto(path),
      () => person.page.reload(),
      async () => {
        await person.goto('/sessions');
        await sampled();
        await person.page.locator('a.row').first().click();
      },
    ]) {
      await open();
      await opened();
      await text(`Step 499`);
      await frames(40);
      const seen = await sampled();
      expect(seen.length).toBeGreaterThan(10);
      expect(Math.max(...seen)).toBeLessThanOrEqual(2);
      expect(await evaluate<number>(`document.querySelectorAll('.entry').length`)).toBeLessThanOrEqual(120);
    }
  });

  it('follows at the end while text arrives, and shows all of it in order', async () => {
    await person.page.getByLabel('Message').fill('Go on');
    await person.page.getByLabel('Message').press('Enter');
    const taskId = (await daemon.next('task_resume')).task_id as string;
    daemon.send({ type: 'status', running_tasks: [taskId] });
    await person.page.locator('main[data-status="active"]').waitFor();
    await frames(10);
    await sampled();
    for (let piece = 0; piece < 60; piece++) output(taskId, `Piece ${piece} of the answer comes in here and now.\n\n`);
    await text('Piece 59 of');
    await frames(30);
    expect(Math.max(...(await sampled()))).toBeLessThanOrEqual(30);
    expect(await fromEnd()).toBeLessThanOrEqual(2);
    const shown = await evaluate<string>(`document.querySelector('.md.open').innerText`);
    expect([...shown.matchAll(/Piece (\d+) of/g)].map(([, piece]) => Number(piece))).toEqual(
      Array.from({ length: 60 }, (_, index) => index),
    );

    // After scrolling up, nothing moves, and a button shows the number of new items.
    await evaluate(`{ ${log} log.scrollTop -= 1500; }`);
    await frames(20);
    const before = await firstRow();
    for (let piece = 60; piece < 100; piece++) output(taskId, `Piece ${piece} of the answer.\n\n`);
    for (const number of [1, 2, 3])
      daemon.event('', 'AGENT_RESPONSE', { session_id: 'long', content: `News ${number}`, response: `News ${number}` });
    await person.page.getByRole('button', { name: '3 new' }).waitFor();
    await frames(10);
    expect(Math.abs(((await topOf(before.key)) ?? -9999) - before.top)).toBeLessThanOrEqual(2);
    await person.click('3 new');
    await text('News 3');
    await frames(20);
    expect(await fromEnd()).toBeLessThanOrEqual(2);
    expect(await person.page.getByRole('button', { name: '3 new' }).count()).toBe(0);
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'All of it is done.' });
    daemon.send({ type: 'status', running_tasks: [] });
    await text('All of it is done.');
  });

  /** The position of a row once it no longer moves; a busy machine draws late. */
  const atRest = async (key: string) => {
    let before = await topOf(key);
    let still = 0;
    const move = async () => {
      await frames(2);
      const now = await topOf(key);
      still = now === before ? still + 1 : 0;
      before = now;
      return now;
    };
    return eventually(move, () => still === 3, 0);
  };

  it('loads older items ahead, without a click and without moving the visible text', async () => {
    held = conversation(500);
    await person.page.reload();
    await opened();
    await frames(20);
    olderAsked = 0;
    const jumps: number[] = [];
    for (let step = 0; step < 60; step++) {
      const row = await firstRow();
      await evaluate(`{ ${log} log.scrollTop -= 300; }`);
      const top = await atRest(row.key);
      if (top !== undefined) jumps.push(Math.abs(top - row.top - 300));
    }
    expect(olderAsked).toBeGreaterThanOrEqual(2);
    expect(Math.max(...jumps)).toBeLessThanOrEqual(4);
    // After the last load.
    const row = await firstRow();
    await frames(30);
    expect(Math.abs(((await topOf(row.key)) ?? -9999) - row.top)).toBeLessThanOrEqual(2);
  });

  it('returns to its last place', async () => {
    await person.page.reload();
    await opened();
    await frames(20);
    await evaluate(`{ ${log} log.scrollTop -= 400; }`);
    await frames(20);
    const place = await firstRow();
    await person.page.getByRole('link', { name: 'Machines' }).first().click();
    await person.heading('Machines');
    await person.page.goBack();
    await opened();
    await frames(20);
    const away = async () => Math.abs(((await topOf(place.key)) ?? -9999) - place.top);
    expect(await eventually(away, (px) => px <= 2)).toBeLessThanOrEqual(2);
  });

  it('shows every part, without a fault that axe finds, at every size, light and dark', async () => {
    held = everyPart();
    for (const colorScheme of ['light', 'dark'] as const)
      for (const [width, height] of [
        [390, 844],
        [820, 1100],
        [1360, 860],
      ] as const) {
        await person.page.setViewportSize({ width, height });
        await person.page.emulateMedia({ colorScheme });
        await person.page.reload();
        await text('Uploads are checked');
        await frames(20);
        await person.page.locator('.k1').first().waitFor({ state: 'attached' });
        await person.picture(`log-${width}-${colorScheme}`);
        await evaluate(`{ ${log} log.scrollTop = 0; }`);
        await frames(10);
        await person.picture(`log-${width}-${colorScheme}-top`);
        await person.page.evaluate(axe);
        const { violations } = await evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>(
          'axe.run(document)',
        );
        expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
        expect(await evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      }
    await person.page.setViewportSize({ width: 1360, height: 860 });
    await person.page.emulateMedia({ colorScheme: 'light' });
  }, 180_000);

  it('copies exactly the text of a fence, and output without its colours', async () => {
    const copied = () => evaluate<string>('navigator.clipboard.readText()');
    await person.page.locator('figure.fence').first().getByRole('button', { name: 'Copy' }).click();
    await text('Copied');
    expect(await copied()).toBe('// queue.ts:88\njob.ack();\nawait store.put(job.id, result);');
    await person.page.locator('.term').first().getByRole('button', { name: 'Copy' }).click();
    const plain = await eventually(copied, (now) => now.includes('error TS2345'));
    expect(plain).toContain("error TS2345: Argument of type 'Buffer' is not assignable.");
    expect(plain).not.toContain('\u001b');
  });
});
