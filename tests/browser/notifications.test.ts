/**
 * Notifications in a real browser. Chromium reaches no push service here, so a subscription with our own keys replaces
 * the real one; the test opens the sealed message with them and passes it to the service worker, as the browser would
 * do.
 */
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import {
  type Frame,
  type PushReceiver,
  type TestDaemon,
  connectDaemon,
  openPushKeys,
  send,
  startPushReceiver,
} from '@relay/testing';
import type { Browser, CDPSession } from 'playwright-core';
import {
  type BrowserRelay,
  type Person,
  eventually,
  everyLook,
  launchBrowser,
  newPerson,
  password,
  registeredDevice,
  startBrowserRelay,
} from './browser.ts';

describeWith('chromium', 'notifications', () => {
  let relay: BrowserRelay;
  let receiver: PushReceiver;
  let browser: Browser;
  let person: Person;
  let daemon: TestDaemon;
  let worker: CDPSession;
  let registrationId = '';
  const keys = openPushKeys();

  beforeAll(async () => {
    receiver = await startPushReceiver();
    relay = await startBrowserRelay({ PUSH_ALLOWED_HOSTS: receiver.host });
    browser = await launchBrowser();
    person = await newPerson(browser, relay.url, { serviceWorkers: 'allow', viewport: { width: 390, height: 844 } });
    await person.context.grantPermissions(['notifications'], { origin: relay.url });
    await person.context.addInitScript(`
      const bytes = (text) =>
        Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0)).buffer;
      const kept = 'test.subscription';
      const made = (key) => ({
        endpoint: '${receiver.url}/push' + (localStorage.getItem('test.moved') ?? ''),
        options: { applicationServerKey: bytes(key) },
        getKey: (name) => bytes(name === 'auth' ? '${keys.keys.auth}' : '${keys.keys.p256dh}'),
        unsubscribe: async () => localStorage.removeItem(kept) ?? true,
      });
      PushManager.prototype.getSubscription = async () => {
        const key = localStorage.getItem(kept);
        return key === null ? null : made(key);
      };
      PushManager.prototype.subscribe = async ({ applicationServerKey }) => {
        localStorage.setItem(kept, btoa(String.fromCharCode(...applicationServerKey)));
        return made(localStorage.getItem(kept));
      };
    `);
    worker = await person.context.newCDPSession(person.page);
    worker.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      for (const one of registrations) if (!one.isDeleted) registrationId = one.registrationId;
    });
    await worker.send('ServiceWorker.enable');
    await person.createAccount(relay.setupLink, 'ada@example.com');
    daemon = await connectDaemon(relay.relay, { registration: await registeredDevice(person) });
    // Answers with an empty history. Otherwise a note about the machine would cover the offer.
    daemon.socket.on('message', (data: Buffer) => {
      const { type, request_id } = JSON.parse(data.toString()) as Frame;
      if (type === 'get_messages') daemon.send({ type: 'messages', request_id, messages: [], has_more: false });
    });
  });
  afterAll(async () => {
    await browser?.close();
    await daemon?.drop();
    await relay?.end();
    await receiver?.close();
  });
  afterEach(() => expect(person.complaints).toEqual([]));

  const card = (name: string) => person.page.getByRole('listitem').filter({ hasText: name });

  it('can be added for a phone with ntfy, tested, paused and removed', async () => {
    await person.goto('/account');
    await person.page.getByRole('link', { name: /Notifications/ }).click();
    await person.heading('Notifications');
    await person.page.getByLabel('Topic').fill('garden-x7k2');
    await person.page.getByLabel('Server').fill(receiver.url);
    await person.page.getByLabel('Name', { exact: true }).fill('My phone');
    await person.click('Add');
    await card('My phone').getByText('On', { exact: true }).waitFor();
    await card('My phone')
      .getByRole('button', { name: /Send a test/ })
      .click();
    await card('My phone').getByText('The test was delivered.').waitFor();
    expect(JSON.parse(receiver.at('/')[0]!.body.toString())).toMatchObject({ topic: 'garden-x7k2' });
    receiver.answer = (response) => void response.writeHead(403).end();
    await card('My phone')
      .getByRole('button', { name: /Send a test/ })
      .click();
    await card('My phone').getByText('The test was not delivered. The service answered 403.').waitFor();
    await card('My phone').getByText('Paused', { exact: true }).waitFor();
    receiver.answer = (response) => void response.end('{}');
    await card('My phone')
      .getByRole('button', { name: /Resume/ })
      .click();
    await card('My phone').getByText('On', { exact: true }).waitFor();
    await everyLook(person, 'notifications');
    await person.page.setViewportSize({ width: 390, height: 844 });
    await card('My phone')
      .getByRole('button', { name: /Remove/ })
      .click();
    await person.page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await person.page.getByRole('heading', { name: 'Where you are notified' }).waitFor({ state: 'detached' });
  });

  it('refuse an address that the relay must not reach, with a sentence', async () => {
    await person.page.getByLabel('Webhook, for programs').check();
    await person.page.getByRole('textbox', { name: 'Address' }).fill('http://127.0.0.1:6379/');
    await person.click('Add');
    await person.text('Relay cannot notify this address.');
  });

  it('reach this browser without an open page, and a tap opens the session', async () => {
    await person.goto('/notifications');
    await person.click('Turn on notifications');
    await person.text('Notifications are on in this browser.');
    await person.goto('/notifications');
    await person.text('Notifications are on in this browser.');
    expect(registrationId).not.toBe('');

    await person.goto('/sessions/new');
    await person.page.getByLabel(/^What should/).fill('Water the garden');
    await person.click('Start session');
    const { task_id: taskId } = (await daemon.next('task_start')) as unknown as { task_id: string };
    // The page watches sessions that it starts.
    await person.page.getByRole('button', { name: 'Notifications of this session: As in Settings' }).waitFor();
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'garden' });
    await person.page.waitForURL('**%3Agarden');
    await everyLook(person, 'bell');
    await person.page.goto('about:blank');

    daemon.event(taskId, 'WAIT_FOR_USER', { prompt: 'May I pull the weeds?' });
    const [push] = await eventually(
      () => receiver.at('/push'),
      (all) => all.length > 0,
    );
    const text = keys.read(push!.body) as { notification: { title: string; navigate: string } };
    expect(text.notification.title).toBe('An agent needs you');

    await worker.send('ServiceWorker.deliverPushMessage', {
      ...{ origin: relay.url, registrationId, data: JSON.stringify(text) },
    });
    await person.goto('/sessions');
    // From here on, the page receives taps.
    await person.heading('Sessions');
    const notifications = () =>
      person.page.evaluate<{ title: string; body: string; data: object }[]>(`
        navigator.serviceWorker.ready
          .then((ready) => ready.getNotifications())
          .then((all) => all.map(({ title, body, data }) => ({ title, body, data })))`);
    const [shown] = await eventually(notifications, (all) => all.length > 0);
    expect(shown).toMatchObject({
      title: 'An agent needs you',
      data: { cause: 'needs_you', navigate: text.notification.navigate },
    });
    expect(shown!.body).toContain('May I pull the weeds?');

    // Dispatches a tap in the service worker. Chromium focuses no window without a user gesture, so the test replaces
    // that method.
    const [serving] = person.context.serviceWorkers();
    const tap = `dispatchEvent(new NotificationEvent('notificationclick', { notification: tapped }))`;
    await serving!.evaluate(`(async () => {
      WindowClient.prototype.focus = async function () { return this; };
      [self.tapped] = await registration.getNotifications();
      ${tap};
    })()`);
    await person.page.waitForURL(text.notification.navigate);

    // A page that is still loading does not listen to taps.
    await person.page.addInitScript(`
      if (location.hash === '#loading')
        navigator.serviceWorker.addEventListener('message', (event) => event.stopImmediatePropagation());`);
    await person.goto('/sessions#loading');
    await serving!.evaluate(tap);
    await person.page.waitForURL(text.notification.navigate);

    // The documents ignore it, so the session gets a new window.
    await person.goto('/docs/');
    const opened = await serving!.evaluate<string>(`new Promise((resolve) => {
      clients.openWindow = async (address) => resolve(address);
      ${tap};
    })`);
    expect(opened).toBe(text.notification.navigate);
  });

  it('leave the screen when a page is opened and their session no longer waits', async () => {
    const names = () =>
      person.page.evaluate<string[]>(`navigator.serviceWorker.ready
        .then((ready) => ready.getNotifications())
        .then((all) => all.map(({ title }) => title).sort())`);
    await person.goto('/sessions');
    const show = (name: string, sessionId: string) =>
      person.page.evaluate(`navigator.serviceWorker.ready.then((ready) => ready.showNotification('${name}', {
        tag: '${name}', data: { cause: 'needs_you', sessionId: '${sessionId}', version: 1, navigate: '${relay.url}/sessions/one' },
      }))`);
    await show('An agent needs you', `${daemon.deviceId}:scripted:garden`);
    await show('An agent needed you', 'another');
    await person.goto('/devices');
    expect(await eventually(names, (all) => all.length === 1)).toEqual(['An agent needs you']);
  });

  it('are offered after the first answer, and never again after a No', async () => {
    const other = await newPerson(browser, relay.url, { viewport: { width: 390, height: 844 } });
    await other.goto('/sign-in');
    await other.signIn('ada@example.com');
    const path = `/sessions/${encodeURIComponent(`${daemon.deviceId}:scripted:garden`)}`;
    await other.page.getByText('Water the garden').filter({ visible: true }).first().waitFor();
    await other.goto(path);
    await other.page.waitForLoadState('networkidle');
    await other.page.getByLabel('Message', { exact: true }).fill('Yes');
    await other.page.keyboard.press('Enter');
    const { task_id: taskId } = await daemon.next('task_resume', ({ message }) => message === 'Yes');
    daemon.event(taskId as string, 'TASK_COMPLETE', { result: 'The weeds are gone.', session_id: 'garden' });
    await other.text('The weeds are gone.');
    await other.text('Get notified here');
    await everyLook(other, 'offer');
    await other.page.setViewportSize({ width: 390, height: 844 });
    await other.click('Not now');
    const offer = other.page.getByText('Get notified here');
    await offer.waitFor({ state: 'detached' });
    await other.goto(path);
    await other.heading('Water the garden');
    expect(await offer.count()).toBe(0);
    expect(other.complaints).toEqual([]);
    await other.context.close();
  });

  it('can be chosen by cause, for all addresses and for one, and held in quiet hours', async () => {
    await person.goto('/notifications');
    await person.page.getByLabel('An agent is done').first().selectOption('All sessions');
    await person.page.getByLabel(/^Mute notifications/).check();
    await person.page.getByLabel('From').fill('21:30');
    await person.page.getByLabel('Time zone').fill('Mars/Olympus');
    await person.click('Save');
    await person.text('IANA');
    await person.page.getByLabel('Time zone').fill('Europe/Berlin');
    await person.click('Save');
    await person.text('Saved.');
    const headers = { Authorization: person.bearer };
    const { body } = await send('GET', `${relay.url}/api/notification-settings`, { headers });
    expect(body).toMatchObject({
      ...{ causes: { done: 'all', needs_you: 'all' }, quietHours: { start: '21:30', timeZone: 'Europe/Berlin' } },
    });
    await person.page.getByText('More settings').click();
    await person.page.getByLabel('Wait').selectOption('Only if still open after 5 minutes');
    await everyLook(person, 'notification-settings');
    await person.page.setViewportSize({ width: 390, height: 844 });
  });

  it('have a history with their outcome at each address', async () => {
    await person.page.getByRole('link', { name: 'History' }).click();
    await person.heading('History');
    await card('An agent needed you').first().getByText('Delivered').waitFor();
    await everyLook(person, 'notification-history');
    await person.page.setViewportSize({ width: 390, height: 844 });
  });

  it('can be turned off for one session in its bell', async () => {
    await person.goto(`/sessions/${encodeURIComponent(`${daemon.deviceId}:scripted:garden`)}`);
    await person.page.getByRole('button', { name: /^Notifications of this session/ }).click();
    await everyLook(person, 'bell-menu');
    await person.page.setViewportSize({ width: 390, height: 844 });
    await person.page.getByRole('button', { name: /^Off/ }).click();
    await person.page.getByRole('button', { name: 'Notifications of this session: Off' }).waitFor();
  });

  it("keep the person's choice in this browser after a new password and after another endpoint", async () => {
    type Address = { id: string; delaySeconds?: number };
    const addresses = async () => {
      const headers = { Authorization: person.bearer };
      const { body } = await send('GET', `${relay.url}/api/push/subscriptions`, { headers });
      return (body as { subscriptions?: Address[] }).subscriptions ?? [];
    };
    const another = async (before: Address): Promise<Address> => {
      const isOther = (all: Address[]) => all.length === 1 && all[0]!.id !== before.id;
      const all = await eventually(addresses, isOther);
      const [one] = all;
      if (!one || !isOther(all)) throw new Error('this browser has no other address');
      // The page stores the id after the answer; a page that leaves before has no address to renew.
      const stored = () => person.page.evaluate<string | null>(`localStorage.getItem('relay.push')`);
      expect(await eventually(stored, (id) => id === one.id)).toBe(one.id);
      return one;
    };
    const [first] = await addresses();
    const headers = { Authorization: person.bearer };
    await send('PATCH', `${relay.url}/api/push/subscriptions/${first!.id}`, { headers, body: { delaySeconds: 300 } });
    await person.goto('/account');
    await person.page.getByLabel('Current password').fill(password);
    await person.page.getByLabel('New password').fill(`${password} staple`);
    await person.click('Change password');
    const second = await another(first!);
    expect(second).toMatchObject({ delaySeconds: 300 });
    await person.page.evaluate(`localStorage.setItem('test.moved', '/elsewhere')`);
    await person.goto(`/sessions/${encodeURIComponent(`${daemon.deviceId}:scripted:garden`)}`);
    expect(await another(second)).toMatchObject({ delaySeconds: 300 });
  });

  it('can be turned off, and the relay forgets this browser', async () => {
    await person.goto('/notifications');
    await person.click('Turn off');
    await person.page.getByRole('button', { name: 'Turn on notifications' }).waitFor();
    const headers = { Authorization: person.bearer };
    const { body } = await send('GET', `${relay.url}/api/push/subscriptions`, { headers });
    expect(body).toEqual({ subscriptions: [] });
  });

  it('stop after the sign-out', async () => {
    await person.click('Turn on notifications');
    await person.text('Notifications are on in this browser.');
    await person.goto('/account');
    await person.click('Sign out');
    await person.heading('Sign in');
    const left = async () => person.page.evaluate<string | null>(`localStorage.getItem('test.subscription')`);
    expect(await eventually(left, (kept) => kept === null)).toBeNull();
  });
});
