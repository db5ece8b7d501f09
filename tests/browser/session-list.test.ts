/** The list of sessions in a real browser: search, unread sessions, pins, and many sessions at once. */
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import { type Registration, type TestDaemon, connectDaemon, send } from '@relay/testing';
import type { Browser, Page } from 'playwright-core';
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

describeWith('chromium', 'the list of sessions', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  let person: Person;
  let registration: Registration;
  let daemon: TestDaemon;

  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  const entry = (session_id: string, title: string, project: string, last_message: string, minutes: number) => ({
    session_id,
    title,
    project,
    last_message,
    last_activity: minutesAgo(minutes),
  });
  const reported = [
    entry('node24', 'Upgrade to Node 24', '/home/ada/code/garden-api', 'Done: 14 files changed, all tests pass', 22),
    entry(
      'pdf',
      'Why is the invoice PDF empty?',
      '/home/ada/code/garden-api',
      'The font was missing in the image',
      190,
    ),
    entry('safari', 'Checkout is slow on Safari', '/home/ada/code/storefront', 'Two images of 6 MB each', 300),
    entry('notes', 'Release notes for 2.4', '/home/ada/code/storefront', 'Drafted from 31 commits', 3000),
    entry('loose', 'Rename my holiday photos', '', 'All 212 have a date in front', 4000),
    ...Array.from({ length: 70 }, (_, index) =>
      entry(`old-${index}`, `Old work ${index}`, '/home/ada/code/attic', 'long ago', 10_000 + index),
    ),
    entry('needle', 'The mail queue moves to Postgres', '/home/ada/code/attic', 'moved', 20_000),
  ];

  beforeAll(async () => {
    relay = await startBrowserRelay();
    browser = await launchBrowser();
    person = await newPerson(browser, relay.url, { viewport: { width: 1360, height: 860 } });
    await person.createAccount(relay.setupLink, 'ada@example.com');
    registration = await registeredDevice(person, 'MacBook Pro');
    daemon = await connectDaemon(relay.relay, { registration });
    daemon.send({ type: 'report_sessions', sessions: reported });
    daemon.socket.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString('utf8')) as { type: string; request_id: string };
      if (frame.type !== 'get_messages') return;
      const messages = Array.from({ length: 40 }, (_, index) => ({
        uuid: `m${index}`,
        role: index % 2 ? 'AGENT' : 'USER',
        content: `Line ${index}\n\nand one more\n\nand another`,
        timestamp: minutesAgo(60 - index),
      }));
      daemon.send({ type: 'messages', request_id: frame.request_id, messages, has_more: false });
    });
    await person.goto('/sessions');
    await row('Upgrade to Node 24').waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await daemon?.drop();
    await relay?.end();
  });
  afterEach(() => expect(person.complaints.splice(0)).toEqual([]));

  const pathOf = (nativeId: string) =>
    `/sessions/${encodeURIComponent(`${registration.deviceId}:scripted:${nativeId}`)}`;
  const row = (title: string) => person.page.locator('.side .row').filter({ hasText: title });
  const titles = () => person.page.locator('.side .row .t').allInnerTexts();
  const find = () => person.page.getByRole('searchbox', { name: 'Search sessions' });
  const menuOf = async (title: string, choice: string) => {
    await row(title).hover();
    await person.page.getByRole('button', { name: `More for ${title}` }).click();
    await person.page.getByRole('button', { name: choice, exact: true }).filter({ visible: true }).click();
  };
  const focused = () =>
    person.page.evaluate<string>(
      `document.activeElement === document.body ? 'BODY' : (document.activeElement.textContent || document.activeElement.getAttribute('aria-label') || document.activeElement.tagName)`,
    );
  const sessionsOf = async (query: string) => {
    const answer = await send('GET', `${relay.url}/api/sessions?limit=100&${query}`, {
      headers: { Authorization: person.bearer },
    });
    return (answer.body as { sessions: { title: string; unread?: true }[] }).sessions;
  };

  /** Waits for the deletion, which can reach the relay after the page has closed. */
  const isGone = async (word: string) =>
    expect(
      await eventually(
        () => sessionsOf(`q=${word}`),
        (all) => all.length === 0,
      ),
    ).toEqual([]);

  it('finds a session outside the loaded page by a word, and marks the word', async () => {
    await find().fill('postgres que');
    await row('The mail queue').waitFor();
    expect(await titles()).toEqual(['The mail queue moves to Postgres']);
    expect(await row('The mail queue').locator('mark').allInnerTexts()).toEqual(['que', 'Postgres']);
    await person.page.getByRole('status').filter({ hasText: '1 session found' }).waitFor({ state: 'attached' });
    await everyLook(person, 'list-found');
    await find().press('Enter');
    await person.page.waitForURL(`**${pathOf('needle')}`);
    await find().fill('');
    await row('Upgrade to Node 24').waitFor();
  });

  it('shows that nothing matches, and clears the search with one button', async () => {
    await person.goto('/sessions');
    await find().fill('zebra crossing');
    await person.text('No session matches');
    await everyLook(person, 'list-nothing-found');
    await person.click('Clear search');
    await row('Upgrade to Node 24').waitFor();
    expect(await focused()).toBe('Search sessions');
  });

  it('shows why a search failed, keeps the known sessions, and retries', async () => {
    await person.page.route(/\/api\/sessions\?.*q=/, (route) =>
      route.fulfill({ status: 503, json: { code: 'UNAVAILABLE', error: 'The database is away.', status: 503 } }),
    );
    await find().fill('safari');
    await person.text('The database is away.');
    expect(await titles()).toEqual(['Checkout is slow on Safari']);
    await everyLook(person, 'list-search-failed');
    await person.page.unroute(/\/api\/sessions\?.*q=/);
    await person.click('Try again');
    await person.page.getByText('The database is away.').waitFor({ state: 'detached' });
    expect(await titles()).toEqual(['Checkout is slow on Safari']);
    await find().fill('');
  });

  it('marks news as unread until the person has seen them at the end of the conversation', async () => {
    await person.goto('/devices');
    daemon.send({
      type: 'report_sessions',
      sessions: [{ ...reported[0], last_message: 'And the lock file', last_activity: new Date().toISOString() }, ...reported.slice(1)], // prettier-ignore
    });
    await person.page.locator('.row.un').filter({ hasText: 'Upgrade to Node 24' }).waitFor();
    expect(await row('Upgrade to Node 24').locator('.st').innerText()).toBe('New');
    await everyLook(person, 'list-unread');
    // The person has seen it, but not to its end.
    await person.page.addInitScript(
      `localStorage.setItem('relay.read', JSON.stringify([[${JSON.stringify(
        `${registration.deviceId}:scripted:node24`,
      )}, 'm4']]))`,
    );
    await person.goto(pathOf('node24'));
    await person.page.locator('.log').getByText('New since').first().waitFor();
    await find().fill('upgrade');
    await person.page.getByRole('status').filter({ hasText: '1 session found' }).waitFor({ state: 'attached' });
    expect((await sessionsOf('q=upgrade'))[0]?.unread).toBe(true);
    await find().fill('');
    await person.page.getByRole('button', { name: 'Go to the newest' }).click();
    await person.page.locator('.row.un').waitFor({ state: 'detached' });
    expect((await sessionsOf('q=upgrade'))[0]?.unread).toBeUndefined();
    // A mark by the person stays while the conversation is open, and disappears with the next visit.
    await menuOf('Upgrade to Node 24', 'Mark as unread');
    await person.page.locator('.row.un').waitFor();
    await row('Release notes').click();
    await person.heading('Release notes for 2.4');
    await person.page.locator('.row.un').waitFor();
    await person.goto(pathOf('pdf'));
    await menuOf('Upgrade to Node 24', 'Mark as read');
    await person.page.locator('.row.un').waitFor({ state: 'detached' });
  });

  it('keeps pinned sessions in the first group, on every device', async () => {
    await person.goto('/sessions');
    await menuOf('Release notes for 2.4', 'Pin');
    const pinned = person.page.locator('.side section').filter({ hasText: 'Pinned' });
    await pinned.getByText('Release notes for 2.4').waitFor();
    expect((await titles()).filter((title) => title === 'Release notes for 2.4')).toHaveLength(1);
    expect((await titles())[0]).toBe('Release notes for 2.4');
    expect((await sessionsOf('pinned=true')).map(({ title }) => title)).toEqual(['Release notes for 2.4']);
    await everyLook(person, 'list-pinned');
    await menuOf('Release notes for 2.4', 'Unpin');
    await pinned.waitFor({ state: 'detached' });
  });

  it('heads sessions without a folder with their machine', async () => {
    const group = person.page.locator('.side section').filter({ hasText: 'Rename my holiday photos' });
    expect(await group.locator('h2').innerText()).toBe('MacBook Pro');
    expect(await person.page.locator('.side').getByText('No folder').count()).toBe(0);
  });

  it('archives and deletes a selection, can undo that, and never loses the focus', async () => {
    await menuOf('Why is the invoice PDF empty?', 'Select');
    await person.page.getByRole('toolbar', { name: 'Selected sessions' }).getByText('1 selected').waitFor();
    expect(await focused()).not.toBe('BODY');
    await row('Checkout is slow').click({ modifiers: ['Shift'] });
    await person.page.getByText('2 selected').waitFor();
    await everyLook(person, 'list-selected');
    await person.page.getByRole('toolbar').getByRole('button', { name: 'Archive' }).click();
    await person.text('Archived 2 sessions');
    expect(await titles()).not.toContain('Checkout is slow on Safari');
    expect(await focused()).not.toBe('BODY');
    await person.click('Undo');
    await row('Checkout is slow').waitFor();
    expect(await focused()).not.toBe('BODY');
    expect(await sessionsOf('archived=true')).toEqual([]);

    await row('Checkout is slow').click({ modifiers: ['Shift'] });
    await row('Release notes').click();
    await person.page.getByText('2 selected').waitFor();
    await person.page.getByRole('toolbar').getByRole('button', { name: 'Archive' }).click();
    await person.text('Archived 2 sessions');
    // A second action commits the first.
    await menuOf('Rename my holiday photos', 'Delete');
    await person.text('Deleted “Rename my holiday photos”');
    expect(await focused()).not.toBe('BODY');
    const archived = () => sessionsOf('archived=true');
    expect(await eventually(archived, (all) => all.length === 2)).toHaveLength(2);
    await person.goto('/sessions?archived=1');
    await row('Checkout is slow').waitFor();
    expect((await titles()).sort()).toEqual(['Checkout is slow on Safari', 'Release notes for 2.4']);
    await person.page.locator('.filtered').getByText('Archived').waitFor();
    await everyLook(person, 'list-archived');
    await isGone('holiday');
  });

  it('deletes all archived sessions after a confirmation', async () => {
    await person.click('Filter and group');
    await person.click('Delete all archived…');
    await person.page.getByRole('dialog').getByText('Delete all archived sessions?').waitFor();
    await everyLook(person, 'list-delete-archived');
    await person.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await person.text('No archived sessions');
    expect(await sessionsOf('archived=true')).toEqual([]);
    expect(await focused()).not.toBe('BODY');
    await person.click('Clear filter');
    await row('Upgrade to Node 24').waitFor();
  });

  const remove = async (page: Page, title: string) => {
    await page.locator('.side .row').filter({ hasText: title }).hover();
    await page.getByRole('button', { name: `More for ${title}` }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).filter({ visible: true }).click();
    await page.getByText(`Deleted “${title}”`).waitFor();
  };

  it('deletes at once when the page is closed or hidden, or its person signs out', async () => {
    const words = ['aster', 'begonia', 'clover'];
    daemon.send({
      type: 'report_sessions',
      sessions: words.map((word, index) => entry(word, `Water the ${word}`, '/home/ada/code/attic', 'watered', index)),
    });
    await row('Water the clover').waitFor();
    const other = await newPerson(browser, relay.url, { viewport: { width: 1360, height: 860 } });
    // Keeps the ten seconds of the undo from passing.
    await other.context.addInitScript(`{
      const real = setTimeout;
      window.setTimeout = (work, ms, ...more) => (ms === 10_000 ? 0 : real(work, ms, ...more));
      const send = fetch;
      window.fetch = (address, init) => {
        if (String(address).endsWith('/api/sessions/bulk')) window.outlives = init.keepalive;
        return send(address, init);
      };
    }`);
    await other.goto('/account');
    await other.signIn('ada@example.com');
    await other.heading('Settings');

    const page = await other.context.newPage();
    await page.goto(`${relay.url}/sessions`);
    await remove(page, 'Water the aster');
    await page.close();
    await isGone('aster');

    await remove(other.page, 'Water the begonia');
    await other.page.evaluate(`{
      Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
      delete document.visibilityState;
    }`);
    await isGone('begonia');
    // The request has keepalive and outlives the page. Only Chromium also sends requests without it.
    expect(await other.page.evaluate('outlives')).toBe(true);

    await remove(other.page, 'Water the clover');
    await other.click('Sign out');
    await other.heading('Sign in');
    await isGone('clover');
    expect(other.complaints).toEqual([]);
    await other.context.close();
  });

  it('selects with a long touch', async () => {
    const touch = await newPerson(browser, relay.url, {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
      storageState: await person.context.storageState(),
    });
    await touch.goto('/sessions');
    const first = touch.page.locator('.row').first();
    await first.waitFor();
    const { x, y } = (await first.boundingBox())!;
    const client = await touch.context.newCDPSession(touch.page);
    await client.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x: x + 80, y: y + 20 }] });
    await touch.page.getByText('1 selected').waitFor();
    await client.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
    await touch.page.getByText('1 selected').waitFor();
    await touch.picture('list-selected-touch');
    await touch.page.getByRole('button', { name: 'Done selecting' }).click();
    await touch.page.getByRole('toolbar').waitFor({ state: 'detached' });
    expect(touch.complaints).toEqual([]);
    await touch.context.close();
  });
});
