/**
 * Promises of the pages with the numbers of their acceptance: long sessions, questions on a phone, drafts, the way
 * back.
 */
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import { type Registration, send } from '@relay/testing';
import type { Browser } from 'playwright-core';
import {
  type BrowserRelay,
  type Person,
  eventually,
  everyLook,
  holdSocket,
  launchBrowser,
  newPerson,
  registeredDevice,
  startBrowserRelay,
  untilKept,
} from './browser.ts';
import { type TranscriptDaemon, add, connectTranscriptDaemon, item, put, set } from './transcript-daemon.ts';
import { conversation } from './transcript-scenes.ts';

const desk = { width: 1360, height: 860 };
const handheld = { width: 390, height: 844 };

describeWith('chromium', 'acceptance', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  let person: Person;
  let registration: Registration;
  let daemon: TranscriptDaemon;

  beforeAll(async () => {
    relay = await startBrowserRelay();
    browser = await launchBrowser();
    person = await newPerson(browser, relay.url, { viewport: desk });
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

  const titleIs = async (title: string) =>
    expect(
      await eventually(
        () => person.page.title(),
        (now) => now === title,
      ),
    ).toBe(title);
  const idOf = (nativeId: string) => `${registration.deviceId}:scripted:${nativeId}`;
  const pathOf = (nativeId: string) => `/sessions/${encodeURIComponent(idOf(nativeId))}`;
  const evaluate = <T>(script: string): Promise<T> => person.page.evaluate<T>(script);
  const message = () => person.page.getByLabel('Message', { exact: true });
  const focused = () => evaluate<string>(`document.activeElement.getAttribute('aria-label') ?? document.activeElement.tagName`); // prettier-ignore

  async function start(words: string, nativeId: string, folder = '/home/ada/code/garden-api'): Promise<string> {
    await person.goto('/sessions/new');
    await person.page.getByLabel(/^What should/).fill(words);
    await person.page.getByLabel('Folder on the machine').fill(folder);
    await person.click('Start session');
    const task = await daemon.next('task_start');
    const taskId = task.task_id as string;
    daemon.send({ type: 'status', running_tasks: [taskId] });
    daemon.event(taskId, 'SESSION_STARTED', { session_id: nativeId });
    daemon.say(taskId, nativeId, [put(item(task.message_uuid as string, 1, { kind: 'user' }, words))]);
    await person.page.waitForURL(`**${pathOf(nativeId)}`);
    return taskId;
  }
  const end = (taskId: string, result = 'Done.') => {
    daemon.event(taskId, 'TASK_COMPLETE', { result });
    daemon.send({ type: 'status', running_tasks: [] });
  };
  const diffs = ['src/invites/route.ts', 'src/invites/route.test.ts'].map((path) => ({
    path,
    change: 'edit' as const,
    added: 14,
    removed: 1,
    hunks: [{ old: 11, new: 11, lines: [' const router = Router();', "-router.post('/invites', signedIn, create);", ...Array.from({ length: 14 }, (_, index) => `+router.post('/invites/${index}', signedIn, limit, create);`)] }], // prettier-ignore
  }));
  const ask = (taskId: string, uuid: string, title: string, subject: object) => {
    daemon.event(taskId, 'WAIT_FOR_USER', {
      prompt: title,
      result: '',
      options: [{ label: 'Allow once' }, { label: 'Reject' }],
      message_uuid: uuid,
      question: {
        uuid,
        title,
        kind: 'permission',
        options: [
          { id: 'yes', label: 'Allow once', kind: 'allow_once' },
          { id: 'all', label: 'Always allow edits', kind: 'allow_always' },
          { id: 'no', label: 'Reject', kind: 'reject_once' },
        ],
        text: true,
        subject,
      },
    });
    daemon.send({ type: 'status', running_tasks: [] });
  };

  it('5: keeps 5,000 items light: few nodes while scrolling, and a heap that does not grow with visits', async () => {
    end(await start('A long story', 'long'));
    const messages = conversation(5000);
    await person.page.route(/\/api\/sessions\/[^/?]+\?limit=/, async (route) => {
      const response = await route.fetch();
      const { v: _v, reset: _r, messagesError: _e, ...rest } = (await response.json()) as Record<string, unknown>;
      await route.fulfill({ response, json: { ...rest, messages, hasMore: false } });
    });
    const client = await person.context.newCDPSession(person.page);
    const heap = async () => {
      await client.send('HeapProfiler.collectGarbage');
      const { usedSize } = await client.send('Runtime.getHeapUsage');
      return usedSize / 1_000_000;
    };
    const visit = async () => {
      await person.page.locator('.side .row', { hasText: 'A long story' }).click();
      await person.page.locator('.log .entry').first().waitFor();
      await person.page.getByRole('link', { name: 'Machines' }).first().click();
      await person.heading('Machines');
    };
    await person.goto(pathOf('long'));
    await person.page.getByText('Step 4998').first().waitFor();
    const nodes = await evaluate<number>(`new Promise((done) => {
      const log = document.querySelector('.log'); let most = 0; let screens = 0;
      (function next() {
        most = Math.max(most, document.querySelectorAll('.entry').length);
        log.scrollTop -= log.clientHeight;
        screens++ < 20 ? requestAnimationFrame(() => requestAnimationFrame(next)) : done(most);
      })();
    })`);
    expect(nodes).toBeGreaterThan(5);
    expect(nodes).toBeLessThanOrEqual(120);
    await visit();
    const first = await heap();
    expect(first).toBeLessThanOrEqual(60);
    for (let time = 0; time < 10; time++) await visit();
    expect((await heap()) - first).toBeLessThanOrEqual(10);
    await client.detach();
    await person.page.unroute(/\/api\/sessions\/[^/?]+\?limit=/);
  });

  it('6: streams 100 kB of markdown without drawing finished parts again, and accepts every key at the same time', async () => {
    const taskId = await start('Write a book', 'book');
    daemon.say(taskId, 'book', [put(item('a', 2, { kind: 'text', open: true }))]);
    daemon.say(taskId, 'book', [add('a', '# The first heading\n\nThe first paragraph, which is finished.\n\n')]);
    await person.page.locator('.md').getByText('The first paragraph').waitFor();
    await evaluate(`{ window.touched_ = 0;
      window.first_ = [...document.querySelectorAll('.md p')].find((p) => p.textContent.startsWith('The first paragraph'));
      new MutationObserver((all) => { window.touched_ += all.length; })
        .observe(window.first_, { childList: true, subtree: true, characterData: true, attributes: true }); }`);
    const typed = 'typed while the agent writes, letter by letter';
    const typing = message().pressSequentially(typed);
    const pieces = 1000;
    for (let piece = 0; piece < pieces; piece++)
      daemon.say(taskId, 'book', [add('a', `Piece **${piece}** of the \`book\`, with [a link](https://example.org/${piece}) and more words to a hundred.\n\n`)]); // prettier-ignore
    await typing;
    await person.page.getByText(`Piece ${pieces - 1} of the book`).waitFor();
    expect(await message().inputValue()).toBe(typed);
    expect(await evaluate<number>('window.touched_')).toBe(0);
    expect(await evaluate<boolean>('window.first_.isConnected')).toBe(true);
    await message().fill('');
    daemon.say(taskId, 'book', [set('a', { open: null })]);
    end(taskId);
    await person.page.locator('main[data-status="idle"]').waitFor();
  });

  it('9: never shows raw marks of an open fence, bold text or table for longer than a frame', async () => {
    const taskId = await start('Explain the queue', 'marks');
    daemon.say(taskId, 'marks', [put(item('a', 2, { kind: 'text', open: true }, 'At first.\n\n'))]);
    await person.page.locator('.md').getByText('At first.').waitFor();
    await evaluate(`{ window.seen_ = { texts: new Set(), raw: [], frames: 0, most: 0 };
      (function look() {
        const text = [...document.querySelectorAll('.md')].at(-1)?.innerText ?? '';
        window.seen_.texts.add(text);
        const isRaw = /[*\`|]|--/.test(text);
        window.seen_.frames = isRaw ? window.seen_.frames + 1 : 0;
        if (isRaw) window.seen_.raw.push(text.slice(-60));
        window.seen_.most = Math.max(window.seen_.most, window.seen_.frames);
        if (!text.includes('That is all')) requestAnimationFrame(look);
      })(); }`);
    const text =
      'The **worker** takes `one` job:\n\n```ts\nconst job = take();\n```\n\n| Case | Time |\n| --- | ---: |\n| large | 12 ms |\n\nThat is all.';
    for (const letter of text) {
      daemon.say(taskId, 'marks', [add('a', letter)]);
      // Sends each letter in a frame of its own, because the page draws concurrent letters together.
      await evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    }
    await person.page.locator('.md').getByText('That is all.').waitFor();
    const seen = await evaluate<{ texts: number; raw: string[]; most: number }>(
      '({ ...window.seen_, texts: window.seen_.texts.size })',
    );
    expect(seen.texts).toBeGreaterThan(40);
    expect(seen.most > 1 ? seen.raw : []).toEqual([]);
    daemon.say(taskId, 'marks', [set('a', { open: null })]);
    end(taskId);
    await person.page.locator('main[data-status="idle"]').waitFor();
  });

  it('12: shows the diff and the buttons of a permission in the card, even above a keyboard; then focuses the composer', async () => {
    const taskId = await start('Limit the invites', 'limit');
    daemon.say(taskId, 'limit', [put(item('t1', 2, { kind: 'text' }, 'Both limits live in one file. '.repeat(30)))]);
    ask(taskId, 'q1', 'Edit two files?', { type: 'edit', diffs });
    const card = person.page.locator('.q');
    await card.getByText('Wants to edit 2 files').waitFor();
    await everyLook(person, 'question-diff');
    for (const name of ['Allow once', 'Always allow edits', 'Reject'])
      expect(await card.getByRole('button', { name, exact: true }).count()).toBe(1);
    expect(await card.locator('.diff').count()).toBe(2);
    const seen = () =>
      evaluate<{ log: number; button: boolean; composer: boolean; wide: boolean }>(`(() => {
        const inside = (element) => { const box = element.getBoundingClientRect(); const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2); return box.top >= 0 && box.bottom <= innerHeight && element.contains(hit); };
        const { top } = document.querySelector('.dock').getBoundingClientRect();
        return {
          log: Math.round(Math.min(top, innerHeight) - document.querySelector('.log').getBoundingClientRect().top),
          button: inside(document.querySelector('.q .acts .primary')),
          composer: inside(document.querySelector('.dock textarea')),
          wide: document.documentElement.scrollWidth <= innerWidth,
        };
      })()`);
    for (const [name, viewport] of [
      ['phone', handheld],
      // The phone with an open keyboard of 336 px.
      ['keyboard', { width: 390, height: 508 }],
      ['landscape', { width: 844, height: 390 }],
    ] as const) {
      await person.page.setViewportSize(viewport);
      await person.picture(`question-${name}`);
      const { log, ...others } = await seen();
      expect({ name, ...others }).toEqual({ name, button: true, composer: true, wide: true });
      expect(log).toBeGreaterThanOrEqual(96);
    }
    await person.page.setViewportSize(handheld);

    // Opens the diff in full screen, file by file.
    await card.getByRole('button', { name: 'Full screen, src/invites/route.ts' }).click();
    const screen = person.page.locator('dialog.screen');
    await screen.getByText('File 1 of 2').waitFor();
    await person.picture('diff-screen');
    await screen.getByRole('button', { name: 'Next file' }).click();
    await screen.getByText('File 2 of 2').waitFor();
    await screen.getByText('route.test.ts').waitFor();
    await person.page.keyboard.press('Escape');
    await screen.waitFor({ state: 'detached' });
    expect(await focused()).toBe('Full screen, src/invites/route.ts');

    await card.getByRole('button', { name: 'Allow once' }).click();
    await daemon.next('task_resume');
    await card.waitFor({ state: 'detached' });
    expect(await focused()).toBe('Message');
    await person.page.setViewportSize(desk);
  });

  it('14: lists sessions that need the person first, answers without opening one, and counts them in the title', async () => {
    const taskId = await start('Migrate the database', 'migrate');
    await person.goto('/devices');
    await person.heading('Machines');
    await titleIs('Machines · Relay');
    const icon = () => evaluate<string>(`document.querySelector('link[rel="icon"]').href`);
    const plain = await icon();
    ask(taskId, 'q2', 'Run the database migration?', { type: 'command', command: 'npm run db:migrate' });
    const card = person.page.locator('.side .ask', { hasText: 'Run the database migration?' });
    await card.getByText('npm run db:migrate').waitFor();
    expect(await person.page.locator('.side .scroll section').first().getByRole('heading').innerText()).toBe(
      'Needs you',
    );
    await titleIs('(1) Machines · Relay');
    expect(await icon()).not.toBe(plain);
    await card.getByRole('button', { name: 'Allow once' }).click();
    const { task_id: next } = await daemon.next('task_resume');
    await card.waitFor({ state: 'detached' });
    await titleIs('Machines · Relay');
    expect(await icon()).toBe(plain);
    expect(new URL(person.page.url()).pathname).toBe('/devices');
    end(next as string);
  });

  it('17: keeps a draft after leaving and reloading, in its own session only, and discards it after sending', async () => {
    await person.goto(pathOf('migrate'));
    await message().fill('Remember this');
    await person.page.locator('.side .row', { hasText: 'Write a book' }).click();
    await person.heading('Write a book');
    expect(await message().inputValue()).toBe('');
    await person.page.goBack();
    await person.heading('Migrate the database');
    await person.page.locator('.dock textarea', { hasText: 'Remember this' }).waitFor();
    await person.page.reload();
    await person.page.locator('.dock textarea', { hasText: 'Remember this' }).waitFor();
    // The sign-in expires, without a sign-out.
    await person.context.clearCookies();
    await person.page.reload();
    await person.heading('Sign in');
    await person.signIn('ada@example.com');
    await person.heading('Migrate the database');
    await person.page.locator('.dock textarea', { hasText: 'Remember this' }).waitFor();
    await message().press('Enter');
    end((await daemon.next('task_resume')).task_id as string);
    await person.page.locator('.dock textarea:invalid').waitFor();
    await person.page.reload();
    await person.heading('Migrate the database');
    await message().waitFor();
    expect(await message().inputValue()).toBe('');
  });

  /** Adds a draft to the storage of the browser. */
  const putDraft = (name: string, text: string) =>
    evaluate(`new Promise((resolve, reject) => {
      const request = indexedDB.open('relay');
      request.onsuccess = () => {
        const tx = request.result.transaction('drafts', 'readwrite');
        tx.objectStore('drafts').put(${JSON.stringify(text)}, ${JSON.stringify(name)});
        tx.oncomplete = () => resolve(request.result.close());
        tx.onerror = () => reject(tx.error);
      };
    })`);

  it('17: keeps a draft whose session got its name while no page was open', async () => {
    await person.goto('/sessions/new');
    await person.page.getByLabel(/^What should/).fill('Name it later');
    await person.click('Start session');
    const taskId = (await daemon.next('task_start')).task_id as string;
    await message().fill('And one more thing');
    // A draft of a deleted session, which comes before the other one.
    await putDraft(idOf('PENDING-0'), 'Of a session that is gone');
    await person.page.goto('about:blank');
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'named' });
    end(taskId);
    const headers = { Authorization: person.bearer };
    const named = async () => (await send('GET', `${relay.url}/api${pathOf('named')}`, { headers })).status;
    expect(await eventually(named, (status) => status === 200)).toBe(200);
    await person.goto(pathOf('named'));
    await person.page.locator('.dock textarea', { hasText: 'And one more thing' }).waitFor();
    await person.page.reload();
    await person.page.locator('.dock textarea', { hasText: 'And one more thing' }).waitFor();
    await message().fill('');
    await person.page.reload();
    await person.heading('Name it later');
    await message().waitFor();
    expect(await message().inputValue()).toBe('');
  });
  it('17: keeps newly typed text while an earlier draft is loading, and drops that draft', async () => {
    await person.goto(pathOf('named'));
    await person.heading('Name it later');
    const about = /\/api\/sessions\/[^/?]+PENDING-/;
    let isAsked = () => {};
    const asked = new Promise<void>((resolve) => (isAsked = resolve));
    let answer = () => {};
    const answered = new Promise<void>((resolve) => (answer = resolve));
    await person.page.route(about, async (route) => {
      isAsked();
      await answered;
      const response = await route.fetch({ url: `${relay.url}/api${pathOf('named')}?limit=1` });
      await route.fulfill({ response });
    });
    await putDraft(idOf('PENDING-1'), 'The earlier words');
    await person.page.reload();
    await asked;
    await message().fill('The newer words');
    await untilKept(person.page, 'relay', 'drafts', 'The newer words');
    const last = person.page.waitForResponse(about);
    answer();
    await last;
    // No event shows that the page has loaded the earlier draft: it would replace the text within this time.
    await person.page.waitForTimeout(1000);
    await person.page.unroute(about);
    await person.page.reload();
    await person.page.locator('.dock textarea', { hasText: 'The newer words' }).waitFor();
    await message().fill('');
  });

  it('shows a new bell and a pinned session at once, before the live stream reports them', async () => {
    const listen = await holdSocket(person.page);
    await person.goto(pathOf('named'));
    await person.click(/^Notifications of this session: As in Settings/);
    await person.page.getByRole('button', { name: /^Everything/ }).click();
    await person.page.getByRole('button', { name: 'Notifications of this session: Everything' }).waitFor();
    const bar = person.page.locator('.bar');
    await bar.getByRole('button', { name: 'More' }).click();
    await bar.getByRole('button', { name: 'Pin', exact: true }).click();
    await bar.getByText('Unpin', { exact: true }).waitFor({ state: 'attached' });
    await bar.getByRole('button', { name: 'More' }).click();
    await bar.getByRole('button', { name: 'Unpin', exact: true }).click();
    await bar.getByText('Pin', { exact: true }).waitFor({ state: 'attached' });
    listen();
  });

  it('17: keeps the first message of a new session after a reload, separate from shared text, until the session starts', async () => {
    const first = person.page.getByLabel(/^What should/);
    const shows = (words: string) => person.page.locator('textarea.big', { hasText: words }).waitFor();
    await person.goto('/sessions/new');
    await first.fill('A long plan for the garden');
    await person.page.reload();
    await shows('A long plan for the garden');
    await person.goto('/sessions/new?text=Shared');
    await shows('Shared');
    await first.fill('Shared, with a word of mine');
    await person.page.reload();
    await shows('Shared, with a word of mine');
    await person.goto('/devices');
    await person.heading('Machines');
    await person.goto('/sessions/new');
    await shows('A long plan for the garden');
    await person.click('Start session');
    const { task_id: taskId, instruction } = await daemon.next('task_start');
    expect(instruction).toBe('A long plan for the garden');
    daemon.event(taskId as string, 'SESSION_STARTED', { session_id: 'plan' });
    end(taskId as string);
    await person.page.waitForURL(`**${pathOf('plan')}`);
    await person.goto('/sessions/new');
    await first.waitFor();
    await person.page.locator('textarea.big:invalid').waitFor();
  });

  it('18: marks a message sent without a network as waiting, and sends it once when the network returns', async () => {
    await person.goto(pathOf('migrate'));
    await message().fill('Also update the changelog');
    const asked: string[] = [];
    person.page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/messages'))
        asked.push(request.headers()['idempotency-key'] ?? '');
    });
    await person.context.setOffline(true);
    await message().press('Enter');
    await person.page.locator('.dock').getByText('Waiting for the network').waitFor();
    await everyLook(person, 'waits-for-network');
    expect(await person.page.getByRole('alert').count()).toBe(0);
    expect(await message().inputValue()).toBe('Also update the changelog');
    await person.context.setOffline(false);
    // Chromium before 156 does not send this event for an emulated network; then the page tries again after 15 s.
    await evaluate(`dispatchEvent(new Event('online'))`);
    await person.page.locator('.dock').getByText('Waiting for the network').waitFor({ state: 'detached' });
    await person.page.locator('.dock textarea:invalid').waitFor();
    const { task_id: taskId, message: content } = await daemon.next('task_resume');
    expect(content).toBe('Also update the changelog');
    end(taskId as string);
    await person.page.locator('main[data-status="idle"]').waitFor();
    await person.page.locator('.log .me').getByText('Also update the changelog').first().waitFor();
    expect(await person.page.locator('.log .me').getByText('Also update the changelog').count()).toBe(1);
    expect(await person.page.getByRole('alert').count()).toBe(0);
    expect(asked.length).toBeGreaterThanOrEqual(2);
    expect(new Set(asked).size).toBe(1);
  });

  it('20: shows the list unchanged on the way back: same place, same rows, no new request', async () => {
    const at = (index: number) => new Date(Date.UTC(2026, 9, 1, 0, 0, -index)).toISOString();
    daemon.send({
      type: 'report_sessions',
      sessions: Array.from({ length: 130 }, (_, index) => ({ session_id: `r${index}`, title: `Row ${index}`, project: `/p/${index % 3}`, last_message: 'x', last_activity: at(index) })), // prettier-ignore
    });
    await person.page.setViewportSize(handheld);
    await person.goto('/sessions');
    const rows = () => person.page.locator('.side .row').count();
    await person.page.locator('.side .row', { hasText: 'Row 1' }).first().waitFor();
    const oldest = person.page.locator('.side .row', { hasText: 'Row 129' });
    while ((await oldest.count()) === 0) await evaluate(`document.querySelector('.side .scroll').scrollTop = 1e6`);
    // The rest of the report arrives during this loop.
    for (let still = 0, known = 0; still < 20; await person.page.waitForTimeout(50)) {
      await evaluate(`document.querySelector('.side .scroll').scrollTop = 1e6`);
      const now = await rows();
      still = now === known ? still + 1 : 0;
      known = now;
    }
    const place = await evaluate<number>(`(() => { const box = document.querySelector('.side .scroll'); box.scrollTop = 2500; return box.scrollTop; })()`); // prettier-ignore
    await evaluate(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`);
    const before = await rows();
    const asked: string[] = [];
    person.page.on('request', (request) => {
      if (/\/api\/sessions\?/.test(request.url())) asked.push(request.url());
    });
    await evaluate(`[...document.querySelectorAll('.side .row')].find((row) => row.getBoundingClientRect().top > 200).click()`); // prettier-ignore
    await person.page.locator('.conv .bar').waitFor();
    await person.page.goBack();
    await person.page.locator('.side .row').first().waitFor();
    const away = async () =>
      Math.abs((await evaluate<number>(`document.querySelector('.side .scroll').scrollTop`)) - place);
    expect(await eventually(away, (px) => px <= 2)).toBeLessThanOrEqual(2);
    expect(await rows()).toBe(before);
    expect(asked).toEqual([]);
    await person.page.setViewportSize(desk);
  });

  it('33: draws the list with the bytes of the first load, and loads the highlighter only for a fence', async () => {
    const slow = await newPerson(browser, relay.url, { viewport: handheld, storageState: await person.context.storageState() }); // prettier-ignore
    const client = await slow.context.newCDPSession(slow.page);
    await client.send('Network.enable');
    await client.send('Network.emulateNetworkConditions', {
      ...{ offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 200_000 },
    });
    await client.send('Emulation.setCPUThrottlingRate', { rate: 4 });
    const names = new Map<string, string>();
    const loaded = new Map<string, number>();
    client.on('Network.requestWillBeSent', ({ requestId, request }) => names.set(requestId, new URL(request.url).pathname)); // prettier-ignore
    client.on('Network.loadingFinished', ({ requestId, encodedDataLength }) =>
      loaded.set(requestId, encodedDataLength),
    );
    // The page itself reports when it has drawn the list, because a query from here would wait for its processor.
    await slow.page.addInitScript(`new MutationObserver((_, watch) => {
      if (!document.querySelector('.side .row')) return;
      watch.disconnect();
      requestAnimationFrame(() => setTimeout(() => {
        const paint = performance.getEntriesByName('first-contentful-paint')[0]?.startTime;
        console.debug('drawn', Math.round(paint), Math.round(performance.now()));
      }));
    }).observe(document, { subtree: true, childList: true })`);
    const drawn = slow.page.waitForEvent('console', (said) => said.text().startsWith('drawn'));
    await slow.page.goto(`${relay.url}/sessions`, { waitUntil: 'commit' });
    const [, paintMs, listMs] = (await drawn).text().split(' ');
    // Files that the page names, and its language chunks; the page loads the rest ahead.
    const html = await (await slow.context.request.get(`${relay.url}/sessions`)).text();
    const first = [...names].filter(
      ([, name]) => name === '/sessions' || html.includes(name.slice(1)) || /\/en-(?:frame|errors)-/.test(name),
    );
    const bytes = first.reduce((sum, [id]) => sum + (loaded.get(id) ?? 0), 0);
    process.stdout.write(`at 1.6 Mbit/s, 150 ms and a quarter of the processor: ${Math.round(bytes / 1024)} KiB, first paint ${paintMs} ms, list ${listMs} ms\n`); // prettier-ignore
    expect(bytes).toBeGreaterThan(50 * 1024);
    // Each file has its headers in addition.
    expect(bytes).toBeLessThanOrEqual(126 * 1024 + first.length * 600);
    const hasHighlighter = () => [...names.values()].some((name) => /\/highlight-/.test(name));
    await slow.goto(pathOf('migrate'));
    await slow.heading('Migrate the database');
    await slow.page.locator('.log .entry').first().waitFor();
    await slow.page.waitForLoadState('networkidle');
    expect(hasHighlighter()).toBe(false);
    await slow.goto(pathOf('marks'));
    await slow.page.locator('.fence').first().waitFor();
    expect(await eventually(hasHighlighter, Boolean)).toBe(true);
    expect(slow.complaints).toEqual([]);
    await slow.context.close();
  });

  it("offers the folders of the machine's earlier sessions", async () => {
    await person.goto('/sessions/new');
    const folders = person.page.getByRole('group', { name: 'Recent folders' });
    const folder = () => person.page.getByLabel('Folder on the machine').inputValue();
    // The page remembers the last folder.
    const remembered = await folder();
    if (remembered !== '') await folders.getByRole('button', { name: 'garden-api' }).click();
    expect(await folder()).toBe('');
    await folders.getByRole('button', { name: 'garden-api' }).click();
    expect(await folder()).toBe('/home/ada/code/garden-api');
    await everyLook(person, 'new-session-folders');
  });
});
