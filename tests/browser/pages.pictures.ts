/** `npm run pictures`: every page as people see it, on a desk and on a phone, light and dark, into docs/pictures/. */
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Registration } from '@relay/testing';
import type { Browser } from 'playwright-core';
import {
  type BrowserRelay,
  type Person,
  askForCode,
  launchBrowser,
  newPerson,
  registeredDevice,
  startBrowserRelay,
} from './browser.ts';
import { type TranscriptDaemon, connectTranscriptDaemon, item, put } from './transcript-daemon.ts';

const folder = fileURLToPath(new URL('../../docs/pictures/', import.meta.url));
const mostBytes = 3_000_000;
/** A port of its own, so that addresses in the pictures are those of the README. */
const port = 4000;
const looks = [
  { name: 'desk-light', width: 1360, height: 860, colorScheme: 'light' },
  { name: 'desk-dark', width: 1360, height: 860, colorScheme: 'dark' },
  { name: 'phone-light', width: 390, height: 844, colorScheme: 'light' },
  { name: 'phone-dark', width: 390, height: 844, colorScheme: 'dark' },
] as const;

const call = (n: number, does: string, fields: object) =>
  item(`c${n}`, n, { kind: 'tool', id: `c${n}`, title: '', does, status: 'completed', ...fields });
const saved = [' async function save(file: File) {', "-  if (file.size > limit) throw new Error('large');", '+  if (file.size > limit) throw new TooLarge(file.size);', '+  if (!isImage(file.type)) throw new NoImage(file.type);', '   return store.put(file);', ' }']; // prettier-ignore
/** A turn of an agent, from the words of the person to its answer. */
const story = [
  item('s2', 2, { kind: 'thought' }, 'I look at `save` first.'),
  call(3, 'read', { places: [{ path: 'src/uploads/save.ts' }] }),
  call(4, 'read', { places: [{ path: 'src/uploads/limits.ts' }] }),
  call(5, 'search', { title: 'throw new Error' }),
  item('s6', 6, { kind: 'text' }, 'Two things are wrong:\n\n1. **Size:** it is checked *after* the file was read.\n2. **Type:** it is never checked, so `notes.txt` becomes an image.'), // prettier-ignore
  call(7, 'edit', { places: [{ path: 'src/uploads/save.ts' }], diffs: [{ path: 'src/uploads/save.ts', change: 'edit', added: 2, removed: 1, hunks: [{ old: 12, new: 12, lines: saved }] }] }), // prettier-ignore
  call(8, 'execute', { command: 'npm test -- uploads', title: 'npm test -- uploads', exit: 0 }),
  item('s9', 9, { kind: 'text' }, 'Uploads are checked before they are read.\n\n| Case | Before | Now |\n| --- | ---: | ---: |\n| 6 MB image | 1,840 ms | 12 ms |\n| Empty file | 500 | 422 |'), // prettier-ignore
];

const agents = (list: string) => ({ 'X-Agents': list });

