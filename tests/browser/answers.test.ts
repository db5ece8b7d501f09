/** A person answers a question on its notification without an open page, and other pages show where. */
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import { type PushReceiver, send, startPushReceiver } from '@relay/testing';
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
} from './browser.ts';
import { type PushedBrowser, pushedBrowser } from './pushed.ts';
import { type TranscriptDaemon, connectTranscriptDaemon, item, put, set } from './transcript-daemon.ts';

const native = 'garden';

describeWith('chromium', 'answers on a notification', () => {
  let relay: BrowserRelay;
  let receiver: PushReceiver;
  let browser: Browser;
  let phone: Person;
  let desk: Person;
  let pushed: PushedBrowser;
  let daemon: TranscriptDaemon;
  let sessionId = '';
  let seq = 0;

  beforeAll(async () => {
    receiver = await startPushReceiver();
    relay = await startBrowserRelay({ PUSH_ALLOWED_HOSTS: receiver.host });
    browser = await launchBrowser();
    phone = await newPerson(browser, relay.url, { serviceWorkers: 'allow', viewport: { width: 390, height: 844 } });
    pushed = await pushedBrowser(phone, receiver, '/push');
    await phone.createAccount(relay.setupLink, 'ada@example.com');
    daemon = await connectTranscriptDaemon(relay.relay, await registeredDevice(phone));
    desk = await newPerson(browser, relay.url, { viewport: { width: 1360, height: 860 } });
    await desk.goto('/sign-in');
    await desk.signIn('ada@example.com');
    await desk.heading('Sessions');
  });
  afterAll(async () => {
    await browser?.close();
    await daemon?.drop();
    await relay?.end();
    await receiver?.close();
  });
  afterEach(() => expect([phone.complaints, desk.complaints]).toEqual([[], []]));

  const until = async (isSo: () => boolean | Promise<boolean>) => expect(await eventually(isSo, Boolean)).toBe(true);
  /** The agent asks, and its notification appears on the phone without an open page. */
  const ask = async (taskId: string, uuid: string, title: string) => {
    const question = {
      ...{ uuid, title, kind: 'permission' },
      options: [
        { id: 'yes', label: 'Allow', kind: 'allow_once' },
        { id: 'no', label: 'Reject', kind: 'reject_once' },
      ],
      subject: { type: 'command', command: 'rm weeds' },
    };
    const before = pushed.messages().length;
    daemon.say(taskId, native, [put(item(uuid, (seq += 1), { kind: 'question', question, state: 'open' }, title))]);
    daemon.event(taskId, 'WAIT_FOR_USER', { prompt: title, question });
    await until(() => pushed.messages().length > before);
    await pushed.deliver(pushed.messages().at(-1)!);
    await until(async () => (await pushed.shown()).some(({ body }) => body.includes(title)));
  };

  it('are a choice for each browser, with a note about locked screens', async () => {
    await phone.goto('/notifications');
    await phone.click('Turn on notifications');
    await phone.text('Notifications are on in this browser.');
    await phone.page.getByLabel('Reject', { exact: true }).and(phone.page.locator(':checked')).waitFor();
    await phone.text(/even while it is locked/);
    await phone.page.getByLabel(/^Allow once, Reject and Reply/).check();
    const headers = { Authorization: phone.bearer };
    await until(async () => {
      const { body } = await send('GET', `${relay.url}/api/push/subscriptions`, { headers });
      return (body as { subscriptions: { actions: string }[] }).subscriptions[0]?.actions === 'all';
    });
    await everyLook(phone, 'answers');
    await phone.page.setViewportSize({ width: 390, height: 844 });
  });

  it('reach the agent without an open page, and the other tab shows where', async () => {
    await phone.goto('/sessions/new');
    await phone.page.getByLabel(/^What should/).fill('Water the garden');
    await phone.click('Start session');
    const { task_id: taskId } = (await daemon.next('task_start')) as unknown as { task_id: string };
    daemon.event(taskId, 'SESSION_STARTED', { session_id: native });
    await phone.page.waitForURL(`**%3A${native}`);
    sessionId = decodeURIComponent(phone.page.url().split('/').at(-1)!);
    await desk.goto(`/sessions/${encodeURIComponent(sessionId)}`);
    await phone.page.goto('about:blank');

    await ask(taskId, 'q1', 'May I pull the weeds?');
    expect(await pushed.shown()).toMatchObject([{ title: 'An agent needs you', actions: ['allow', 'reject'] }]);
    expect((await pushed.shown())[0]!.body).toBe('Water the garden\nMay I pull the weeds?\n$ rm weeds');
    await desk.text('May I pull the weeds?');
    await pushed.tap('reject');
    const answer = (await daemon.next('task_resume')) as Record<string, string>;
    expect(answer).toMatchObject({ prompt_uuid: 'q1', option_id: 'no', answered_on: 'Chrome on Linux' });
    await until(async () => (await pushed.shown()).some(({ body }) => body === 'Rejected.'));
    expect(await pushed.shown()).toMatchObject([{ title: 'Water the garden', actions: [] }]);

    const given = { option: 'no', text: 'Reject', at: new Date().toISOString(), by: answer['answered_on']! };
    daemon.say(answer['task_id']!, native, [set('q1', { state: 'answered', answer: given })]);
    await desk.text(/on Chrome on Linux/);
    await desk.picture('answered-elsewhere');
    await ask(answer['task_id']!, 'q2', 'May I pull the nettles?');
  });

  it('that come too late show the earlier answer, and reach no agent', async () => {
    const path = `/api/sessions/${encodeURIComponent(sessionId)}/prompts/q2/answer`;
    const headers = { Authorization: desk.bearer };
    expect((await send('POST', `${relay.url}${path}`, { headers, body: { option: 'yes' } })).status).toBe(202);
    const { task_id: taskId } = (await daemon.next('task_resume')) as Record<string, string>;
    await pushed.tap('reject');
    await until(async () => (await pushed.shown()).some(({ body }) => body.startsWith('Already answered: Allow')));
    // A frame with the late answer would have arrived before this question.
    await ask(taskId!, 'q3', 'May I water the rest?');
    expect(daemon.inbox.count('task_resume')).toBe(2);
  });

  it('are refused after a sign-out in any browser', async () => {
    await desk.goto('/account');
    await desk.click('Sign out everywhere');
    await desk.page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();
    await desk.heading('Sign in');
    await pushed.tap('allow');
    await until(async () => (await pushed.shown()).some(({ body }) => body.startsWith('This browser is signed out.')));
    const ended = desk.bearer;
    await desk.signIn('ada@example.com');
    // Waits until the page has a new token. A token from the second of the sign-out counts as revoked too: then the
    // page gets another one.
    await until(() => desk.bearer !== ended);
    const listed = () =>
      send('GET', `${relay.url}/api/push/subscriptions`, { headers: { Authorization: desk.bearer } });
    await until(async () => (await listed()).status === 200);
    expect((await listed()).body).toEqual({ subscriptions: [] });
    expect(daemon.inbox.count('task_resume')).toBe(2);
  });
});
