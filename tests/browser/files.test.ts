/** Files in a real browser: attach, send in pieces, keep over a reload, and save files of the agent without opening them. */
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWith } from '@relay/testing/needs';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { type Registration, type TestDaemon, connectDaemon } from '@relay/testing';
import type { Browser } from 'playwright-core';
import {
  type BrowserRelay,
  type Person,
  axeFindings,
  eventually,
  launchBrowser,
  everyLook,
  newPerson,
  phone,
  registeredDevice,
  startBrowserRelay,
} from './browser.ts';

const page = '<script>document.title = "ran"</script>';
const mimes: Readonly<Record<string, string>> = { 'drawing.svg': 'image/svg+xml', 'paper.pdf': 'application/pdf' };

describeWith('chromium', 'files', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  let person: Person;
  let registration: Registration;
  let daemon: TestDaemon;
  /** The bytes of the files that the daemon has, by id. */
  let files = new Map<string, { name: string; size: number; bytes: Buffer }>();
  /** While it is set, the daemon answers no piece. */
  let held: (() => void)[] | undefined;
  const headers = { 'X-Daemon-Capabilities': 'transcript, content, images, files' };
  let items: unknown[] = [];

  const answers = (to: TestDaemon) => {
    to.socket.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString('utf8')) as Record<string, string> & { size?: number };
      const { type, request_id: id, file_id: file = '' } = frame;
      const result = () => {
        const known = files.get(file)!;
        const received = known.bytes.length;
        to.send({ type: 'file_result', request_id: id, received, done: received === known.size });
      };
      if (type === 'file_open') {
        if (!files.has(file)) files.set(file, { name: frame['name']!, size: frame.size!, bytes: Buffer.alloc(0) });
        result();
      }
      if (type === 'file_piece') {
        const known = files.get(file)!;
        const take = () => {
          if (Number(frame['offset']) !== known.bytes.length)
            return to.send({
              ...{ type: 'file_result', request_id: id, received: known.bytes.length },
              ...{ code: 'FILE_INCOMPLETE', error: 'out of order' },
            });
          known.bytes = Buffer.concat([known.bytes, Buffer.from(frame['data']!, 'base64')]);
          result();
        };
        if (held) held.push(take);
        else take();
      }
      if (type === 'file_drop') files.delete(file);
      if (type === 'get_messages')
        to.send({
          ...{ type: 'messages', request_id: id, session_id: frame['session_id'], has_more: false },
          ...{ oldest_uuid: 'first', newest_uuid: 'last', v: 9, messages: items },
        });
      if (type === 'content_request')
        to.send({
          ...{ type: 'content_response', request_id: id, session_id: frame['session_id'], name: 'dashboard.html' },
          ...{ mime: 'application/octet-stream', size: page.length, data: Buffer.from(page).toString('base64') },
        });
    });
    return to;
  };

  const look = async (name: string) => {
    await everyLook(person, name);
    await person.page.setViewportSize(phone);
  };

  beforeAll(async () => {
    relay = await startBrowserRelay();
    browser = await launchBrowser();
    person = await newPerson(browser, relay.url, { viewport: phone });
    await person.createAccount(relay.setupLink, 'ada@example.com');
    registration = await registeredDevice(person);
    daemon = answers(await connectDaemon(relay.relay, { registration, headers }));
  });
  afterAll(async () => {
    await browser?.close();
    await daemon?.drop();
    await relay?.end();
  });
  afterEach(() => expect(person.complaints).toEqual([]));

  const chips = () => person.page.getByRole('list', { name: 'Attached files' }).getByRole('listitem');
  const choose = (...chosen: { name: string; bytes: number }[]) =>
    person.page
      .locator('input[type=file]')
      .setInputFiles(
        chosen.map(({ name, bytes }) => ({ name, mimeType: 'text/csv', buffer: Buffer.alloc(bytes, 'x') })),
      );

  it('are refused beyond 25 MB with their size, and a menu offers each way', async () => {
    await person.goto('/sessions/new');
    await person.page.getByRole('button', { name: 'Add photos or files' }).click();
    for (const name of ['Photo or image', 'File…', 'Ask for a file'])
      await person.page.getByRole('button', { name }).waitFor();
    await person.picture('files-menu');
    await person.page.keyboard.press('Escape');
    const folder = mkdtempSync(join(tmpdir(), 'relay-files-'));
    writeFileSync(join(folder, 'large.csv'), '');
    truncateSync(join(folder, 'large.csv'), 25 * 1024 * 1024 + 1);
    await person.page.locator('input[type=file]').setInputFiles(join(folder, 'large.csv'));
    await person.page.getByText('large.csv is 26.2 MB. Files can be 25 MB.').waitFor();
    rmSync(folder, { recursive: true });
    expect(await chips().count()).toBe(0);
  });

  it('travel in pieces while the person writes, and the message goes once they are there', async () => {
    held = [];
    await choose({ name: 'march.csv', bytes: 1024 * 1024 + 7 }, { name: 'april.csv', bytes: 9 });
    await chips().filter({ hasText: 'april.csv' }).getByText('waits').waitFor();
    expect(await axeFindings(person)).toEqual([]);
    await look('files-attached');
    await person.page.getByLabel(/^What should/).fill('Compare them');
    await person.click('Start session');
    await person.page.getByText('Sending 2 files…').waitFor();
    expect(daemon.inbox.count('task_start')).toBe(0);
    const waiting = held;
    held = undefined;
    for (const take of waiting) take();
    const task = await daemon.next('task_start');
    const ids = task['files'] as string[];
    expect(ids.map((id) => [files.get(id)?.name, files.get(id)?.bytes.length])).toEqual([
      ['march.csv', 1024 * 1024 + 7],
      ['april.csv', 9],
    ]);
    const uuid = String(task['message_uuid']);
    const named = ids.map((id, at) => ({
      name: files.get(id)!.name,
      mime: '',
      bytes: files.get(id)!.size,
      data: `file${at}`,
    }));
    const at = new Date().toISOString();
    items = [
      { uuid, role: 'USER', content: 'Compare them', part: { kind: 'user', files: named } },
      { uuid: 'text', role: 'AGENT', content: 'Here:', part: { kind: 'text' } },
      ...['report.xlsx', 'dashboard.html', 'drawing.svg', 'paper.pdf', 'all.zip'].map((name) => ({
        ...{ uuid: name, role: 'AGENT', content: name },
        part: { kind: 'file', name, mime: mimes[name] ?? '', bytes: page.length, data: 'file', ...(name === 'all.zip' ? { shared: true } : {}) }, // prettier-ignore
      })),
    ].map((item, index) => ({ ...item, seq: index + 1, v: 9, timestamp: at }));
    daemon.event(task.task_id as string, 'SESSION_STARTED', { session_id: 'files' });
    daemon.event(task.task_id as string, 'TASK_COMPLETE', { session_id: 'files', result: 'Here:' });
    await person.text('Here:');
    await person.page.reload();
    await person.page.getByRole('list', { name: 'Files', exact: true }).getByText('april.csv').waitFor();
  });

  it('of the agent are saved as bytes, with a warning where they can run code, and nothing of them runs', async () => {
    const card = person.page.locator('[data-kind=file]').filter({ hasText: 'dashboard.html' });
    await card.getByText('Can run code. Relay never opens it; save it only if you expected it.').waitFor();
    await look('files-cards');
    expect(await axeFindings(person)).toEqual([]);
    const outside: string[] = [];
    person.page.on('request', (request) => request.url().startsWith(relay.url) || outside.push(request.url()));
    for (const [name, runs] of [
      ['dashboard.html', 1],
      ['drawing.svg', 1],
      ['paper.pdf', 0],
      ['report.xlsx', 0],
      ['all.zip', 0],
    ] as const) {
      const one = person.page.locator('[data-kind=file]').filter({ hasText: name });
      const download = person.page.waitForEvent('download');
      await one.getByRole('button', { name: 'Download' }).click();
      const saved = await download;
      expect([name, saved.suggestedFilename()]).toEqual([name, name]);
      expect(readFileSync(await saved.path(), 'utf8')).toBe(page);
      expect([name, await one.getByText('Can run code').count()]).toEqual([name, runs]);
      expect([name, await one.locator('img, object, embed, iframe').count()]).toEqual([name, 0]);
    }
    expect(await person.page.title()).not.toBe('ran');
    expect(outside.filter((url) => !url.startsWith('blob:'))).toEqual([]);
  });

  it('of an agent that shared its folder with another session show that', async () => {
    const note = person.page.getByText('Several sessions ran in this folder, so the file can be from another one.');
    await person.page.locator('[data-kind=file]').filter({ hasText: 'all.zip' }).filter({ has: note }).waitFor();
    expect(await note.count()).toBe(1);
  });

  it('of the agent are bytes, and nothing of them runs, also when their address is opened by hand', async () => {
    const session = encodeURIComponent(`${registration.deviceId}:scripted:files`);
    for (const name of ['dashboard.html', 'drawing.svg', 'paper.pdf', 'report.xlsx', 'all.zip']) {
      const path = `/api/sessions/${session}/items/${name}/content/file?download=1`;
      const response = await fetch(`${relay.url}${path}`, { headers: { Authorization: person.bearer } });
      expect([name, response.status, await response.text()]).toEqual([name, 200, page]);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': 'application/octet-stream',
        'content-disposition': expect.stringMatching(/^attachment;/),
        'x-content-type-options': 'nosniff',
        'content-security-policy': expect.stringContaining('sandbox'),
        'cache-control': 'no-store',
      });
    }
  });

  it('wait for their machine, survive a reload, and continue where they stopped', async () => {
    const message = person.page.getByLabel('Message', { exact: true });
    held = [];
    await choose({ name: 'may.csv', bytes: 12 });
    await message.fill('And May');
    await eventually(
      () => held?.length ?? 0,
      (count) => count > 0,
    );
    await daemon.drop();
    held = undefined;
    await chips().getByText('waits for').waitFor();
    await person.page.getByText('This device keeps the file until then.').waitFor();
    await person.page.reload();
    await chips().getByText('may.csv').waitFor();
    await person.page.locator('.dock textarea', { hasText: 'And May' }).waitFor();
    daemon = answers(await connectDaemon(relay.relay, { registration, headers }));
    await message.press('Enter');
    const task = await daemon.next('task_resume');
    const [id] = task['files'] as [string];
    expect(files.get(id)?.bytes.length).toBe(12);
    await chips().waitFor({ state: 'detached' });
    daemon.event(task.task_id as string, 'TASK_COMPLETE', { session_id: 'files', result: 'Here:' });
    files = new Map();
  });

  it('can be asked for with a sentence that the person can edit', async () => {
    await person.page.getByRole('button', { name: 'Add photos or files' }).click();
    await person.page.getByRole('button', { name: 'Ask for a file' }).click();
    expect(await person.page.getByLabel('Message', { exact: true }).inputValue()).toBe('Put the file into .relay/out.');
  });
});