describe('pictures', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  let person: Person;
  let registration: Registration;
  let daemon: TranscriptDaemon;
  const daemons: TranscriptDaemon[] = [];

  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  const entry = (session_id: string, title: string, project: string, last_message: string, minutes: number) => ({
    session_id,
    title,
    project: project === '' ? '' : `/home/ada/code/${project}`,
    last_message,
    last_activity: ago(minutes),
  });

  beforeAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    relay = await startBrowserRelay({}, port);
    browser = await launchBrowser();
    person = await newPerson(browser, relay.url, { viewport: { width: 1360, height: 860 }, locale: 'en-GB' });
  });
  afterAll(async () => {
    await browser?.close();
    for (const one of daemons) await one.drop();
    await relay?.end();
  });

  /** The page that is open, in every look. */
  async function take(name: string, only: readonly string[] = looks.map((look) => look.name)): Promise<void> {
    const client = await person.context.newCDPSession(person.page);
    for (const { name: look, colorScheme, ...viewport } of looks.filter((one) => only.includes(one.name))) {
      await person.page.setViewportSize(viewport);
      await person.page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await person.page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
      const { data } = await client.send('Page.captureScreenshot', { format: 'webp', quality: 82 });
      writeFileSync(`${folder}${name}-${look}.webp`, Buffer.from(data, 'base64'));
    }
    await client.detach();
  }

  async function start(words: string, nativeId: string, project: string): Promise<string> {
    await person.goto('/sessions/new');
    await person.page.getByLabel(/^What should/).fill(words);
    await person.page.getByLabel('Folder on the machine').fill(`/home/ada/code/${project}`);
    await person.page.getByRole('radio', { name: /MacBook Pro/ }).check({ force: true });
    await person.click('Start session');
    const task = await daemon.next('task_start');
    const taskId = task.task_id as string;
    daemon.send({ type: 'status', running_tasks: [taskId] });
    daemon.event(taskId, 'SESSION_STARTED', { session_id: nativeId });
    daemon.say(taskId, nativeId, [put(item(task.message_uuid as string, 1, { kind: 'user' }, words))]);
    await person.page.waitForURL(`**${encodeURIComponent(`:scripted:${nativeId}`)}`);
    return taskId;
  }
  const ask = (taskId: string, uuid: string, title: string, subject: object) =>
    daemon.event(taskId, 'WAIT_FOR_USER', {
      prompt: title,
      result: '',
      options: [{ label: 'Allow once' }, { label: 'Reject' }],
      message_uuid: uuid,
      question: {
        uuid,
        title,
        kind: 'permission',
        options: [
          { id: 'yes', label: 'Allow once', kind: 'allow_once' },
          { id: 'no', label: 'Reject', kind: 'reject_once' },
        ],
        text: true,
        subject,
      },
    });

  it('takes the pictures of people who are not signed in, and of the first machine', async () => {
    await person.goto(relay.setupLink);
    await person.heading('Create the first account');
    await take('setup', ['desk-light', 'phone-dark']);
    await person.createAccount(relay.setupLink, 'ada@example.com');
    await take('connect');
    const { link } = await askForCode(relay.url, 'macbook.lan', 'MacBook Pro');
    await person.goto(link);
    await person.heading('Connect a machine');
    await person.page.getByRole('button', { name: 'Approve' }).waitFor();
    await take('approve', ['desk-light', 'phone-light']);
  });

  it('takes the pictures of a morning of work', async () => {
    registration = await registeredDevice(person, 'MacBook Pro');
    daemon = await connectTranscriptDaemon(relay.relay, registration, {
      capabilities: ['browse'],
      headers: agents(
        'scripted;name=Claude%20Code;version=2.1.0, codex;name=Codex;version=2.6.0, opencode;version=1.4',
      ),
    });
    daemon.socket.on('message', (data: Buffer) => {
      const { type, request_id } = JSON.parse(data.toString('utf8')) as { type: string; request_id: string };
      const folders = ['garden-api', 'photos', 'storefront', '.dotfiles'].map((name) => ({ name, path: `/home/ada/code/${name}` })); // prettier-ignore
      if (type === 'get_folders') daemon.send({ type: 'folders', request_id, path: '/home/ada/code', parent: '', folders }); // prettier-ignore
    });
    const server = await connectTranscriptDaemon(relay.relay, await registeredDevice(person, 'build-server'), {
      headers: agents('scripted;name=OpenCode;version=1.4'),
    });
    daemons.push(daemon, server);
    daemon.send({
      type: 'report_sessions',
      sessions: [
        entry('node24', 'Upgrade to Node 24', 'garden-api', 'Done: 14 files changed', 30),
        entry('pdf', 'Why is the invoice PDF empty?', 'garden-api', 'The font was missing in the image', 190),
        entry('photos', 'Rename my holiday photos', '', 'All 212 have a date in front', 4000),
      ],
    });
    server.send({
      type: 'report_sessions',
      sessions: [
        entry('safari', 'Checkout is slow on Safari', 'storefront', 'Two images of 6 MB each', 70),
        entry('notes', 'Release notes for 2.4', 'storefront', 'The queue now survives a restart', 3000),
        entry('mail', 'Move the mail queue to Postgres', 'storefront', 'Moved', 20_000),
      ],
    });
    const parts = await start('Tidy up the upload code', 'parts', 'garden-api');
    daemon.say(parts, 'parts', story.map(put));
    daemon.event(parts, 'TASK_COMPLETE', { result: 'Uploads are checked before they are read.' });
    daemon.send({ type: 'status', running_tasks: [] });
    await person.page.locator('main[data-status="idle"]').waitFor();
    await person.page.locator('.log').getByText('Uploads are checked before').first().waitFor();
    const flaky = await start('Find out why queue.spec.ts is flaky', 'flaky', 'garden-api');
    daemon.event(flaky, 'PROGRESS', { action: 'Running', target: 'npm test, run 17 of 50' });
    await person.page.locator('.now-line').getByText('run 17 of 50').waitFor();
    const limit = await start('Limit the invites of an account', 'limit', 'garden-api');
    daemon.say(limit, 'limit', [
      put(item('l1', 2, { kind: 'text' }, 'Both limits live in `src/limits.ts`. The table needs one migration.')),
    ]);
    ask(limit, 'q1', 'Run the database migration?', { type: 'command', command: 'npm run db:migrate -- --env staging' }); // prettier-ignore
    daemon.send({ type: 'status', running_tasks: [flaky] });
    await person.page.locator('.q').getByText('npm run db:migrate').waitFor();
    await take('question');
    daemon.send({
      type: 'report_sessions',
      sessions: [entry('node24', 'Upgrade to Node 24', 'garden-api', 'Done: 14 files changed, all tests pass', 0)],
    });
    await person.goto('/sessions');
    await person.page.locator('.row.un', { hasText: 'Upgrade to Node 24' }).waitFor();
    await take('sessions');
    await person.page.getByRole('searchbox', { name: 'Search sessions' }).fill('queue');
    await person.page.getByText(/sessions? found/).waitFor({ state: 'attached' });
    await take('search', ['desk-light', 'phone-dark']);
    await person.page.getByRole('searchbox', { name: 'Search sessions' }).fill('');
    await person.page.keyboard.press('Control+k');
    await person.page.keyboard.type('queue');
    await person.page.getByText('In messages').waitFor();
    await take('palette', ['desk-light', 'desk-dark', 'phone-light']);
    await person.page.keyboard.press('Escape');
    await person.page.setViewportSize({ width: 1360, height: 860 });
    await person.page.locator('.row', { hasText: 'Tidy up the upload code' }).click();
    await person.page.locator('.log').getByText('Uploads are checked before').first().waitFor();
    await take('conversation');
  });

  it('takes the pictures of the other pages', async () => {
    await person.goto('/sessions/new');
    await person.heading('New session');
    await person.page.getByLabel(/^What should/).fill('The invoice mail has no footer. Find out why, and add a test.');
    await person.page.getByRole('radio', { name: /MacBook Pro/ }).check({ force: true });
    await take('new-session', ['desk-light', 'phone-dark']);
    await person.page.getByRole('combobox').click();
    await person.page.getByRole('option', { name: 'storefront' }).waitFor();
    await take('folders', ['desk-light', 'phone-light']);
    for (const [path, heading, name] of [
      ['/devices', 'Machines', 'machines'],
      [`/devices/${registration.deviceId}`, 'MacBook Pro', 'machine'],
      ['/account', 'Settings', 'settings'],
      ['/applications', 'Apps', 'apps'],
      ['/notifications', 'Notifications', 'notifications'],
    ] as const) {
      await person.goto(path);
      await person.heading(heading);
      await person.page.waitForLoadState('networkidle');
      await take(name, ['desk-light', 'phone-dark']);
    }
    await person.context.clearCookies();
    await person.goto('/sign-in');
    await person.heading('Sign in');
    await take('sign-in', ['desk-light', 'phone-dark']);
  });

  it('are small enough for a repository', () => {
    const bytes = readdirSync(folder).reduce((sum, file) => sum + statSync(`${folder}${file}`).size, 0);
    process.stdout.write(`docs/pictures: ${readdirSync(folder).length} files, ${Math.round(bytes / 1000)} kB\n`);
    expect(bytes).toBeLessThanOrEqual(mostBytes);
  });
});
