/** `npm run pictures`: every page on a desk and on a phone, light and dark, into docs/pictures/. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Registration, oneTimeCode } from '@relay/testing';
import type { Browser } from 'playwright-core';
import {
  type BrowserRelay,
  type Person,
  askForCode,
  launchBrowser,
  newPerson,
  password,
  registeredDevice,
  startBrowserRelay,
} from './browser.ts';
import { type TranscriptDaemon, connectTranscriptDaemon, item, put } from './transcript-daemon.ts';

/** The fonts of the design; machines with these fonts take the same pictures. */
const fonts = join(tmpdir(), 'relay-pictures-fonts.conf');
writeFileSync(
  fonts,
  `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><include>/etc/fonts/fonts.conf</include>
${[
  ['system-ui', 'Inter'],
  ['sans-serif', 'Inter'],
  ['ui-monospace', 'JetBrains Mono'],
  ['monospace', 'JetBrains Mono'],
]
  .map(
    ([of, is]) =>
      `<match><test name="family"><string>${of}</string></test><edit name="family" mode="prepend" binding="strong"><string>${is}</string></edit></match>`,
  )
  .join('')}</fontconfig>`,
);
process.env.FONTCONFIG_FILE = fonts;

const folder = fileURLToPath(new URL('../../docs/pictures/', import.meta.url));
const mostBytes = 3_000_000;
/** A fixed port, so that addresses in the pictures equal the README. */
const port = 4000;
const looks = [
  { name: 'desk-light', width: 1360, height: 860, colorScheme: 'light' },
  { name: 'desk-dark', width: 1360, height: 860, colorScheme: 'dark' },
  { name: 'phone-light', width: 390, height: 844, colorScheme: 'light' },
  { name: 'phone-dark', width: 390, height: 844, colorScheme: 'dark' },
  { name: 'phone-wide', width: 844, height: 390, colorScheme: 'light' },
] as const;
/** Only narrow layouts need a picture of a phone on its side. */
const upright = looks.map(({ name }) => name).filter((name) => name !== 'phone-wide');

/** A program on this computer asks for access. */
const consentPath = `/auth/oauth2/authorize?${new URLSearchParams({
  response_type: 'code',
  client_id: 'relay-cli',
  redirect_uri: 'http://127.0.0.1:4999/callback',
  scope: 'openid offline_access sessions:read devices:read',
  state: 'xyz',
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
}).toString()}`;

const call = (n: number, does: string, fields: object) =>
  item(`c${n}`, n, { kind: 'tool', id: `c${n}`, title: '', does, status: 'completed', ...fields });
