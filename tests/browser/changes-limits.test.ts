/**
 * The page of changes at its limits: a machine that is slow, answers nonsense or is offline, a page without a network,
 * and a difference of 3,000 lines.
 */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import type { Browser, CDPSession } from 'playwright-core';
import {
  type BrowserRelay,
  type Person,
  launchBrowser,
  newPerson,
  registeredDevice,
  startBrowserRelay,
  untilKept,
} from './browser.ts';
import { type TranscriptDaemon, connectTranscriptDaemon, item, put } from './transcript-daemon.ts';

const path = 'src/limits.ts';
const change = { path, change: 'edit', added: 3000, removed: 0 };
const list = { scope: 'uncommitted', scopes: ['uncommitted', 'edits'], branch: 'main', files: [change], count: 1 };
const lineCount = 3000;
/** The list shows this time unchanged, because a minute that passes would cause a layout. */
const dayAgo = new Date(Date.now() - 86_400_000).toISOString();
const long = (first: number) => [
  {
    ...{ old: 1, new: 1 },
    lines: Array.from(
      { length: lineCount },
      (_, n) => `+export const limit${first + n} = rates[${first + n}] ?? 'none';`,
    ),
  },
];

describeWith('chromium', 'the page of changes', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  let person: Person;
  let daemon: TranscriptDaemon;
  let hunks = long(0);
  /** How the machine answers a comparison. */
  let answers: (reply: object) => readonly Record<string, unknown>[] = (reply) => [
    { type: 'changes', ...reply, ...list },
  ];

  beforeAll(async () => {
    // A comparison then takes 5 s at most; the page explains a wait after 3 s.
    relay = await startBrowserRelay({ TEST_DAEMON_REPLY_TIMEOUT_MS: '2500' });
    browser = await launchBrowser();
    person = await newPerson(browser, relay.url, { viewport: { width: 1360, height: 860 } });
    await person.createAccount(relay.setupLink, 'ada@example.com');
    daemon = await connectTranscriptDaemon(relay.relay, await registeredDevice(person, 'MacBook Pro'), {
      capabilities: ['changes', 'browse'],
    });
    daemon.socket.on('message', (data: Buffer) => {
      const { type, request_id } = JSON.parse(data.toString('utf8')) as { type: string; request_id: string };
      if (type === 'get_changes') for (const frame of answers({ request_id })) daemon.send(frame as { type: string });
      if (type === 'get_diff') daemon.send({ type: 'diff', request_id, path, change, hunks });
    });
    daemon.send({
      type: 'report_sessions',
      sessions: [{ session_id: 'limit', title: 'Limits', project: '/home/ada/garden-api', last_message: 'Done', last_activity: dayAgo, is_active: false, message_count: 2 }], // prettier-ignore
    });
    const diffs = [{ path: 'src/reported.ts', change: 'edit', added: 1, removed: 0, hunks: [{ old: 1, new: 1, lines: ['+reported'] }] }]; // prettier-ignore
    daemon.keep('limit', [
      put(item('u1', 0, { kind: 'user' }, 'Limit the invites')),
      put(item('t1', 1, { kind: 'tool', id: 't', title: 'Edit', status: 'completed', diffs })),
    ]);
    await person.goto('/sessions');
    await person.page.getByText('Limits').first().click();
    // The browser keeps the conversation for a machine that is offline.
    await untilKept(person.page, 'relay-last', 'conversations', 'src/reported.ts');
    await person.page.getByRole('link', { name: /^Changes to/ }).click();
    await person.page.getByRole('button', { name: /limits\.ts/ }).waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await daemon?.drop();
    await relay?.end();
  });
  const file = (name: string) => person.page.locator('.change-list').getByRole('button', { name });
  const firstVisible = () =>
    person.page.evaluate<{ text: string; top: number }>(`(() => {
      const edge = document.querySelector('.file-bar').getBoundingClientRect().bottom;
      const row = [...document.querySelectorAll('.diff .ln')].find((one) => one.getBoundingClientRect().top >= edge);
      return { text: row.lastElementChild.textContent, top: row.getBoundingClientRect().top };
    })()`);
  const note = (text: string) => person.page.locator('.notes').getByText(text).waitFor();

  it('44, changes 15: a machine that answers nonsense causes a sentence and a retry, its second answer nothing', async () => {
    const { page } = person;
    // It lacks the list.
    answers = (reply) => [{ type: 'changes', ...reply, scope: 'uncommitted', root: '/home/ada/secret' }];
    await page.reload();
    await page.getByRole('alert').waitFor();
    expect(await page.locator('body').innerText()).not.toContain('/home/ada/secret');
    answers = (reply) => [
      { type: 'changes', ...reply, ...list },
      { type: 'changes', ...reply, ...list, files: [{ ...change, path: 'src/second.ts' }] },
    ];
    await page.getByRole('button', { name: 'Try again' }).click();
    await file('limits.ts').waitFor();
    expect(await file('second.ts').count()).toBe(0);
  });

  it('44, changes 15: a slow machine is explained, and then the edits of the agent replace the comparison', async () => {
    const { page } = person;
    answers = () => [];
    await page.reload();
    await page.getByText('This folder is large. Still counting…').waitFor();
    await note('Too large to compare. Showing the edits that');
    await file('reported.ts').click();
    await page.locator('.diff').getByText('reported', { exact: true }).waitFor();
    answers = (reply) => [{ type: 'changes', ...reply, ...list }];
  });

  it('44, changes 18: 3,000 lines scroll without a script, and no line moves on a refresh', async () => {
    const { page } = person;
    await page.reload();
    await file('limits.ts').click();
    await page.getByText('limit2999 ').waitFor({ state: 'attached' });
    const client = await page.context().newCDPSession(page);
    const { redrawn, ...work } = await scrolled(client, () => page.evaluate<Scrolled>(scroll));
    process.stdout.write(`3,000 lines: ${JSON.stringify(work)}\n`);
    await client.detach();
    // Each frame only draws: no script, no layout. The rest is the speed of the device.
    expect({ redrawn, layouts: work.layouts }).toEqual({ redrawn: 0, layouts: 0 });
    expect(work.frames).toBeGreaterThan(100);

    await page.evaluate(`document.querySelector('.main-pane').scrollTop = 20000`);
    const reading = await firstVisible();
    hunks = long(-10);
    await page.getByRole('button', { name: 'Read again' }).click();
    await page.getByText('limit-10 ').waitFor({ state: 'attached' });
    const after = await firstVisible();
    expect(after.text).toBe(reading.text);
    expect(Math.abs(after.top - reading.top)).toBeLessThan(1);
  });

  it('44, changes 15: the page keeps the list without a network, with its time', async () => {
    const { page } = person;
    await page.context().setOffline(true);
    await page
      .locator('.notes')
      .getByText(/^As of \d/)
      .waitFor();
    await file('limits.ts').waitFor();
    await page.context().setOffline(false);
    await page
      .locator('.notes')
      .getByText(/^As of \d/)
      .waitFor({ state: 'detached' });
  });

  it('44, changes 15: a machine that is offline is named, and the kept edits of its agent are shown', async () => {
    const { page } = person;
    await daemon.drop();
    await page.reload();
    await note('MacBook Pro is offline, so its files can’t be read.');
    await file('reported.ts').click();
    await page.locator('.diff').getByText('reported', { exact: true }).waitFor();
  });
});

