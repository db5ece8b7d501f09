/**
 * All output of the agent is hostile: it never runs, becomes an unexpected link or covers its surroundings. Slow
 * inputs: apps/web/test/hostile.test.ts.
 */
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import type { Registration } from '@relay/testing';
import type { Browser } from 'playwright-core';
import {
  type BrowserRelay,
  type Person,
  everyLook,
  launchBrowser,
  newPerson,
  registeredDevice,
  startBrowserRelay,
} from './browser.ts';
import { type TranscriptDaemon, connectTranscriptDaemon, item, put } from './transcript-daemon.ts';

const tricks = [
  '<img src=x onerror="window.hit=1"> <svg onload="window.hit=1"></svg> <script>window.hit=1</script>',
  '<iframe src="javascript:window.hit=1"></iframe><a href="javascript:window.hit=1">raw</a>',
  '[one](javascript:window.hit=1) [two](data:text/html,<script>window.hit=1</script>) [three](vbscript:x) [four](java&#x73;cript:window.hit=1)',
  '[five](blob:https://a.example/x) [six](file:///etc/passwd) ![seven](data:image/svg+xml,<svg onload="window.hit=1">) <javascript:window.hit=1>',
  '[eight][x]\n\n[x]: javascript:window.hit=1 "title"',
  `bidi \u202e\u2066 override \u200b\u200d\u2060 zero\u00adwidth \ufeff`,
  'half a pair: \ud800 and \udfff end',
].join('\n\n');