const saved = [' async function save(file: File) {', "-  if (file.size > limit) throw new Error('large');", '+  if (file.size > limit) throw new TooLarge(file.size);', '+  if (!isImage(file.type)) throw new NoImage(file.type);', '   return store.put(file);', ' }']; // prettier-ignore
/** A turn of an agent, from the person's message to its answer. */
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

  /** Takes pictures of the open page in every look. */
  async function take(name: string, only: readonly string[] = upright): Promise<void> {
    const client = await person.context.newCDPSession(person.page);
    for (const { name: look, colorScheme, ...viewport } of looks.filter((one) => only.includes(one.name))) {
      await person.page.setViewportSize(viewport);
      await person.page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      // Waits for the transitions of colours.
      await person.page.evaluate('Promise.allSettled(document.getAnimations().map(({ finished }) => finished))');
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
    // Closes the list of folders, which would cover the button.
    await person.page.keyboard.press('Tab');
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
  const ask = (taskId: string, nativeId: string, uuid: string, title: string, subject: object) => {
    daemon.say(taskId, nativeId, [put(item(uuid, 3, { kind: 'question', state: 'open', question: { title } }))]);
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
  };

  it('takes the pictures of guests, and of the first machine', async () => {
    await person.goto(relay.setupLink);
    await person.heading('Create the first account');
    await take('setup', ['desk-light', 'phone-dark']);
    await person.createAccount(relay.setupLink, 'ada@example.com');
    await take('connect');
    const { link } = await askForCode(relay.url, 'macbook.lan', 'MacBook Pro', 'claude_code');
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
    await person.page.locator('.log').getByText('Both limits live in').first().waitFor();
    ask(limit, 'limit', 'q1', 'Run the database migration?', { type: 'command', command: 'npm run db:migrate -- --env staging' }); // prettier-ignore
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
    const wipe = await start('Clean up the build folder', 'wipe', 'garden-api');
    daemon.say(wipe, 'wipe', [put(item('w1', 2, { kind: 'text' }, 'A clean start takes the old build away first.'))]);
    await person.page.locator('.log').getByText('takes the old build').first().waitFor();
    ask(wipe, 'wipe', 'q2', 'Remove the build folder?', { type: 'command', command: 'rm -rf build && npm run build' });
    await person.page.locator('.q').getByText('rm -rf build').waitFor();
    await take('dangerous', ['desk-light', 'phone-dark', 'phone-wide']);
    await person.goto('/');
    await person.heading(/./);
    await person.page.waitForLoadState('networkidle');
    await take('inbox', ['desk-light', 'phone-dark']);
  });

  it('takes the pictures of the other pages', async () => {
    await person.goto('/sessions/new');
    await person.heading('New session');
    await person.page.getByLabel(/^What should/).fill('The invoice mail has no footer. Find out why, and add a test.');
    await person.page.getByRole('radio', { name: /MacBook Pro/ }).check({ force: true });
    await take('new-session', ['desk-light', 'phone-dark']);
    await person.page.getByRole('combobox').fill('');
    await person.page.getByRole('option', { name: 'storefront' }).waitFor();
    await take('folders', ['desk-light', 'phone-light']);
    for (const [path, heading, name] of [
      ['/devices', 'Machines', 'machines'],
      [`/devices/${registration.deviceId}`, 'MacBook Pro', 'machine'],
      ['/account', 'Settings', 'settings'],
      ['/applications', 'Apps', 'apps'],
      ['/notifications', 'Notifications', 'notifications'],
      ['/activity', 'Activity', 'activity'],
      ['/device', 'Connect a machine', 'code'],
      ['/nothing', 'Page not found', 'not-found'],
    ] as const) {
      await person.goto(path);
      await person.heading(heading);
      await person.page.waitForLoadState('networkidle');
      await take(name, ['desk-light', 'phone-dark']);
    }
  });

  it('takes the pictures of secrets that are shown once: a key, a token, a link', async () => {
    const { page } = person;
    await person.goto('/devices');
    await person.click('Make a key');
    await page.getByLabel('Name (optional)').fill('Build machines');
    await person.click('Make a key');
    await page.getByLabel('the command that registers with the key', { exact: true }).scrollIntoViewIfNeeded();
    await take('device-key', ['desk-light', 'phone-dark']);
    await person.goto(`/devices/${registration.deviceId}`);
    await page.getByLabel('The app, like “Phone”').fill('My phone');
    await person.click('Connect an ACP app');
    await page.getByRole('img', { name: 'QR code of the address and the token' }).scrollIntoViewIfNeeded();
    await take('acp-app', ['desk-light', 'phone-dark']);
    await person.goto('/account');
    await person.click('Create invitation link');
    const link = page.getByRole('group', { name: 'the invitation link' });
    await link.scrollIntoViewIfNeeded();
    await take('invite', ['desk-light', 'phone-dark']);
    const invitation = await link.innerText();
    await person.click('Set up');
    await page.getByLabel('Your password', { exact: true }).fill(password);
    await person.click('Continue');
    await page.getByRole('img', { name: 'QR code for your authenticator app' }).scrollIntoViewIfNeeded();
    await take('second-step', ['desk-light', 'phone-dark']);
    const secret = (await page.getByLabel('the key', { exact: true }).textContent())!;
    await page.getByLabel('Code', { exact: true }).fill(oneTimeCode(secret));
    await person.click('Turn on');
    await page.getByRole('list', { name: 'Recovery codes' }).scrollIntoViewIfNeeded();
    await take('recovery-codes', ['desk-light', 'phone-dark']);
    await person.click('I have saved them');
    await person.goto(consentPath);
    await person.heading('Allow access?');
    await take('consent', ['desk-light', 'phone-dark']);
    await person.context.clearCookies();
    await person.goto('/sign-in');
    await person.heading('Sign in');
    await take('sign-in', ['desk-light', 'phone-dark']);
    await person.signIn('ada@example.com');
    await person.heading('Second step at sign-in');
    await take('second-step-sign-in', ['desk-light', 'phone-dark']);
    await person.goto(invitation);
    await person.heading('You’re invited');
    await take('invited', ['desk-light', 'phone-dark']);
    await person.goto('/error?error=invalid_client');
    await person.heading('Sign-in didn’t work');
    await take('error', ['desk-light', 'phone-dark']);
  });

  it('are small enough for a repository', () => {
    const bytes = readdirSync(folder).reduce((sum, file) => sum + statSync(`${folder}${file}`).size, 0);
    process.stdout.write(`docs/pictures: ${readdirSync(folder).length} files, ${Math.round(bytes / 1000)} kB\n`);
    expect(bytes).toBeLessThanOrEqual(mostBytes);
  });
});