interface Scrolled {
  frames: number;
  /** Changes of the document during that. */
  redrawn: number;
}

/** Scrolls through the whole file, a third of a screen each frame. */
const scroll = `new Promise((done) => {
  const box = document.querySelector('.main-pane'); let frames = 0; let redrawn = 0;
  const watch = new MutationObserver((all) => { redrawn += all.length; });
  watch.observe(box, { subtree: true, childList: true, attributes: true, characterData: true });
  box.scrollTop = 0;
  (function next() {
    const before = box.scrollTop; box.scrollTop += box.clientHeight / 3; frames++;
    box.scrollTop === before ? done({ frames, redrawn }) : requestAnimationFrame(next);
  })();
})`;

/** Counts the work of the browser during `act`. */
async function scrolled(client: CDPSession, act: () => Promise<Scrolled>) {
  await client.send('Performance.enable');
  const counters = async () => {
    const { metrics } = await client.send('Performance.getMetrics');
    return new Map(metrics.map(({ name, value }) => [name, value]));
  };
  const before = await counters();
  const began = performance.now();
  const { frames, redrawn } = await act();
  const seconds = (performance.now() - began) / 1000;
  const after = await counters();
  const of = (name: string) => after.get(name)! - before.get(name)!;
  return {
    frames,
    redrawn,
    perSecond: Math.round(frames / seconds),
    layouts: of('LayoutCount'),
    layoutMs: Math.round(of('LayoutDuration') * 1000),
    styleMs: Math.round(of('RecalcStyleDuration') * 1000),
    scriptMs: Math.round(of('ScriptDuration') * 1000),
  };
}
