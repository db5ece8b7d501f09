/**
 * Every page, in light and dark, on a phone and on a desk: axe finds no serious fault, the policy refuses nothing, and
 * nothing is wider than the screen. The pictures are for people.
 */
import { describeWith } from '@relay/testing/needs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestDaemon, connectDaemon, send } from '@relay/testing';
import type { Browser } from 'playwright-core';
import {
  type BrowserRelay,
  type Person,
  askForCode,
  launchBrowser,
  newPerson,
  phone,
  registeredDevice,
  startBrowserRelay,
  axeFindings,
} from './browser.ts';

const looks = [
  { name: 'light-phone', options: { viewport: phone, colorScheme: 'light' } },
  { name: 'dark-desk', options: { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' } },
] as const;

describeWith('chromium', 'every page', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  let daemon: TestDaemon;
  let sessionId: string;
  let deviceId: string;
  let state: Awaited<ReturnType<Person['context']['storageState']>>;
  let userCode: string;

  beforeAll(async () => {
    relay = await startBrowserRelay();
    browser = await launchBrowser();
    const person = await newPerson(browser, relay.url);
    await person.createAccount(relay.setupLink, 'ada@example.com');
    const registration = await registeredDevice(person);
    ({ deviceId } = registration);
    daemon = await connectDaemon(relay.relay, { registration });
    const started = await send('POST', `${relay.url}/api/sessions`, {
      headers: { Authorization: person.bearer },
      body: { deviceId, message: 'Plan a trip' },
    });
    expect(started.status).toBe(201);
    const { task_id: taskId } = await daemon.next('task_start');
    daemon.event(taskId as string, 'SESSION_STARTED', { session_id: 'native' });
    daemon.event(taskId as string, 'WAIT_FOR_USER', {
      prompt: 'Which time zone?',
      result: 'I need to know:\n```\nTZ=?\n```',
      options: [{ label: 'Europe/Paris' }, { label: 'Asia/Tokyo' }],
    });
    sessionId = `${deviceId}:scripted:native`;
    // Answers a history request with one message.
    daemon.socket.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString('utf8')) as { type: string; request_id: string };
      if (frame.type !== 'get_messages') return;
      const message = { uuid: 'm1', role: 'AGENT', content: 'TZ=?', timestamp: '2026-11-20T10:00:00.000Z' };
      daemon.send({
        type: 'messages',
        request_id: frame.request_id,
        session_id: 'native',
        messages: [message],
        has_more: false,
        oldest_uuid: 'm1',
        newest_uuid: 'm1',
      });
    });
    ({ userCode } = await askForCode(relay.url, 'attic.lan', 'Attic'));
    state = await person.context.storageState();
    await person.context.close();
  });
  afterAll(async () => {
    await browser?.close();
    await daemon?.drop();
    await relay?.end();
  });

  describe.each(looks)('in $name', ({ name: look, options }) => {
    let guest: Person;
    let member: Person;

    beforeAll(async () => {
      guest = await newPerson(browser, relay.url, options);
      member = await newPerson(browser, relay.url, { ...options, storageState: state });
    });
    afterAll(async () => {
      await guest?.context.close();
      await member?.context.close();
    });

    it.each([
      ['/sign-in', 'Sign in'],
      ['/setup#token=nothing', 'Create the first account'],
      ['/error?error=invalid_client', 'Sign-in didn’t work'],
      ['/consent?client_id=relay-cli', 'Allow access?'],
      ['/nothing/here', 'Page not found'],
    ])('%s passes for guests', async (path, heading) => {
      await check(guest, path, heading, `${path} for everybody-${look}`);
    });

    it.each([
      ['/devices', 'Machines', () => '/devices'],
      ['/devices/new', /^Connect (a|your first) machine/, () => '/devices/new'],
      ['/devices/:id', 'My laptop', () => `/devices/${deviceId}`],
      ['/device', 'Connect a machine', () => '/device'],
      ['/device with a code', 'Connect a machine', () => `/device?user_code=${userCode}`],
      ['/sessions', 'Sessions', () => '/sessions'],
      ['/sessions/new', 'New session', () => '/sessions/new'],
      ['/sessions/:id', 'Plan a trip', () => `/sessions/${encodeURIComponent(sessionId)}`],
      ['/applications', 'Apps', () => '/applications'],
      ['/activity', 'Activity', () => '/activity'],
      ['/account', 'Settings', () => '/account'],
      ['/notifications', 'Notifications', () => '/notifications'],
      ['/notifications/history', 'History', () => '/notifications/history'],
      ['/nothing', 'Page not found', () => '/nothing'],
    ])('%s passes for signed-in people', async (name, heading, path) => {
      await check(member, path(), heading, `${name}-${look}`);
    });
  });

  async function check(person: Person, path: string, heading: string | RegExp, name: string): Promise<void> {
    // The relay and the page know the same addresses.
    expect(await person.goto(path)).toBe(heading === 'Page not found' ? 404 : 200);
    await person.heading(heading);
    // Waits until the page has loaded; this one page waits on purpose.
    if (path !== '/devices/new') await person.page.locator('p.waiting').first().waitFor({ state: 'detached' });
    await person.picture(`page${name.replaceAll(/[^a-z]+/gi, '-')}`);
    expect(await axeFindings(person)).toEqual([]);
    expect(await person.page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await person.page.evaluate(`document.querySelectorAll('h1').length`)).toBe(1);
    const shown = await person.page.locator('h1').textContent();
    // The title starts with the number of sessions that need the person.
    expect((await person.page.title()).replace(/^\(\d+\) /, '')).toBe(
      path === '/sessions' ? 'Relay' : `${shown} · Relay`,
    );
    expect(person.complaints).toEqual([]);
  }

  it('comes with a policy that forbids foreign and inline code', async () => {
    const { headers } = await send('GET', `${relay.url}/devices`, { headers: { Accept: 'text/html' } });
    const policy = headers['content-security-policy'] ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("style-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    expect(headers['referrer-policy']).toBe('no-referrer');
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['cross-origin-opener-policy']).toBe('same-origin');
  });

  it('reports refusals of the policy, so the other tests can fail', async () => {
    const person = await newPerson(browser, relay.url);
    await person.goto('/sign-in');
    const reported = person.page.waitForEvent('console');
    await person.page.evaluate(
      `document.body.append(Object.assign(new Image(), { src: 'https://elsewhere.example/x.png' }))`,
    );
    await reported;
    expect(person.complaints.join()).toContain('Content Security Policy');
    await person.context.close();
  });
});
