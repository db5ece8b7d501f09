/**
 * The page of changes in a real browser: the list, the lines of a file, comments that become one message, texts for the
 * agent, and files.
 */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import type { Browser } from 'playwright-core';
import {
  type BrowserRelay,
  type Person,
  axeFindings,
  eventually,
  everyLook,
  launchBrowser,
  newPerson,
  registeredDevice,
  startBrowserRelay,
  untilKept,
} from './browser.ts';
import { type TranscriptDaemon, connectTranscriptDaemon, item, put } from './transcript-daemon.ts';

const files = [
  { path: 'src/invites/route.ts', change: 'edit', added: 2, removed: 1 },
  { path: 'src/limits.ts', change: 'edit', added: 9, removed: 8 },
  { path: 'db/0042_invites.sql', change: 'move', from: 'db/0041_invites.sql', added: 0, removed: 0 },
  { path: '.env.staging', change: 'edit', hidden: 'secret' },
];
const hunks = [
  {
    old: 12,
    new: 12,
    lines: [
      ' const router = Router();',
      "-router.post('/invites', signedIn, create);",
      "+router.post('/invites', signedIn, limit, create);",
    ],
  },
];

const whole = [
  ...Array.from({ length: 11 }, (_, index) => `const before${index + 1} = ${index};`),
  'const router = Router();',
  "router.post('/invites', signedIn, limit, create);",
  'export { router };',
  '',
].join('\n');

