/** The requests of a page load, and a page that the relay refused for too many. */
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import type { Browser } from 'playwright-core';
import {
  type BrowserRelay,
  type Person,
  launchBrowser,
  newPerson,
  registeredDevice,
  startBrowserRelay,
} from './browser.ts';
import { type TranscriptDaemon, connectTranscriptDaemon, item, put } from './transcript-daemon.ts';

describeWith('chromium', 'loading a page', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  let person: Person;
  let daemon: TranscriptDaemon;
  let path = '';
  const asked: string[] = [];

  beforeAll(async () => {
    relay = await startBrowserRelay({ OPERATOR_CONTACT: 'mailto:ops@example.org' });
    browser = await launchBrowser();
    person = await newPerson(browser, relay.url, { viewport: { width: 1360, height: 860 } });
    await person.createAccount(relay.setupLink, 'ada@example.com');
    daemon = await connectTranscriptDaemon(relay.relay, await registeredDevice(person));
    await person.goto('/sessions/new');
    await person.page.getByLabel(/^What should/).fill('Water the garden');
    await person.click('Start session');
    const task = await daemon.next('task_start');
    const taskId = task.task_id as string;
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'garden' });
    await person.page.waitForURL('**%3Agarden');
    path = new URL(person.page.url()).pathname;
    daemon.say(taskId, 'garden', [put(item('a1', 2, { kind: 'text' }, 'The roses have water.'))]);
    // The page acknowledges the completed turn and reads the inbox again: that read belongs to no load below.
    let acknowledged = false;
    const readAgain = person.page.waitForResponse((response) => {
      const { pathname } = new URL(response.url());
      acknowledged ||= /^\/api\/inbox\/[^/]+\/ack$/.test(pathname);
      return acknowledged && pathname === '/api/inbox';
    });
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'The roses have water.' });
    daemon.send({ type: 'status', running_tasks: [] });
    await person.page.locator('main[data-status="idle"]').waitFor();
    await readAgain;
    person.page.on('request', (request) => {
      const { pathname, search } = new URL(request.url());
      // Requests of the previous page do not count.
      if (request.isNavigationRequest()) asked.splice(0);
      if (pathname.startsWith('/api/')) asked.push(`${request.method()} ${pathname}${search}`);
    });
  });
  afterAll(async () => {
    await browser?.close();
    await daemon?.drop();
    await relay?.end();
  });
  afterEach(() => expect(person.complaints.splice(0)).toEqual([]));

  /** Resolves when the stream of the page that loads has opened, and what it repeats has come. */
  const live = async (load: () => Promise<unknown>) => {
    const opened = person.page.waitForEvent('websocket');
    await load();
    await opened;
    daemon.event('none', 'NOTHING', {});
    await person.page.waitForLoadState('networkidle');
  };

  it('W9, D8: makes at most six requests, each list once', async () => {
    await live(() => person.goto('/sessions'));
    await person.page.getByRole('link', { name: /Water the garden/ }).waitFor();
    expect(asked).toEqual([...new Set(asked)]);
    expect(asked.length).toBeLessThanOrEqual(6);
    await live(() => person.goto(path));
    await person.text('The roses have water.');
    expect(asked).toEqual([...new Set(asked)]);
    expect(asked.length).toBeLessThanOrEqual(6);
  });

  it('W9: shows a session that began after its list was read and before its stream was open', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    await person.page.routeWebSocket(/ws\/attention/, async (socket) => {
      await released;
      socket.connectToServer();
    });
    await person.goto('/sessions');
    await person.page.getByRole('link', { name: /Water the garden/ }).waitFor();
    daemon.send({ type: 'report_sessions', sessions: [{ session_id: 'late', title: 'Began in the gap' }] });
    release();
    await person.page.getByRole('link', { name: /Began in the gap/ }).waitFor();
    await person.page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  it('W9: that was refused for a while is complete by itself', async () => {
    const refused: string[] = [];
    await person.page.route(
      /\/api\/(sessions|devices|inbox)\b/,
      (route) => {
        refused.push(route.request().url());
        return route.fulfill({
          status: 429,
          headers: { 'Retry-After': '1' },
          json: { code: 'RATE_LIMITED', error: 'Too many requests.', status: 429 },
        });
      },
      { times: 4 },
    );
    await person.goto('/sessions');
    await person.page.getByRole('link', { name: /Water the garden/ }).waitFor();
    await person.text(/1 of 1 online/);
    expect(refused).toHaveLength(4);
  });

  it('W19: moves nothing on the first load, signed in or not, on a desk and on a phone', async () => {
    const shift = async (who: Person, to: string, isThere: () => Promise<unknown>) => {
      await who.goto(to);
      await isThere();
      await who.page.waitForLoadState('networkidle');
      return who.page.evaluate<number>(
        `new Promise((resolve) => {
          let sum = 0;
          new PerformanceObserver((list) => {
            for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) sum += value;
          }).observe({ type: 'layout-shift', buffered: true });
          requestAnimationFrame(() => requestAnimationFrame(() => resolve(sum)));
        })`,
      );
    };
    const visitor = await newPerson(browser, relay.url, { viewport: { width: 390, height: 844 } });
    expect(await shift(visitor, '/sign-in', () => visitor.heading('Sign in'))).toBeLessThanOrEqual(0.1);
    await visitor.context.close();
    for (const width of [1360, 390]) {
      await person.page.setViewportSize({ width, height: 844 });
      for (const to of ['/', '/sessions', path])
        expect([to, width, (await shift(person, to, () => person.text('Water the garden'))) <= 0.1]).toEqual([
          to,
          width,
          true,
        ]);
    }
  });

  it('W21: the sign-in names the way back for a forgotten password', async () => {
    const visitor = await newPerson(browser, relay.url);
    await visitor.goto('/sign-in');
    await visitor.text('Forgot your password? Ask the operator of this relay.');
    const link = visitor.page.getByRole('link', { name: 'the operator of this relay' });
    expect(await link.getAttribute('href')).toBe('mailto:ops@example.org');
    await visitor.context.close();
  });
});
