/**
 * The pages without a network, and with a new version: content stays, and a person is not interrupted (acceptance 19
 * and 26).
 */
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { connectDaemon } from '@relay/testing';
import { describeWith } from '@relay/testing/needs';
import type { Browser } from 'playwright-core';
import {
  type BrowserRelay,
  type Person,
  eventually,
  everyLook,
  launchBrowser,
  newPerson,
  registeredDevice,
  startBrowserRelay,
  untilKept,
} from './browser.ts';
import { type TranscriptDaemon, connectTranscriptDaemon, item, put } from './transcript-daemon.ts';

const native = 'garden';

describeWith('chromium', 'the pages without a network', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  let person: Person;
  let daemon: TranscriptDaemon;
  let path = '';

  beforeAll(async () => {
    relay = await startBrowserRelay();
    browser = await launchBrowser();
    person = await newPerson(browser, relay.url, { serviceWorkers: 'allow', viewport: { width: 390, height: 844 } });
    await person.createAccount(relay.setupLink, 'ada@example.com');
    daemon = await connectTranscriptDaemon(relay.relay, await registeredDevice(person));
    await person.goto('/sessions/new');
    await person.page.getByLabel(/^What should/).fill('Water the garden');
    await person.click('Start session');
    const { task_id: taskId } = (await daemon.next('task_start')) as unknown as { task_id: string };
    daemon.event(taskId, 'SESSION_STARTED', { session_id: native });
    await person.page.waitForURL(`**%3A${native}`);
    path = new URL(person.page.url()).pathname;
    daemon.say(taskId, native, [
      put(item('u1', 1, { kind: 'user' }, 'Water the garden')),
      put(item('a1', 2, { kind: 'text' }, 'The roses have water.')),
    ]);
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'The roses have water.' });
    await person.text('The roses have water.');
  });
  afterAll(async () => {
    await browser?.close();
    await daemon?.drop();
    await relay?.end();
  });
  afterEach(() => expect(person.complaints).toEqual([]));

  const controlled = () =>
    person.page.evaluate(`navigator.serviceWorker.ready.then(() => navigator.serviceWorker.controller ? undefined
      : new Promise((resolve) => navigator.serviceWorker.addEventListener('controllerchange', resolve, { once: true })))`);
  const kept = () => person.page.evaluate<string[]>(`indexedDB.databases().then((all) => all.map(({ name }) => name))`);

  it('W3: keep their content, in a tab too, and show it without a network', async () => {
    await person.goto(path);
    await person.text('The roses have water.');
    await controlled();
    expect(await untilKept(person.page, 'relay-last', 'conversations', 'The roses have water.')).toBe(1);

    await person.context.setOffline(true);
    /** Changes the list that this browser keeps; `change` is a script with the variable `list`. */
    const changeKept = (change: string) =>
      person.page.evaluate(`new Promise((resolve, reject) => {
        const request = indexedDB.open('relay-last');
        request.onsuccess = () => {
          const tx = request.result.transaction('list', 'readwrite');
          const store = tx.objectStore('list');
          store.get('list').onsuccess = ({ target: { result: list } }) => { ${change}; store.put(list, 'list'); };
          tx.oncomplete = () => resolve(request.result.close());
          tx.onerror = () => reject(tx.error);
        };
      })`);
    await person.goto('/sessions');
    await person.text(/You’re offline\. This is what was read here, as of \d+:\d\d/);
    // Saved months ago, with a session without a name.
    await changeKept(`list.at = '2026-01-05T10:31:00Z';
      list.sessions.push({ ...list.sessions[0], id: 'unnamed', title: '', lastMessage: 'See **the roses**.' })`);
    await person.goto('/sessions');
    await person.text(/as of Jan 5, 2026, /);
    await person.page.getByRole('link', { name: /^New session\s*See the roses\./ }).waitFor();
    await everyLook(person, 'offline-list-old');
    await changeKept(`list.sessions = list.sessions.slice(0, 0)`);
    await person.goto('/sessions');
    await person.text('There were no sessions.');
    await changeKept(
      `list.sessions = [{ id: '${decodeURIComponent(path.split('/').at(-1)!)}', title: 'Water the garden', lastMessage: '', updatedAt: '' }]`,
    );
    await person.goto('/sessions');
    await everyLook(person, 'offline-list');
    await person.page.setViewportSize({ width: 390, height: 844 });
    await person.page.getByRole('link', { name: /Water the garden/ }).click();
    await person.text('The roses have water.');
    await person.text(/You’re offline/);
    await everyLook(person, 'offline-session');
    await person.page.setViewportSize({ width: 390, height: 844 });
    // The first requests fail, as they do before names can be resolved again.
    await person.context.route('**/oauth2/authorize?**', (route) => route.abort('internetdisconnected'), { times: 2 });
    const seen: string[] = [];
    const see = (what: string) => void seen.push(`${new Date().toISOString()} ${what}`);
    person.page.on('request', (one) => see(`asks ${one.url()}`));
    person.page.on('requestfailed', (one) => see(`failed ${one.url()}: ${one.failure()?.errorText}`));
    person.page.on('response', (one) => see(`got ${one.status()} ${one.url()}`));
    see('there is a network');
    await person.context.setOffline(false);
    // Chromium 150 does not send this event itself for an emulated network; 156 does.
    await person.page.evaluate(`dispatchEvent(new Event('online'))`);
    // Happens by itself, as soon as there is a network.
    const gone = person.page.getByText(/You’re offline/).waitFor({ state: 'detached' });
    await gone.catch(async (error: unknown) => {
      see(`the page says ${await person.page.evaluate<string>('`${navigator.onLine} ${document.visibilityState}`')}`);
      throw new Error(`the page did not come back\n${seen.join('\n')}`, { cause: error });
    });
    await person.text('The roses have water.');
  });

  it('ask again when a machine reconnects before the relay has reported it offline', async () => {
    await daemon.drop();
    await person.goto(path);
    await person.text('The roses have water.');
    await person.text(/As of \d/);
    expect(await person.page.locator('.bar .where').innerText()).toMatch(/ · offline/);
    expect(await person.page.locator('.bar .dot.off').count()).toBe(1);
    daemon = await connectTranscriptDaemon(relay.relay, daemon.registration);
    daemon.keep(native, [
      put(item('u1', 1, { kind: 'user' }, 'Water the garden')),
      put(item('a1', 2, { kind: 'text' }, 'The roses have water.')),
      put(item('a2', 3, { kind: 'text' }, 'The tulips have water.')),
    ]);
    await person.page.getByText(/As of \d/).waitFor({ state: 'detached' });
    await person.text('The tulips have water.');
    await person.page.locator('.bar .dot.off').waitFor({ state: 'detached' });
  });

  it('load older messages again once the machine is online', async () => {
    const lines = Array.from({ length: 70 }, (_, index) => ({
      uuid: `m${index + 1}`,
      role: 'AGENT',
      content: `Line ${index + 1}.`,
      timestamp: new Date(Date.UTC(2026, 10, 20, 10, index)).toISOString(),
    }));
    const registration = await registeredDevice(person, 'Old laptop');
    /** Connects a daemon without transcripts. */
    const connect = async () => {
      const old = await connectDaemon(relay.relay, {
        registration,
        hello: [
          { type: 'status', running_tasks: [] },
          { type: 'report_sessions', sessions: [{ session_id: 'old', title: 'On the old laptop' }] },
        ],
      });
      old.socket.on('message', (data: Buffer) => {
        const frame = JSON.parse(data.toString('utf8')) as Record<string, unknown>;
        if (frame.type !== 'get_messages') return;
        const end = lines.findIndex(({ uuid }) => uuid === frame.before_uuid);
        const before = lines.slice(0, end === -1 ? lines.length : end);
        const messages = before.slice(-Number(frame.limit));
        const { request_id, session_id } = frame;
        old.send({ type: 'messages', request_id, session_id, messages, has_more: messages.length < before.length });
      });
      return old;
    };
    let old = await connect();
    await person.goto('/sessions');
    await person.page.getByRole('link', { name: /On the old laptop/ }).click();
    await person.text('Line 70.');
    await untilKept(person.page, 'relay-last', 'conversations', 'Line 70.');
    await old.drop();
    await person.page.reload();
    await person.text(/As of \d/);
    // The relay has reported it offline.
    await person.text(/^Old laptop is offline/);
    lines.push({ ...lines[69]!, uuid: 'm71', content: 'Line 71.' });
    old = await connect();
    await person.text('Line 71.');
    const first = person.page.getByText('Line 1.', { exact: true });
    const isAtTop = async () => {
      await person.page.evaluate(`document.querySelector('.conv .log').scrollTop = 0`);
      return first.isVisible();
    };
    expect(await eventually(isAtTop, Boolean)).toBe(true);
    await old.drop();
  });

  it('show their content while the machine is offline, and since when', async () => {
    await daemon.drop();
    await person.goto(path);
    await person.text('The roses have water.');
    await person.text(/As of \d/);
    await person.text(/offline/);
    await everyLook(person, 'machine-offline');
    await person.page.setViewportSize({ width: 390, height: 844 });
  });

  it('apply a new version only on request, and not while the person types', async () => {
    await person.goto('/sessions/new');
    const field = person.page.getByLabel(/^What should/);
    await field.fill('A half-written thought');
    await person.page.evaluate(`window.mark = 'this page'`);
    // A script can come from the pages' own policy only, so another document of the relay, without that policy,
    // installs the version.
    const beside = await person.context.newPage();
    await beside.goto(`${relay.url}/health`);
    await beside.evaluate(`navigator.serviceWorker.register('/sw.js?next')
      .then((registration) => new Promise((resolve) => {
        const look = () => registration.waiting ? resolve() : setTimeout(look, 50);
        look();
      }))`);
    await beside.close();
    const toast = person.page.getByText('A new version of Relay is ready.');
    expect(await toast.count()).toBe(0);
    await field.fill('');
    await toast.waitFor();
    expect(await person.page.evaluate<string>('window.mark')).toBe('this page');
    await everyLook(person, 'new-version');
    await person.page.setViewportSize({ width: 390, height: 844 });
    const loaded = person.page.waitForEvent('load');
    await person.click('Reload');
    await loaded;
    expect(await person.page.evaluate<string | undefined>('window.mark')).toBeUndefined();
  });

  it('delete their content at sign-out', async () => {
    await person.goto('/account');
    expect(await kept()).toContain('relay-last');
    await person.click('Sign out');
    await person.heading('Sign in');
    expect(await eventually(kept, (names) => !names.includes('relay-last'))).not.toContain('relay-last');
  });
});
