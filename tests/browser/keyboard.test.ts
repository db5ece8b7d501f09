/** Everything by keyboard, and the palette: a person without a mouse loses neither the way nor the focus. */
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import { type Registration, type TestDaemon, connectDaemon, send } from '@relay/testing';
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
  axeFindings,
} from './browser.ts';

describeWith('chromium', 'the keyboard', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  let person: Person;
  let registration: Registration;
  let daemon: TestDaemon;

  const entry = (session_id: string, title: string, project: string, last_message: string, minutes: number) => ({
    session_id,
    title,
    project,
    last_message,
    last_activity: new Date(Date.now() - minutes * 60_000).toISOString(),
  });

  beforeAll(async () => {
    relay = await startBrowserRelay();
    browser = await launchBrowser();
    person = await newPerson(browser, relay.url, { viewport: { width: 1360, height: 860 } });
    await person.createAccount(relay.setupLink, 'ada@example.com');
    registration = await registeredDevice(person, 'MacBook Pro');
    daemon = await connectDaemon(relay.relay, { registration, capabilities: ['prompts'] });
    daemon.send({
      type: 'report_sessions',
      sessions: [
        entry('flaky', 'Flaky test in queue.spec.ts', '/home/ada/code/garden-api', 'Running it 50 times', 4),
        entry('node24', 'Upgrade to Node 24', '/home/ada/code/garden-api', 'All tests pass', 22),
        entry('notes', 'Release notes for 2.4', '/home/ada/code/storefront', 'The queue now survives a restart', 900),
        entry('mail', 'Move the mail queue to Postgres', '/home/ada/code/storefront', 'Moved', 9000),
      ],
    });
    daemon.socket.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString('utf8')) as { type: string; request_id: string };
      if (frame.type !== 'get_messages') return;
      const messages = [{ uuid: 'm1', role: 'AGENT', content: 'I am here.', timestamp: '2026-11-20T10:00:00.000Z' }];
      daemon.send({ type: 'messages', request_id: frame.request_id, messages, has_more: false });
    });
    await person.goto('/sessions');
    await person.text('Upgrade to Node 24');
    await person.page.waitForLoadState('networkidle');
  });
  afterAll(async () => {
    await browser?.close();
    await daemon?.drop();
    await relay?.end();
  });
  afterEach(async () => {
    expect(person.complaints.splice(0)).toEqual([]);
    await hasFocus();
  });

  const press = (...keys: readonly string[]) =>
    keys.reduce((before, key) => before.then(() => person.page.keyboard.press(key)), Promise.resolve());
  const focus = () =>
    person.page.evaluate<string>(
      `document.activeElement === document.body ? 'BODY' : (document.activeElement.querySelector('.t')?.innerText || document.activeElement.innerText || document.activeElement.getAttribute('aria-label') || document.activeElement.tagName).split('\\n')[0]`,
    );
  /** A page takes the focus after it has drawn its heading. */
  const focusIs = async (name: string) => expect(await eventually(focus, (now) => now === name)).toBe(name);
  const hasFocus = async () => expect(await eventually(focus, (now) => now !== 'BODY')).not.toBe('BODY');
  const palette = () => person.page.getByRole('dialog', { name: 'Go to' });
  const chosen = () => palette().getByRole('option', { selected: true }).locator('b').innerText();
  const openPalette = async () => {
    await press('Control+k');
    await palette().locator('input:focus').waitFor();
  };

  it('22: opens a session in four keys', async () => {
    await press('Control+k', 'u', 'p', 'Enter');
    await person.heading('Upgrade to Node 24');
    await focusIs('Upgrade to Node 24');
  });

  it('22: puts text typed while the palette loads slowly into its field, and nowhere else', async () => {
    const slow = await person.page.context().newPage();
    /** Holds back these requests until it is called. */
    const hold = async (address: RegExp) => {
      let release = (): void => undefined;
      const released = new Promise<void>((done) => (release = done));
      await slow.route(address, async (route) => {
        await released;
        await route.continue();
      });
      return release;
    };
    const [showPalette, showList] = [await hold(/\/assets\/(palette|help)-/), await hold(/\/api\/sessions\?/)];
    await slow.goto(`${relay.url}/sessions/new`);
    const composer = slow.getByLabel(/^What should/);
    await composer.focus();
    for (const key of [
      'Control+k',
      'x',
      'Escape',
      'y',
      'Control+k',
      'm',
      'u',
      'Backspace',
      'a',
      'i',
      'l',
      'Enter',
      'n',
    ]) {
      await slow.keyboard.press(key);
    }
    expect(await composer.inputValue()).toBe('y');
    showPalette();
    // Enter opens the first result, so it waits for the list.
    await slow.getByRole('dialog', { name: 'Go to' }).waitFor();
    showList();
    await slow.getByRole('heading', { level: 1, name: 'Move the mail queue to Postgres' }).waitFor();
    await slow.keyboard.press('Control+k');
    const field = slow.getByRole('dialog', { name: 'Go to' }).locator('input:focus');
    await field.waitFor();
    expect(await field.inputValue()).toBe('');
    await slow.close();
  });

  it('22: finds sessions, texts of messages, machines and pages, and starts a session with the text', async () => {
    await openPalette();
    await palette().getByRole('option', { name: /Flaky test/ }).waitFor(); // prettier-ignore
    await everyLook(person, 'palette-empty');
    await person.page.keyboard.type('queue');
    await palette().getByText('In messages').waitFor();
    const names = await palette().getByRole('option').locator('b').allInnerTexts();
    expect(names).toEqual([
      'Flaky test in queue.spec.ts',
      'Move the mail queue to Postgres',
      'Release notes for 2.4',
      'New session “queue”',
    ]);
    await everyLook(person, 'palette');
    expect(await axeFindings(person)).toEqual([]);
    expect(await chosen()).toBe('Flaky test in queue.spec.ts');
    await press('ArrowDown', 'ArrowDown');
    expect(await chosen()).toBe('Release notes for 2.4');
    await press('ArrowUp', 'ArrowUp', 'ArrowUp');
    expect(await chosen()).toBe('New session “queue”');
    await press('Escape');
    await palette().waitFor({ state: 'detached' });
    await focusIs('Upgrade to Node 24');
    await openPalette();
    await person.page.keyboard.type('macbook');
    await palette().getByRole('option', { name: /MacBook Pro/ }).last().waitFor(); // prettier-ignore
    await person.page.keyboard.press('Control+Enter');
    await person.heading('New session');
    expect(await person.page.getByLabel(/^What should/).inputValue()).toBe('macbook');
  });

  it('22: goes to every page, including the current one, without losing the focus', async () => {
    for (const [words, heading] of [
      ['sett', 'Settings'],
      ['apps', 'Apps'],
      ['machines', 'Machines'],
      ['machines', 'Machines'],
      ['connect', /^Connect/],
      ['sessions', 'Sessions'],
    ] as const) {
      await openPalette();
      await person.page.keyboard.type(words);
      // The answer of the relay can change the results, and with them the place of the page.
      await palette()
        .getByRole('status')
        .filter({ hasText: /result/ })
        .waitFor({ state: 'attached' });
      const page = palette().getByRole('group', { name: 'Pages and actions' }).getByRole('option').first();
      while ((await page.getAttribute('aria-selected')) !== 'true') await press('ArrowDown');
      await press('Enter');
      // The palette closes a moment later; the same keys would close it, too.
      await palette().waitFor({ state: 'detached' });
      await person.heading(heading);
      await hasFocus();
    }
  });

  it('22: lists the keys, and turns single-letter keys off', async () => {
    await press('?');
    const help = person.page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await help.waitFor();
    await everyLook(person, 'keyboard-help');
    await help.getByRole('checkbox').press('Space');
    await press('Escape');
    await help.waitFor({ state: 'detached' });
    await hasFocus();
    await press('n');
    await openPalette();
    await press('Escape');
    await palette().waitFor({ state: 'detached' });
    await person.heading('Sessions');
    await openPalette();
    await person.page.keyboard.type('keyboard');
    await palette().getByRole('option').first().waitFor();
    await press('Enter');
    await help.getByRole('checkbox').press('Space');
    await press('Escape');
    await press('g', 'm');
    await person.heading('Machines');
    await press('g', 's');
    await person.heading('Sessions');
    await press('n');
    await person.heading('New session');
    // In a field, a key types a letter. The field has the draft of another tab.
    await person.page.locator('textarea.big', { hasText: 'y' }).waitFor();
    await person.page.getByLabel(/^What should/).fill('');
    await person.page.keyboard.type('new jokes');
    expect(await person.page.getByLabel(/^What should/).inputValue()).toBe('new jokes');
  });

  it('22: moves through the list, opens, archives, and undoes that', async () => {
    await person.goto('/sessions');
    await person.text('Upgrade to Node 24');
    // The page has taken the focus, and does not take it from a row.
    await focusIs('Sessions');
    await press('j');
    await focusIs('Flaky test in queue.spec.ts');
    await press('j', 'j', 'k');
    await focusIs('Upgrade to Node 24');
    await press('Enter');
    await person.heading('Upgrade to Node 24');
    await press('j', 'k', 'e');
    await person.page.getByText(/^Archived “/).waitFor();
    await hasFocus();
    await person.page.getByRole('button', { name: 'Undo' }).press('Enter');
    await person.page.locator('.row', { hasText: 'Upgrade to Node 24' }).waitFor();
    await hasFocus();
    await press('/');
    await person.page.keyboard.type('mail');
    await person.page.getByText('1 session found').waitFor({ state: 'attached' });
    await press('ArrowDown');
    await focusIs('Move the mail queue to Postgres');
    await press('Enter');
    await person.heading('Move the mail queue to Postgres');
  });

  it('22: keeps the focus after a menu, a rename, a stop and an answer', async () => {
    const more = person.page.locator('.bar').getByRole('button', { name: 'More' });
    await more.press('Enter');
    await person.page.getByRole('button', { name: 'Rename', exact: true }).press('Enter');
    await person.page.getByLabel('Title').fill('Move the mail');
    await press('Enter');
    await person.heading('Move the mail');
    await person.page.getByLabel('Title').waitFor({ state: 'detached' });
    await hasFocus();

    await person.page.getByLabel('Message').fill('Go on');
    await press('Enter');
    const task = await daemon.next('task_resume');
    const taskId = task.task_id as string;
    daemon.send({ type: 'status', running_tasks: [taskId] });
    daemon.event(taskId, 'PROGRESS', { action: 'Reading', target: 'mail.ts' });
    await person.text('Reading mail.ts');
    // The response can come later than the frames, and Enter does nothing until then.
    await person.page.locator('.dock textarea:invalid').waitFor();
    const stop = person.page.getByRole('button', { name: 'Stop' });
    await stop.focus();
    await press('Enter');
    await daemon.next('task_cancel');
    daemon.send({ type: 'status', running_tasks: [] });
    await stop.waitFor({ state: 'detached' });
    await hasFocus();

    await person.page.getByLabel('Message').fill('And now');
    await press('Enter');
    const next = (await daemon.next('task_resume')).task_id as string;
    daemon.event(next, 'WAIT_FOR_USER', { prompt: 'Which one?', result: '', options: [{ label: 'Red' }, { label: 'Blue' }] }); // prettier-ignore
    daemon.send({ type: 'status', running_tasks: [] });
    await person.page.getByRole('button', { name: 'Blue' }).press('Enter');
    await daemon.next('task_resume');
    await person.page.getByRole('button', { name: 'Blue' }).waitFor({ state: 'detached' });
    await focusIs('Message');
  });

  it('22: keeps the focus on the start page after an answer: on the next question, then on the heading', async () => {
    const headers = { Authorization: person.bearer };
    for (const [nativeId, title] of [
      ['flaky', 'Which test?'],
      ['notes', 'Which note?'],
    ] as const) {
      const id = encodeURIComponent(`${registration.deviceId}:scripted:${nativeId}`);
      await send('POST', `${relay.url}/api/sessions/${id}/messages`, { headers, body: { content: 'Go on' } });
      const task = (await daemon.next('task_resume')).task_id as string;
      const options = [
        { id: 'old', label: 'The old one' },
        { id: 'new', label: 'The new one' },
      ];
      const question = { uuid: `ask-${nativeId}`, title, kind: 'choice', options, text: true };
      daemon.event(task, 'WAIT_FOR_USER', { prompt: title, result: '', options: [], message_uuid: question.uuid, question }); // prettier-ignore
      daemon.send({ type: 'status', running_tasks: [] });
    }
    await person.goto('/sessions');
    await person.page.locator('.inbox .ask', { hasText: 'Which note?' }).waitFor();
    for (const [title, next] of [
      ['Which test?', 'Which note?'],
      ['Which note?', 'Sessions'],
    ] as const) {
      const card = person.page.locator('.inbox .ask', { hasText: title });
      await card.getByRole('button', { name: 'The new one' }).press('Enter');
      await daemon.next('task_resume');
      await card.waitFor({ state: 'detached' });
      await focusIs(next);
    }
  });

  it('22: keeps the focus after a key is revoked: on the next one, then on the button that creates one', async () => {
    for (const name of ['Build', 'Test']) {
      const body = { name, ttlSeconds: 600, uses: 1 };
      await send('POST', `${relay.url}/api/devices/keys`, { headers: { Authorization: person.bearer }, body });
    }
    await person.goto('/devices');
    const keys = person.page.getByRole('button', { name: /^Revoke (Build|Test)$/ });
    const revoke = async () => {
      const count = await keys.count();
      await keys.first().press('Enter');
      await person.page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).press('Enter');
      await keys.nth(count - 1).waitFor({ state: 'detached' });
    };
    await keys.nth(1).waitFor();
    await revoke();
    await focusIs('Revoke');
    await revoke();
    await focusIs('Make a key');
  });
});
