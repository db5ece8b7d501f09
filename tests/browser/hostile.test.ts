/**
 * Everything that an agent says is hostile: nothing of it runs, becomes a link of another kind or hides what is around it, no message costs
 * the page more than an ordinary long answer, and the rest of the session stays usable.
 */
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import type { Registration } from '@relay/testing';
import type { Browser, CDPSession } from 'playwright-core';
import { bombs } from './bombs.ts';
import {
  type BrowserRelay,
  type Person,
  launchBrowser,
  newPerson,
  registeredDevice,
  startBrowserRelay,
} from './browser.ts';
import { type TranscriptDaemon, connectTranscriptDaemon, item, put } from './transcript-daemon.ts';

/** A long answer as agents give them, of 100 kB. */
const ordinary = Array.from(
  { length: 260 },
  (_, index) =>
    `## Step ${index}\n\nThe worker acknowledges a job *before* the store has **written** it, so a restart in between loses it; \`store.put\` comes first now, see [the handbook](https://example.com/${index}).\n\n- Look at the callers of \`saveUpload\`\n- Write a test that fails without the change\n\n\`\`\`\njob.ack();\nawait store.put(job.id, result);\n\`\`\`\n`,
).join('\n');

const tricks = [
  '<img src=x onerror="window.hit=1"> <svg onload="window.hit=1"></svg> <script>window.hit=1</script>',
  '<iframe src="javascript:window.hit=1"></iframe><a href="javascript:window.hit=1">raw</a>',
  '[one](javascript:window.hit=1) [two](data:text/html,<script>window.hit=1</script>) [three](vbscript:x) [four](java&#x73;cript:window.hit=1)',
  '[five](blob:https://a.example/x) [six](file:///etc/passwd) ![seven](data:image/svg+xml,<svg onload="window.hit=1">) <javascript:window.hit=1>',
  '[eight][x]\n\n[x]: javascript:window.hit=1 "title"',
  `bidi \u202e\u2066 override \u200b\u200d\u2060 zero\u00adwidth \ufeff`,
  'half a pair: \ud800 and \udfff end',
].join('\n\n');

describeWith('chromium', 'what a hostile agent says', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  let person: Person;
  let registration: Registration;
  let daemon: TranscriptDaemon;
  let cdp: CDPSession;
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
    cdp = await person.context.newCDPSession(person.page);
    // In time of the processor: another program on this machine does not count.
    await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
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
  const used = async () => {
    const { metrics } = await cdp.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration')!.value * 1000;
  };
  /** Milliseconds of the processor until the session is shown, and its log is at rest. */
  const cost = async (nativeId: string): Promise<number> => {
    const before = await used();
    await row(nativeId).click();
    await person.page.locator('.log').getByText(`The end of ${nativeId}.`).waitFor();
    await person.page.evaluate(
      'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestIdleCallback(done))))',
    );
    return (await used()) - before;
  };

  it('runs nothing, links nowhere but to the web, and stays inside of its own element', async () => {
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
    // Half of a pair arrives as it is, or as the sign for what is none.
    expect(await log.innerText()).toMatch(/half a pair: [\ud800-\udfff\ufffd] and [\ud800-\udfff\ufffd] end/);
    expect(dialogs).toBe(0);
  });

  it('shows output without its control characters, and an image that is none as a file', async () => {
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

  it('costs no more than twice an ordinary long answer, whatever it is made of, and the session stays usable', async () => {
    const names = Object.keys(bombs);
    report(['short', 'ordinary', ...names]);
    say('short', 'Yes.');
    say('ordinary', ordinary);
    for (const name of names) say(name, bombs[name]!);
    await row(names.at(-1)!).waitFor();
    // Twice, so that what is loaded once is loaded.
    for (const name of ['short', 'ordinary']) await cost(name);
    const short = await cost('short');
    const usual = (await cost('ordinary')) - short;
    const costs: Record<string, number> = {};
    for (const name of names) {
      costs[name] = Math.round((((await cost(name)) - short) / usual) * 100) / 100;
      await person.page.getByLabel('Message', { exact: true }).fill('Go on');
      expect(await person.page.getByLabel('Message', { exact: true }).inputValue()).toBe('Go on');
      await person.page.getByLabel('Message', { exact: true }).fill('');
      await cost('short');
    }
    process.stdout.write(`ordinary: ${Math.round(usual)} ms of the processor; against it: ${JSON.stringify(costs)}\n`);
    expect(Object.entries(costs).filter(([, ratio]) => ratio > 2)).toEqual([]);
    expect(dialogs).toBe(0);
  }, 300_000);
});