describeWith('chromium', 'the page of changes', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  let person: Person;
  let daemon: TranscriptDaemon;
  const asked: Record<string, unknown>[] = [];
  let lines = hunks;

  const answer = (frame: Record<string, unknown>) => {
    const reply = { request_id: frame['request_id'] };
    const { type, scope, path } = frame;
    if (typeof type !== 'string' || !/^get_(?:changes|diff|files?)$/.test(type)) return;
    asked.push(frame);
    if (type === 'get_changes')
      daemon.send({ type: 'changes', ...reply, scope, scopes: ['uncommitted', 'session', 'edits'], branch: 'invite-limits', files: scope === 'session' ? files.slice(0, 1) : files, count: 4, added: 11, removed: 9 }); // prettier-ignore
    if (type === 'get_diff')
      daemon.send({ type: 'diff', ...reply, path, change: files.find((one) => one.path === path), hunks: path === files[0]!.path ? lines : [] }); // prettier-ignore
    if (type === 'get_files')
      daemon.send({ type: 'files', ...reply, path: path ?? '', entries: [{ name: 'src', path: 'src', kind: 'folder' }, { name: 'limits.ts', path: 'limits.ts', kind: 'file', bytes: 12 }] }); // prettier-ignore
    if (type === 'get_file')
      daemon.send({
        type: 'file',
        ...reply,
        path,
        kind: 'text',
        bytes: 12,
        text: path === files[0]!.path ? whole : 'const a = 1;',
      });
  };

  beforeAll(async () => {
    relay = await startBrowserRelay();
    browser = await launchBrowser();
    person = await newPerson(browser, relay.url, { viewport: { width: 390, height: 844 } });
    await person.createAccount(relay.setupLink, 'ada@example.com');
    const registration = await registeredDevice(person, 'MacBook Pro');
    daemon = await connectTranscriptDaemon(relay.relay, registration, {
      capabilities: ['changes', 'browse'],
      headers: { 'X-Agents': 'scripted;name=Claude%20Code;version=2.1.0' },
    });
    daemon.socket.on('message', (data: Buffer) => answer(JSON.parse(data.toString('utf8')) as Record<string, unknown>));
    daemon.send({
      type: 'report_sessions',
      sessions: [{ session_id: 'limit', title: 'Rate limit for invites', project: '/home/ada/garden-api', last_message: 'Done', last_activity: new Date().toISOString(), is_active: false, message_count: 2 }], // prettier-ignore
    });
    daemon.keep('limit', [put(item('u1', 0, { kind: 'user' }, 'Limit the invites'))]);
    await person.goto('/sessions');
    await person.page.getByText('Rate limit for invites').first().click();
    await person.page.getByRole('link', { name: /^Changes to/ }).click();
    await person.page.getByRole('button', { name: /route\.ts/ }).waitFor();
  });
  afterAll(async () => {
    await daemon?.close();
    await browser?.close();
    await relay?.end();
  });

  /**
   * Takes pictures, and expects no finding of axe on a phone and on a desk. Leaves the page in the phone's dark look.
   */
  const looked = async (name: string) => {
    await everyLook(person, name);
    expect(await axeFindings(person)).toEqual([]);
    await person.page.setViewportSize({ width: 390, height: 844 });
    await person.page.emulateMedia({ colorScheme: 'dark' });
    expect(await axeFindings(person)).toEqual([]);
    await person.page.emulateMedia({ colorScheme: 'light' });
  };

  it('lists files with their line counts, names hidden ones, and changes the scope', async () => {
    const { page } = person;
    const list = page.locator('.change-list');
    expect(await list.innerText()).toMatch(
      /invite-limits[\s\S]*4 files[\s\S]*route\.ts[\s\S]*Not shown[\s\S]*\.env\.staging[\s\S]*may hold secrets/,
    );
    await page.getByRole('button', { name: 'Session', exact: true }).click();
    await page.getByRole('button', { name: /limits\.ts/ }).waitFor({ state: 'detached' });
    // The list is away while it loads.
    await list.getByRole('button', { name: /route\.ts/ }).waitFor();
    expect(asked.at(-1)).toMatchObject({ type: 'get_changes', scope: 'session', session_id: 'limit' });
    await page.getByRole('button', { name: 'Uncommitted' }).click();
    await page.getByRole('button', { name: /limits\.ts/ }).waitFor();
    await looked('changes');
  });

  it('keeps comments after a reload, and sends them as one message that answers no question', async () => {
    const { page } = person;
    await page.getByRole('button', { name: /route\.ts/ }).click();
    await page.locator('.diff mark', { hasText: 'limit, ' }).waitFor();
    for (const [line, words] of [
      ['Comment on line 13, old', 'Why was this removed?'],
      ['Comment on line 13, new', 'Put `limit` before `signedIn`: guests should be limited too.'],
    ] as const) {
      await page.getByRole('button', { name: line }).click();
      await page.getByRole('textbox', { name: line }).fill(words);
      await page.getByRole('button', { name: 'Add comment' }).click();
    }
    await page.getByText('2 comments').waitFor();
    await looked('changes-diff');
    await untilKept(page, 'relay', 'drafts', 'guests should be limited too');
    await page.reload();
    await page.getByText('2 comments').waitFor();
    await page.getByRole('button', { name: /route\.ts/ }).click();
    await page.getByText('Why was this removed?').waitFor();
    expect(daemon.inbox.all.filter(({ type }) => type === 'task_resume')).toEqual([]);
    await page.getByRole('button', { name: 'Send comments' }).click();
    const task = await daemon.next('task_resume');
    expect(task['message']).toBe(
      [
        'Comments on your changes:',
        "src/invites/route.ts, line 13 (old):\n> router.post('/invites', signedIn, create);\nWhy was this removed?",
        "src/invites/route.ts, line 13 (new):\n> router.post('/invites', signedIn, limit, create);\nPut `limit` before `signedIn`: guests should be limited too.",
      ].join('\n\n'),
    );
    expect(task).not.toHaveProperty('prompt_uuid');
    daemon.event(String(task['task_id']), 'TASK_COMPLETE', { session_id: 'limit', result: 'Done.' });
    await page.locator('.log').waitFor();
    await page.getByRole('link', { name: /^Changes to/ }).click();
    await page.getByRole('button', { name: /route\.ts/ }).waitFor();
    expect(await page.getByText('2 comments').count()).toBe(0);
  });

  it('keeps a comment on a line that has changed', async () => {
    const { page } = person;
    await page.getByRole('button', { name: /route\.ts/ }).click();
    await page.getByRole('button', { name: 'Comment on line 13, new' }).click();
    await page.getByRole('textbox', { name: 'Comment on line 13, new' }).fill('Not like this');
    await page.getByRole('button', { name: 'Add comment' }).click();
    lines = [{ ...hunks[0]!, lines: [' const router = Router();', '+router.use(limit);'] }];
    await page.getByRole('button', { name: 'Read again' }).click();
    await page.getByText('The line has changed since. Old:').waitFor();
    await page.getByText('Not like this').waitFor();
    await page.getByRole('button', { name: 'Delete comment', exact: true }).click();
    lines = hunks;
  });

  const comment = async (text: string) => {
    const { page } = person;
    await page.getByRole('button', { name: /route\.ts/ }).click();
    await page.getByRole('button', { name: 'Comment on line 13, new' }).click();
    await page.getByRole('textbox', { name: 'Comment on line 13, new' }).fill(text);
    await page.getByRole('button', { name: 'Add comment' }).click();
    await page.locator('.comment-bar').getByText('1 comment').waitFor();
  };
  const messageOf = (text: string) =>
    `Comments on your changes:\n\nsrc/invites/route.ts, line 13 (new):\n> router.post('/invites', signedIn, limit, create);\n${text}`;
  const backToChanges = async () => {
    // A later frame of the session would read the comparison again, and fold its unchanged lines.
    await person.page.locator('main[data-status="idle"]').waitFor();
    await person.page.getByRole('link', { name: /^Changes to/ }).click();
    await person.page.getByRole('button', { name: /route\.ts/ }).waitFor();
  };
  const resumes = (text: string) => daemon.inbox.all.filter((frame) => frame['message'] === messageOf(text));

  it('10: keeps comments while the phone is offline, and sends them once on its return', async () => {
    const { page } = person;
    await page.keyboard.press('Escape');
    await comment('Offline');
    await page.context().setOffline(true);
    await page.getByRole('button', { name: 'Send comments' }).click();
    await page.getByRole('alert').first().waitFor();
    await page.locator('.comment-bar').getByText('1 comment').waitFor();
    await page.context().setOffline(false);
    // The connection breaks after the relay has accepted the message.
    await page.route('**/messages', async (route) => {
      await route.fetch();
      await route.abort();
    });
    await page.getByRole('button', { name: 'Send comments' }).click();
    const task = await daemon.next('task_resume', ({ message }) => message === messageOf('Offline'));
    await page.unroute('**/messages', undefined);
    await page.getByRole('button', { name: 'Send comments' }).click();
    daemon.event(String(task['task_id']), 'TASK_COMPLETE', { session_id: 'limit', result: 'Done.' });
    await backToChanges();
    expect(resumes('Offline').length).toBe(1);
    expect(await page.locator('.comment-bar').count()).toBe(0);
  });

  it('11: sends comments while the agent asks, without answering it', async () => {
    const { page } = person;
    const id = `${daemon.deviceId}:scripted:limit`;
    const headers = { Authorization: person.bearer, 'Content-Type': 'application/json' };
    const send = (body: object) =>
      fetch(`${relay.url}/api/sessions/${encodeURIComponent(id)}/messages`, {
        ...{ method: 'POST', headers, body: JSON.stringify(body) },
      });
    await send({ content: 'Ask me' });
    const asking = await daemon.next('task_resume', ({ message }) => message === 'Ask me');
    const options = [{ id: 'yes', label: 'Yes' }];
    const question = { uuid: 'open', title: 'Shall I?', kind: 'choice', options, text: true };
    daemon.event(String(asking['task_id']), 'WAIT_FOR_USER', { session_id: 'limit', prompt: 'Shall I?', options, question }); // prettier-ignore
    await comment('While it asks');
    await page.getByRole('button', { name: 'Send comments' }).click();
    await page.getByRole('heading', { name: 'Shall I?' }).waitFor();
    expect(resumes('While it asks')).toEqual([]);
    await page.getByRole('button', { name: 'Yes', exact: true }).click();
    const answer = await daemon.next('task_resume', ({ prompt_uuid: uuid }) => uuid === 'open');
    expect(answer).toMatchObject({ option_id: 'yes' });
    daemon.event(String(answer['task_id']), 'TASK_COMPLETE', { session_id: 'limit', result: 'Done.' });
    const sent = await daemon.next('task_resume', ({ message }) => message === messageOf('While it asks'));
    expect(sent).not.toHaveProperty('prompt_uuid');
    daemon.event(String(sent['task_id']), 'TASK_COMPLETE', { session_id: 'limit', result: 'Done.' });
    await backToChanges();
  });

  it('19: walks through the files with J and K, and back to the list with Escape', async () => {
    const { page } = person;
    const shown = page.locator('.file-bar code');
    for (const [key, path] of [
      ['j', 'src/invites/route.ts'],
      ['j', 'src/limits.ts'],
      ['j', 'db/0042_invites.sql'],
      ['k', 'src/limits.ts'],
    ] as const) {
      await page.keyboard.press(key);
      await shown.filter({ hasText: path }).waitFor();
    }
    await page.keyboard.press('Escape');
    await shown.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: /route\.ts/ }).click();
    await page.getByText('signedIn, limit, create').first().waitFor();
  });

  it('shows the unchanged lines around a change, and accepts comments on them', async () => {
    const { page } = person;
    await page.getByRole('button', { name: 'Lines 1 to 11 unchanged · Show' }).click();
    await page.getByText('const before11 = 10;').waitFor();
    await page.getByText('export { router };').waitFor();
    expect(await page.locator('.diff .ln').count()).toBe(15);
    await page.getByRole('button', { name: 'Comment on line 11, new' }).waitFor();
    expect(await page.getByRole('button', { name: /unchanged/ }).count()).toBe(0);
  });

  it('copies the loaded lines as a patch', async () => {
    const { page } = person;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: /route\.ts/ }).click();
    await page.getByText('signedIn, limit, create').first().waitFor();
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('button', { name: 'Copy as patch' }).click();
    const patch = [
      'diff --git a/src/invites/route.ts b/src/invites/route.ts',
      '--- a/src/invites/route.ts',
      '+++ b/src/invites/route.ts',
      '@@ -12,2 +12,2 @@',
      ...hunks[0]!.lines,
      '',
    ].join('\n');
    const copied = () =>
      page.evaluate(() =>
        (
          globalThis as unknown as { navigator: { clipboard: { readText(): Promise<string> } } }
        ).navigator.clipboard.readText(),
      );
    expect(await eventually(copied, (text) => text === patch)).toBe(patch);
    await page.keyboard.press('Escape');
  });

  it('fills the composer with a request, and sends nothing by itself', async () => {
    const { page } = person;
    const before = daemon.inbox.all.filter(({ type }) => type === 'task_resume').length;
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('button', { name: 'Ask to commit…' }).last().click();
    await page.waitForFunction(() =>
      /^Commit these changes/.test(
        (
          globalThis as unknown as { document: { querySelector(name: string): { value: string } | null } }
        ).document.querySelector('textarea')?.value ?? '',
      ),
    );
    expect(daemon.inbox.all.filter(({ type }) => type === 'task_resume')).toHaveLength(before);
    await page.getByRole('textbox', { name: 'Message' }).fill('');
  });

  it('opens with /diff in the composer, which sends nothing, and with the keys G, C', async () => {
    const { page } = person;
    const before = daemon.inbox.all.filter(({ type }) => type === 'task_resume').length;
    const message = page.getByRole('textbox', { name: 'Message' });
    await message.fill('/diff');
    await page.getByRole('option', { name: /diff/ }).waitFor();
    await message.press('Enter');
    await page.waitForURL('**/changes');
    await page.goBack();
    await message.waitFor();
    expect(await message.inputValue()).toBe('');
    await page.locator('h1').focus();
    await page.keyboard.press('g');
    await page.keyboard.press('c');
    await page.waitForURL('**/changes');
    await page.goBack();
    await message.waitFor();
    expect(daemon.inbox.all.filter(({ type }) => type === 'task_resume')).toHaveLength(before);
  });

  it('shows the whole file and the folders around it', async () => {
    const { page } = person;
    await page.getByRole('link', { name: /^Changes to/ }).click();
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('button', { name: 'Browse files' }).click();
    await page.getByRole('button', { name: 'limits.ts' }).last().click();
    await page.getByText('const a = 1;').waitFor();
    await page.getByText('Read only').waitFor();
    await looked('file');
    expect(asked.at(-1)).toMatchObject({ type: 'get_file', path: 'limits.ts', offset: 0 });
  });
});