describeWith('chromium', 'hostile output of an agent', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  let person: Person;
  let registration: Registration;
  let daemon: TranscriptDaemon;
  let dialogs = 0;

  beforeAll(async () => {
    relay = await startBrowserRelay();
    browser = await launchBrowser();
    person = await newPerson(browser, relay.url, { viewport: { width: 1360, height: 860 } });
    await person.createAccount(relay.setupLink, 'ada@example.com');
    registration = await registeredDevice(person, 'MacBook Pro');
    daemon = await connectTranscriptDaemon(relay.relay, registration);
    person.page.on('dialog', (dialog) => {
      dialogs += 1;
      void dialog.dismiss();
    });
  });
  afterAll(async () => {
    await browser?.close();
    await daemon?.drop();
    await relay?.end();
  });
  afterEach(() => expect(person.complaints.splice(0)).toEqual([]));

  const report = (names: readonly string[]) =>
    daemon.send({
      type: 'report_sessions',
      sessions: names.map((name) => ({
        session_id: name,
        title: name,
        last_message: 'said',
        last_activity: new Date().toISOString(),
      })),
    });
  const say = (nativeId: string, text: string) =>
    daemon.keep(nativeId, [
      put(item('before', 1, { kind: 'user' }, 'Say something.')),
      put(item('bomb', 2, { kind: 'text' }, text)),
      put(item('after', 3, { kind: 'text' }, `The end of ${nativeId}.`)),
    ]);
  const row = (title: string) =>
    person.page.locator('.side .row').filter({ has: person.page.getByText(title, { exact: true }) });

  it('runs nothing, links only to the web, and stays inside its own element', async () => {
    report(['tricks']);
    say('tricks', tricks);
    await person.goto('/sessions');
    await row('tricks').click();
    const log = person.page.locator('.log');
    await log.getByText('The end of tricks.').waitFor();
    const found = await person.page.evaluate<{ hrefs: string[]; elements: number; hit: unknown; bidi: string[] }>(`({
      hrefs: [...document.querySelectorAll('.log a')].map((link) => link.getAttribute('href')),
      elements: document.querySelectorAll('.log :is(img, svg:not(.i, .lucide), script, iframe, object, embed, form)').length,
      hit: window.hit,
      bidi: [...document.querySelectorAll('.log .md')].map((text) => getComputedStyle(text).unicodeBidi),
    })`);
    expect(found).toMatchObject({ elements: 0, hrefs: [] });
    expect(found.hit).toBeUndefined();
    for (const bidi of found.bidi) expect(['isolate', 'plaintext']).toContain(bidi);
    // Half of a surrogate pair arrives unchanged, or as the replacement character.
    expect(await log.innerText()).toMatch(/half a pair: [\ud800-\udfff\ufffd] and [\ud800-\udfff\ufffd] end/);
    expect(dialogs).toBe(0);
  });

  it('appears without control characters, and an invalid image as a file', async () => {
    const escapes =
      '\u001b]0;owned\u0007\u001b[2J\u001b[H\u001b]8;;javascript:window.hit=1\u0007press\u001b]8;;\u0007 \u001b[31mred\u001b[0m \u0000\u0008\u009b31m end of output';
    daemon.contents.set('fake image', { mime: 'image/png', bytes: Buffer.from('<script>window.hit=1</script>') });
    report(['output']);
    daemon.keep('output', [
      put(
        item('run', 1, {
          kind: 'tool',
          id: 'run',
          title: 'run',
          does: 'execute',
          command: 'run',
          status: 'failed',
          exit: 1,
          output: escapes,
        }),
      ),
      put(item('fake', 2, { kind: 'image', data: 'image', mime: 'image/png', bytes: 28 })),
      put(item('svg', 3, { kind: 'image', data: 'image', mime: 'image/svg+xml', bytes: 28 })),
      put(item('after', 4, { kind: 'text' }, 'The end of output.')),
    ]);
    await row('output').click();
    await person.page.locator('.log').getByText('The end of output.').waitFor();
    await person.page.locator('.log').getByText('end of output').first().waitFor();
    const shown = await person.page.locator('.log').innerText();
    expect(shown).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
    expect(await person.page.title()).not.toContain('owned');
    expect(await person.page.locator('.log a').count()).toBe(0);
    expect(await person.page.evaluate('window.hit')).toBeUndefined();
  });

  it('S6: cannot hide anything in a permission, which shows all that it is about', async () => {
    await person.goto('/sessions/new');
    await person.page.getByLabel(/^What should/).fill('Clean up the garden');
    await person.click('Start session');
    const { task_id: taskId } = (await daemon.next('task_start')) as unknown as { task_id: string };
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'asking' });
    const question = {
      ...{ uuid: 'hiding', title: 'Run \u2066tests\u2069?', kind: 'permission' },
      options: [
        { id: 'yes', label: 'Allow \u3164once', kind: 'allow_once' },
        { id: 'no', label: 'Reject', kind: 'reject_once' },
      ],
      subject: {
        type: 'command',
        command: 'echo \u202ehsup tig\u202c && rm\u200b -rf build',
        cwd: '/home/ada/\u2067other',
        input: '{"command":"rm","env":{"HOME":"/\u00adroot"}}',
      },
    };
    daemon.say(taskId, 'asking', [
      put(item('hiding', 1, { kind: 'question', question, state: 'open' }, question.title)),
    ]);
    daemon.event(taskId, 'WAIT_FOR_USER', { session_id: 'asking', prompt: question.title, question });
    const card = person.page.locator('.q');
    await card.waitFor();
    expect(await card.locator('h2').textContent()).toBe('Run \\u{2066}tests\\u{2069}?');
    const shown = await card.innerText();
    expect(shown).toContain('echo \\u{202e}hsup tig\\u{202c} && rm\\u{200b} -rf build');
    expect(shown).toContain('/home/ada/\\u{2067}other');
    expect(shown).not.toContain('HOME');
    await everyLook(person, 'question-hiding');
    await card.locator('summary').click();
    expect(await card.innerText()).toContain('{"command":"rm","env":{"HOME":"/\\u{ad}root"}}');
    expect(await card.getByRole('button').allInnerTexts()).toContain('Allow \\u{3164}once');
    expect(
      await card.evaluate((element) =>
        /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\u3164]/.test(element.textContent ?? ''),
      ),
    ).toBe(false);
    await everyLook(person, 'question-hiding-open');
    await person.page.setViewportSize({ width: 390, height: 844 });
    expect(await card.locator('.folder').isVisible()).toBe(true);
    await card.getByRole('button', { name: 'Reject' }).click();
    expect(await daemon.next('task_resume')).toMatchObject({ prompt_uuid: 'hiding', option_id: 'no' });
    await person.page.setViewportSize({ width: 1360, height: 860 });
  });
});
