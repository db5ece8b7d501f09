/**
 * A session of a daemon that keeps a transcript: the page shows the same live, after a reload and in a second browser.
 */
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import type { Registration } from '@relay/testing';
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
import { type TranscriptDaemon, add, connectTranscriptDaemon, item, put, set } from './transcript-daemon.ts';

describeWith('chromium', 'a live transcript', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  let person: Person;
  let registration: Registration;
  let daemon: TranscriptDaemon;

  beforeAll(async () => {
    relay = await startBrowserRelay();
    browser = await launchBrowser();
    person = await newPerson(browser, relay.url, { viewport: { width: 1360, height: 860 } });
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

  const pathOf = (nativeId: string) =>
    `/sessions/${encodeURIComponent(`${registration.deviceId}:scripted:${nativeId}`)}`;

  /**
   * Starts a session in the browser. The first item is the person's message, under the uuid that the relay assigned.
   */
  async function start(message: string, nativeId: string): Promise<string> {
    await person.goto('/sessions/new');
    await person.page.getByLabel(/^What should/).fill(message);
    await person.click('Start session');
    const task = await daemon.next('task_start');
    const taskId = task.task_id as string;
    daemon.send({ type: 'status', running_tasks: [taskId] });
    daemon.event(taskId, 'SESSION_STARTED', { session_id: nativeId });
    daemon.say(taskId, nativeId, [put(item(task.message_uuid as string, 1, { kind: 'user' }, message))]);
    await person.page.waitForURL(`**${pathOf(nativeId)}`);
    return taskId;
  }
  const finish = (taskId: string, eventType: string, fields: Record<string, unknown>) => {
    daemon.event(taskId, eventType, fields);
    daemon.send({ type: 'status', running_tasks: [] });
  };

  /** The visible text, row after row. */
  const rows = async (page: Page): Promise<string[]> => {
    const texts = await page.locator('.log .entry').allInnerTexts();
    // Without times of day and durations.
    return texts
      .map((text) =>
        text
          .replace(/\d+:\d+(?::\d+)?( [AP]M)?/g, '')
          .replace(/\s+/g, ' ')
          .trim(),
      )
      .filter(Boolean);
  };
  /** A page draws the rows of a long log one after the other. */
  const rowsAre = async (page: Page, expected: readonly string[]) =>
    expect(
      await eventually(
        () => rows(page),
        (now) => now.join() === expected.join(),
      ),
    ).toEqual(expected);
  const text = (page: Page, words: string) => page.locator('.log').getByText(words).first().waitFor();

  it('has the same texts and calls in the same order live, after a reload and in a second browser', async () => {
    const taskId = await start('Tidy the beds', 'order');
    const say = (...ops: Parameters<TranscriptDaemon['say']>[2]) => daemon.say(taskId, 'order', ops);
    const call = (n: number) =>
      put(
        item(`call-${n}`, 10 * n, { kind: 'tool', id: `c${n}`, title: `edit ${n}`, does: 'edit', status: 'running' }),
      );
    say(put(item('before', 2, { kind: 'text', open: true })));
    say(add('before', 'I look '), add('before', 'at the beds.'), set('before', { open: null }));
    say(call(1));
    say(
      set('call-1', { status: 'completed' }),
      put(item('between', 15, { kind: 'text', open: true }, 'The first is done.')),
    );
    daemon.event(taskId, 'AGENT_RESPONSE', {
      uuid: 'between',
      content: 'The first is done.',
      response: 'The first is done.',
    });
    say(set('between', { open: null }), call(2), call(3));
    say(
      set('call-2', { status: 'completed' }),
      set('call-3', { status: 'failed', output: 'the bed is frozen\n', exit: 1 }),
    );
    say(put(item('after', 40, { kind: 'text' }, 'Two of three are tidy.')));
    finish(taskId, 'TASK_COMPLETE', { result: 'Two of three are tidy.', message_uuid: 'after' });
    await person.page.locator('main[data-status="idle"]').waitFor();
    await text(person.page, 'the bed is frozen');
    await text(person.page, 'Two of three are tidy.');
    const live = await rows(person.page);
    const words = live.join('\n');
    const places = ['Tidy the beds', 'I look at the beds.', 'edit 1', 'The first is done.', 'edit 2', 'edit 3', 'the bed is frozen', 'Two of three'].map((part) => words.indexOf(part)); // prettier-ignore
    expect(places).not.toContain(-1);
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(words.split('The first is done.')).toHaveLength(2);
    expect(words.split('Two of three')).toHaveLength(2);

    await person.page.reload();
    await text(person.page, 'Two of three are tidy.');
    await rowsAre(person.page, live);
    const other = await newPerson(browser, relay.url, { viewport: { width: 820, height: 1100 } });
    await other.goto('/sign-in');
    await other.signIn('ada@example.com');
    await other.heading('Sessions');
    await other.goto(pathOf('order'));
    await text(other.page, 'Two of three are tidy.');
    await rowsAre(other.page, live);
    await other.context.close();
  });

  it('requests missing operations, and shows them once', async () => {
    const taskId = await start('Count the bulbs', 'gap');
    daemon.say(taskId, 'gap', [put(item('count', 2, { kind: 'text', open: true }, 'one '))]);
    await text(person.page, 'one');
    daemon.keep('gap', [add('count', 'two ')]);
    daemon.say(taskId, 'gap', [add('count', 'three')]);
    await text(person.page, 'one two three');
    finish(taskId, 'TASK_COMPLETE', { result: 'one two three', message_uuid: 'count' });
    await person.page.locator('main[data-status="idle"]').waitFor();
  });

  it('shows everything that completed while the page had no network', async () => {
    const taskId = await start('Count the roses', 'asleep');
    daemon.say(taskId, 'asleep', [put(item('roses', 2, { kind: 'text', open: true }, 'one rose, '))]);
    await text(person.page, 'one rose');
    await person.context.setOffline(true);
    await person.page.getByText('Reconnecting in').first().waitFor();
    daemon.say(taskId, 'asleep', [add('roses', 'two roses')]);
    const call = { kind: 'tool', id: 'c1', title: 'water them', does: 'edit', status: 'completed' };
    daemon.say(taskId, 'asleep', [set('roses', { open: null }), put(item('water', 3, call))]);
    finish(taskId, 'TASK_COMPLETE', { result: 'one rose, two roses', message_uuid: 'roses' });
    await person.context.setOffline(false);
    await text(person.page, 'one rose, two roses');
    await text(person.page, 'water them');
    await person.page.locator('main[data-status="idle"]').waitFor();
  });

  it('requests the last operations of a task if only its message arrived', async () => {
    const taskId = await start('Count the thorns', 'slow');
    daemon.say(taskId, 'slow', [put(item('thorns', 2, { kind: 'text', open: true }, 'one thorn, '))]);
    await text(person.page, 'one thorn');
    daemon.keep('slow', [add('thorns', 'two thorns'), set('thorns', { open: null })]);
    finish(taskId, 'TASK_COMPLETE', { result: 'one thorn, two thorns', message_uuid: 'thorns' });
    await text(person.page, 'one thorn, two thorns');
  });

  it('requests missing operations again if the relay did not answer', async () => {
    const taskId = await start('Count the leaves', 'again');
    daemon.say(taskId, 'again', [put(item('leaves', 2, { kind: 'text', open: true }, 'one leaf, '))]);
    await text(person.page, 'one leaf');
    const refused = person.page.waitForEvent('requestfailed', (request) => request.url().includes('changed='));
    await person.page.route(/[?&]changed=/, (route) => route.abort('internetdisconnected'), { times: 1 });
    daemon.keep('again', [add('leaves', 'two leaves, ')]);
    daemon.say(taskId, 'again', [add('leaves', 'three leaves')]);
    await refused;
    await text(person.page, 'one leaf, two leaves, three leaves');
    finish(taskId, 'TASK_COMPLETE', { result: 'one leaf, two leaves, three leaves', message_uuid: 'leaves' });
    await person.page.locator('main[data-status="idle"]').waitFor();
  });

  it('shows an answer from its start after a reload in the middle of it, and keeps it after a stop', async () => {
    const taskId = await start('Tell me of roses', 'stop');
    daemon.say(taskId, 'stop', [put(item('roses', 2, { kind: 'text', open: true }, 'Roses were first '))]);
    await text(person.page, 'Roses were first');
    await person.page.reload();
    daemon.say(taskId, 'stop', [add('roses', 'grown in gardens ')]);
    await text(person.page, 'Roses were first grown in gardens');
    daemon.say(taskId, 'stop', [add('roses', 'in China.')]);
    await text(person.page, 'Roses were first grown in gardens in China.');

    await person.click('Stop');
    await daemon.next('task_cancel');
    daemon.say(taskId, 'stop', [
      set('roses', { open: null }),
      put(item('stopped', 3, { kind: 'mark', what: 'cancelled' })),
    ]);
    finish(taskId, 'CANCELLED', {});
    for (const again of [false, true]) {
      if (again) await person.page.reload();
      await text(person.page, 'Roses were first grown in gardens in China.');
      await text(person.page, 'You stopped the agent here.');
      expect((await rows(person.page)).join('\n').split('You stopped')).toHaveLength(2);
    }
  });

  it('counts from the start of the task, even after a reload and in a second tab', async () => {
    const taskId = await start('Wait for the rain', 'clock');
    const shown = async (page: Page) => {
      const [minutes, seconds] = (await page.locator('.now-line .num').innerText()).split(':').map(Number);
      return minutes! * 60 + seconds!;
    };
    await person.page
      .locator('.now-line .num')
      .filter({ hasText: /0:(?:0[4-9]|[1-5]\d)/ })
      .waitFor();
    // Uses the clock of the live page, because the task starts seconds before these steps complete.
    const beganAt = Date.now() - (await shown(person.page)) * 1000;
    await person.page.reload();
    await person.page.locator('.now-line .num').waitFor();
    const off = async (page: Page) => Math.abs((await shown(page)) - (Date.now() - beganAt) / 1000);
    expect(await off(person.page)).toBeLessThanOrEqual(2);
    const tab = await person.context.newPage();
    await tab.goto(`${relay.url}${pathOf('clock')}`);
    await tab.locator('.now-line .num').waitFor();
    expect(await off(tab)).toBeLessThanOrEqual(2);
    await tab.close();
    finish(taskId, 'TASK_COMPLETE', { result: 'It rains.' });
    await person.page.locator('main[data-status="idle"]').waitFor();
  });

  /** The response can come later than the chip, and Enter does nothing until then. */
  const isSent = () => person.page.locator('.dock textarea:invalid').waitFor();

  it('keeps a message during a turn as a chip: it can be edited and removed, and survives a stop', async () => {
    const taskId = await start('Dig the pond', 'queue');
    daemon.say(taskId, 'queue', [put(item('dig', 2, { kind: 'text', open: true }, 'Digging'))]);
    await text(person.page, 'Digging');
    const chips = person.page.getByRole('list', { name: 'Queued messages' }).getByRole('listitem');
    const send = async (words: string) => {
      await person.page.getByLabel('Message', { exact: true }).fill(words);
      await person.page.getByLabel('Message', { exact: true }).press('Enter');
      await chips.filter({ hasText: words }).waitFor();
      await isSent();
    };
    await send('Then plant lilies');
    await send('And buy frogs');
    expect(await person.page.locator('.log').getByText('lilies').count()).toBe(0);
    daemon.say(taskId, 'queue', [{ op: 'add', uuid: 'dig', text: ' goes on' }]);
    await text(person.page, 'Digging goes on');

    await person.click('Edit “Then plant lilies”');
    await person.page.getByLabel('Queued message', { exact: true }).fill('Then plant reeds');
    await person.click('Save');
    await chips.filter({ hasText: 'Then plant reeds' }).waitFor();
    await person.click('Remove “And buy frogs”');
    await chips.filter({ hasText: 'And buy frogs' }).waitFor({ state: 'detached' });

    await person.click('Stop');
    await person.click('Stop this');
    await daemon.next('task_cancel', (frame) => frame.task_id === taskId);
    daemon.say(taskId, 'queue', [set('dig', { open: null }), put(item('dug', 3, { kind: 'mark', what: 'cancelled' }))]);
    finish(taskId, 'CANCELLED', {});
    const next = await daemon.next('task_resume');
    expect(next).toMatchObject({ message: 'Then plant reeds' });
    expect(await person.page.locator('.log').getByText('frogs').count()).toBe(0);
    await text(person.page, 'Then plant reeds');
    await text(person.page, 'Digging goes on');
    await chips.first().waitFor({ state: 'detached' });
    finish(next.task_id as string, 'TASK_COMPLETE', { result: 'Planted.' });
  });

  it('keeps typed changes of a queued message, and the focus, while tasks complete and the message is sent', async () => {
    const taskId = await start('Build the shed', 'edited');
    daemon.say(taskId, 'edited', [put(item('shed', 2, { kind: 'text' }, 'Building'))]);
    const { page } = person;
    const composer = page.getByLabel('Message', { exact: true });
    const chips = page.getByRole('list', { name: 'Queued messages' }).getByRole('listitem');
    for (const words of ['Paint it', 'And lock it']) {
      await composer.fill(words);
      await composer.press('Enter');
      await chips.filter({ hasText: words }).waitFor();
      await isSent();
    }
    await person.click('Edit “And lock it”');
    const field = page.getByLabel('Queued message', { exact: true });
    await field.press('End');
    await page.keyboard.type(' twice');
    finish(taskId, 'TASK_COMPLETE', { result: 'Built.' });
    const paint = await daemon.next('task_resume');
    expect(paint).toMatchObject({ message: 'Paint it' });
    await chips.filter({ hasText: 'Paint it' }).waitFor({ state: 'detached' });
    await page.keyboard.type(', please');
    expect(await field.inputValue()).toBe('And lock it twice, please');

    finish(paint.task_id as string, 'TASK_COMPLETE', { result: 'Painted.' });
    const lock = await daemon.next('task_resume');
    expect(lock).toMatchObject({ message: 'And lock it' });
    await page.getByText('No longer queued. The change was not saved.').waitFor();
    await page.keyboard.type('!');
    expect(await field.inputValue()).toBe('And lock it twice, please!');
    expect(await composer.inputValue()).toBe('');
    await person.click('Cancel');
    expect(await chips.count()).toBe(0);
    await page.locator('h1:focus').waitFor();
    finish(lock.task_id as string, 'TASK_COMPLETE', { result: 'Locked.' });
    await page.locator('main[data-status="idle"]').waitFor();
  });

  it("retries with the person's message, not with the answer that followed it", async () => {
    const taskId = await start('Delete the build folder', 'retried');
    const question = {
      ...{ uuid: 'may', title: 'May I delete it?', kind: 'permission' },
      options: [
        { id: 'yes', label: 'Allow', kind: 'allow_once' },
        { id: 'no', label: 'Reject', kind: 'reject_once' },
      ],
    };
    daemon.say(taskId, 'retried', [put(item('may', 2, { kind: 'question', question, state: 'open' }, question.title))]);
    finish(taskId, 'WAIT_FOR_USER', { prompt: question.title, question });
    await person.click('Allow once');
    const answer = await daemon.next('task_resume');
    expect(answer).toMatchObject({ prompt_uuid: 'may', option_id: 'yes' });
    const answerId = answer.task_id as string;
    daemon.say(answerId, 'retried', [
      set('may', { state: 'answered' }),
      put(item(answer.message_uuid as string, 3, { kind: 'user', answers: 'may' }, 'Allow')),
      put(item('crash', 4, { kind: 'error' }, 'The agent crashed.')),
    ]);
    finish(answerId, 'ERROR', { error: 'The agent crashed.', message_uuid: 'crash' });
    await person.click('Try again');
    const again = await daemon.next('task_resume');
    expect(again).toMatchObject({ message: 'Delete the build folder' });
    finish(again.task_id as string, 'TASK_COMPLETE', { result: 'Deleted.' });
    await person.page.locator('main[data-status="idle"]').waitFor();
  });

  it('shows images, and on request a whole output, or that it is gone', async () => {
    const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=';
    const taskId = await start('Show me', 'native-contents');
    const lines = Array.from({ length: 30_000 }, (_, n) => `line ${n} of a long ä output`);
    const cut = { output: 'line 0\n[… 9 bytes not shown]\nthe end', left: 9, data: 'output' };
    daemon.contents.set('shown image', { mime: 'image/png', bytes: Buffer.from(pixel, 'base64') });
    daemon.contents.set('kept output', { mime: 'text/plain', bytes: Buffer.from(`${lines.join('\n')}\nend`) });
    const tool = (uuid: string) => ({ kind: 'tool', id: uuid, title: uuid, status: 'failed', does: 'execute' });
    daemon.say(taskId, 'native-contents', [
      put(item('shown', 2, { kind: 'image', data: 'image', mime: 'image/png', bytes: 68 })),
      put(item('none', 3, { kind: 'image', data: 'image', mime: 'image/gif', bytes: 20_480 })),
      put(item('kept', 4, { ...tool('kept'), ...cut })),
      put(item('gone', 5, { ...tool('gone'), ...cut })),
    ]);
    const { page } = person;
    const image = page.getByRole('button', { name: 'Enlarge the image' });
    await image.click();
    await page.getByRole('button', { name: 'Shrink the image' }).click();
    await page.getByText('GIF · 20.5 kB').waitFor();
    const output = (name: string) => page.locator('.call').filter({ has: page.getByText(name, { exact: true }) });
    await output('kept').getByRole('button', { name: 'Show all output' }).click();
    await output('kept').getByText('line 29999 of a long ä output').waitFor();
    expect(await output('kept').getByRole('button', { name: 'Show all output' }).count()).toBe(0);
    await output('gone').getByRole('button', { name: 'Show all output' }).click();
    await page.getByText('The machine no longer has the rest of this output.').waitFor();
    finish(taskId, 'TASK_COMPLETE', { session_id: 'native-contents', result: 'Shown.' });
  });
});
