/** Texts for screen readers (acceptance 32): each announcement and its count; the names of rows. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import type { Registration } from '@relay/testing';
import type { Browser } from 'playwright-core';
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

/** Records each change of a live region as a screen reader would announce it. */
const listening = `window.heard_ = [];
  const regions = '[role="status"], [role="alert"], [aria-live="polite"], [aria-live="assertive"]';
  const wordsOf = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return node.data;
    if (node.nodeType !== Node.ELEMENT_NODE || node.getAttribute('aria-hidden') === 'true') return '';
    return [...node.childNodes].map(wordsOf).join('');
  };
  new MutationObserver((changes) => {
    const changed = new Set();
    for (const { target, addedNodes } of changes)
      for (const node of addedNodes.length > 0 ? addedNodes : [target]) {
        const element = node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement;
        if (!element?.isConnected || element.closest('[aria-hidden="true"]')) continue;
        const region = element.closest(regions);
        if (region) changed.add(region);
        for (const inside of element.querySelectorAll(regions)) changed.add(inside);
      }
    for (const region of changed) {
      const words = wordsOf(region).trim();
      if (words !== '') window.heard_.push(words);
    }
  }).observe(document, { subtree: true, childList: true, characterData: true });`;

describeWith('chromium', 'screen readers', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  let person: Person;
  let registration: Registration;
  let daemon: TranscriptDaemon;
  let taskId: string;

  beforeAll(async () => {
    relay = await startBrowserRelay();
    browser = await launchBrowser();
    person = await newPerson(browser, relay.url, { viewport: { width: 1360, height: 860 }, locale: 'en-GB' });
    await person.createAccount(relay.setupLink, 'ada@example.com');
    registration = await registeredDevice(person, 'MacBook Pro');
    daemon = await connectTranscriptDaemon(relay.relay, registration);
  });
  afterAll(async () => {
    await browser?.close();
    await daemon?.drop();
    await relay?.end();
  });

  const say = (...ops: Parameters<TranscriptDaemon['say']>[2]) => daemon.say(taskId, 'beds', ops);
  const shown = (words: string) => person.page.locator('.log').getByText(words).last().waitFor();
  const heard = () => person.page.evaluate<string[]>('window.heard_.splice(0)');
  const call = (uuid: string, seq: number) =>
    put(item(uuid, seq, { kind: 'tool', id: uuid, title: uuid, does: 'read', status: 'completed' }));
  const ask = (uuid: string, seq: number) => {
    const title = 'Build it again?';
    say(put(item(uuid, seq, { kind: 'question', state: 'open', question: { title } })));
    const options = [
      { id: 'yes', label: 'Allow once', kind: 'allow_once' },
      { id: 'no', label: 'Reject', kind: 'reject_once' },
    ];
    daemon.event(taskId, 'WAIT_FOR_USER', {
      prompt: title,
      result: '',
      options: options.map(({ label }) => ({ label })),
      message_uuid: uuid,
      question: { uuid, title, kind: 'permission', options, text: true, subject: { type: 'command', command: 'make' } },
    });
  };

  it('32: announce each block once after it is finished, and nothing of it before', async () => {
    await person.page.addInitScript(listening);
    await person.goto('/sessions/new');
    await person.page.getByLabel(/^What should/).fill('Water the beds');
    await person.click('Start session');
    const task = await daemon.next('task_start');
    taskId = task.task_id as string;
    daemon.send({ type: 'status', running_tasks: [taskId] });
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'beds' });
    say(put(item(task.message_uuid as string, 1, { kind: 'user' }, 'Water the beds')));
    await person.page.waitForURL(/scripted%3Abeds$/);
    await shown('Water the beds');
    await heard();
    say(put(item('look', 2, { kind: 'text', open: true }, 'I look ')));
    for (const piece of ['at ', 'the ', 'beds.']) {
      say(add('look', piece));
      await shown(piece.trim());
    }
    expect(await heard()).toEqual([]);
    // The next item arrives together with the end of this one.
    say(set('look', { open: null }), call('read-1', 3));
    say(put(item('done-1', 4, { kind: 'text', open: true }, 'Done.')));
    await shown('Done.');
    say(set('done-1', { open: null }), call('read-2', 5), put(item('done-2', 6, { kind: 'text' }, 'Nearly all.')));
    await shown('Nearly all.');
    say(put(item('done-3', 7, { kind: 'text' }, 'Nearly all.')), call('read-3', 8));
    await person.page.getByText('read-3').waitFor();
    await person.page.locator('.log article', { hasText: 'Nearly all.' }).nth(1).waitFor();
    const words = (await heard()).join('\n').split('\n');
    expect(words).toEqual(['Agent: I look at the beds.', 'Agent: Done.', 'Agent: Nearly all.', 'Agent: Nearly all.']);
  });

  it('32: announce each new question once, even with the same text', async () => {
    for (const [uuid, seq] of [
      ['01900000-0000-7000-8000-000000000001', 9],
      ['01900000-0000-7000-8000-000000000002', 10],
    ] as const) {
      ask(uuid, seq);
      await person.page.locator(`.q[data-prompt="${uuid}"]`).waitFor();
      // The page announces the question after it has drawn its card.
      const announced: string[] = [];
      const read = async () => {
        announced.push(...(await heard()).filter((words) => words.includes('Build it again?')));
        return announced;
      };
      expect(await eventually(read, (all) => all.length > 0)).toEqual(['Build it again?']);
      await person.click('Allow once');
      const { task_id: next } = await daemon.next('task_resume');
      taskId = next as string;
      daemon.send({ type: 'status', running_tasks: [taskId] });
      await person.page.locator('.q').waitFor({ state: 'detached' });
    }
  });

  it('32: announce no existing item when a session is opened', async () => {
    await person.page.reload();
    await shown('Nearly all.');
    await person.page.locator('.now-line').waitFor();
    expect((await heard()).filter((words) => words.includes('Agent:'))).toEqual([]);
  });

  it('32: announce title, state, machine and time of each session in the list', async () => {
    const row = person.page.locator('a.row');
    await row.waitFor();
    await person.page.getByRole('link', { name: /^Working.*Water the beds.*now.*MacBook Pro$/ }).waitFor();
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'All is wet.' });
    daemon.send({ type: 'status', running_tasks: [] });
    await person.page.getByRole('link', { name: /^Done.*Water the beds.*now.*MacBook Pro$/ }).waitFor();
    expect(person.complaints).toEqual([]);
  });
});
