/** Images in a real browser: attach, show, remove, paste and send, but only to a machine that accepts them. */
import { describeWith } from '@relay/testing/needs';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { type Registration, type TestDaemon, connectDaemon } from '@relay/testing';
import type { Browser } from 'playwright-core';
import {
  type BrowserRelay,
  type Person,
  eventually,
  launchBrowser,
  newPerson,
  phone,
  registeredDevice,
  startBrowserRelay,
  axeFindings,
} from './browser.ts';

/** One pixel. */
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=';
const png = (name: string) => ({ name, mimeType: 'image/png', buffer: Buffer.from(pixel, 'base64') });
const dataUrl = `data:image/png;base64,${pixel}`;

describeWith('chromium', 'images', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  let person: Person;
  let registration: Registration;
  let daemon: TestDaemon;

  beforeAll(async () => {
    relay = await startBrowserRelay();
    browser = await launchBrowser();
    person = await newPerson(browser, relay.url, { viewport: phone });
    await person.createAccount(relay.setupLink, 'ada@example.com');
    registration = await registeredDevice(person);
    daemon = await connectDaemon(relay.relay, { registration, headers: { 'X-Daemon-Capabilities': 'receipts' } });
  });
  afterAll(async () => {
    await browser?.close();
    await daemon?.drop();
    await relay?.end();
  });
  afterEach(() => expect(person.complaints).toEqual([]));

  const shown = () => person.page.getByRole('list', { name: 'Attached images' }).getByRole('img');
  const choose = (...names: string[]) => person.page.getByLabel('Add images').setInputFiles(names.map(png));

  it('are not offered for a machine that does not accept them', async () => {
    await person.goto('/sessions/new');
    await person.page.getByLabel(/^What should/).waitFor();
    expect(await person.page.getByLabel('Add images').count()).toBe(0);
  });

  it('are offered as soon as its daemon declares that it accepts them', async () => {
    await daemon.close();
    await person.page.getByText('Offline · scripted').waitFor();
    daemon = await connectDaemon(relay.relay, { registration, headers: { 'X-Daemon-Capabilities': 'images' } });
    await person.page.getByLabel('Add images').waitFor();
  });

  it('are shown with their names, and can be removed', async () => {
    await choose('first.png', 'second.png');
    await person.page.getByRole('img', { name: 'second.png' }).waitFor();
    const widths = () =>
      person.page.evaluate<number[]>(
        `[...document.querySelectorAll('.images img')].map((image) => image.naturalWidth)`,
      );
    expect(await eventually(widths, (px) => px.every((one) => one > 0))).toEqual([1, 1]);
    expect(await axeFindings(person)).toEqual([]);
    await person.picture('images-attached');
    await person.page.getByRole('button', { name: 'Remove first.png' }).press('Enter');
    await person.page.getByRole('img', { name: 'first.png' }).waitFor({ state: 'detached' });
    expect(await shown().count()).toBe(1);
  });

  it('are refused at once if they are something else, and attached ones stay', async () => {
    await person.page
      .getByLabel('Add images')
      .setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no image') });
    await person.page.getByRole('alert').filter({ hasText: 'notes.txt isn’t a valid image' }).waitFor();
    expect(await shown().count()).toBe(1);
  });

  it('27.8: other files are refused with the reason when they are dropped or pasted', async () => {
    for (const event of ['drop', 'paste']) {
      const wasTaken = await person.page.evaluate(`(() => {
        const data = new DataTransfer();
        data.items.add(new File(['a;b'], 'march.csv', { type: 'text/csv' }));
        const about = { bubbles: true, cancelable: true };
        const event = '${event}' === 'drop' ? new DragEvent('drop', { ...about, dataTransfer: data }) : new ClipboardEvent('paste', { ...about, clipboardData: data });
        return !document.querySelector('textarea').dispatchEvent(event);
      })()`);
      expect([event, wasTaken]).toEqual([event, true]);
      await person.page
        .getByRole('alert')
        .filter({ hasText: 'laptop takes images only. Update its daemon.' })
        .waitFor();
      await choose('third.png');
      await person.page.getByRole('alert').filter({ hasText: 'images only' }).waitFor({ state: 'detached' });
      await person.page.getByRole('button', { name: 'Remove third.png' }).press('Enter');
    }
    expect(await shown().count()).toBe(1);
  });

  it('are refused before sending if they are larger than 5 MB', async () => {
    const sent: string[] = [];
    person.page.on('request', (request) => sent.push(request.method()));
    const buffer = Buffer.concat([Buffer.from(pixel, 'base64'), Buffer.alloc(5 * 1024 * 1024)]);
    await person.page.getByLabel('Add images').setInputFiles({ name: 'large.png', mimeType: 'image/png', buffer });
    await person.page.getByRole('alert').filter({ hasText: 'large.png is too large' }).waitFor();
    expect(await shown().count()).toBe(1);
    expect(sent).not.toContain('POST');
  });

  it('go with the first message', async () => {
    await person.page.getByLabel(/^What should/).fill('What is this?');
    await person.click('Start session');
    const task = await daemon.next('task_start');
    expect(task).toMatchObject({ instruction: 'What is this?', images: [dataUrl] });
    daemon.event(task.task_id as string, 'SESSION_STARTED', { session_id: 'seen' });
    daemon.event(task.task_id as string, 'TASK_COMPLETE', { session_id: 'seen', result: 'A pixel.' });
    await person.text('A pixel.');
  });

  it('are not sent if they were removed while their message waited for the network', async () => {
    const message = person.page.getByLabel('Message', { exact: true });
    const waits = person.page.locator('.dock').getByText('Waiting for the network');
    await choose('private.png');
    await person.page.getByRole('img', { name: 'private.png' }).waitFor();
    await message.fill('And that?');
    await person.context.setOffline(true);
    await message.press('Enter');
    await waits.waitFor();
    await person.page.getByRole('button', { name: 'Remove private.png' }).click();
    await waits.waitFor({ state: 'detached' });
    await person.context.setOffline(false);
    await message.press('Enter');
    const task = await daemon.next('task_resume');
    expect(task).toMatchObject({ message: 'And that?' });
    expect(task).not.toHaveProperty('images');
    daemon.event(task.task_id as string, 'TASK_COMPLETE', { session_id: 'seen', result: 'Nothing to see.' });
    await person.text('Nothing to see.');
    // The response can come later than the frames, and Enter does nothing until then.
    await person.page.locator('.dock textarea:invalid').waitFor();
  });

  it('can be pasted into a conversation, and disappear from the composer after sending', async () => {
    const message = person.page.getByLabel('Message', { exact: true });
    await message.focus();
    await person.page.evaluate(`{
      const bytes = Uint8Array.from(atob('${pixel}'), (letter) => letter.charCodeAt(0));
      const clipboardData = new DataTransfer();
      clipboardData.items.add(new File([bytes], 'pasted.png', { type: 'image/png' }));
      document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    }`);
    await person.page.getByRole('img', { name: 'pasted.png' }).waitFor();
    await message.fill('And this?');
    await message.press('Enter');
    expect(await daemon.next('task_resume')).toMatchObject({ message: 'And this?', images: [dataUrl] });
    await person.page.getByRole('img', { name: 'pasted.png' }).waitFor({ state: 'detached' });
    expect(await message.inputValue()).toBe('');
  });

  it('can be dropped on a conversation', async () => {
    const isTaken = await person.page.evaluate<boolean>(`{
      const bytes = Uint8Array.from(atob('${pixel}'), (letter) => letter.charCodeAt(0));
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([bytes], 'dropped.png', { type: 'image/png' }));
      const drag = (type) => document.querySelector('.box').dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
      !drag('dragover') && !drag('drop');
    }`);
    expect(isTaken).toBe(true);
    await person.page.getByRole('button', { name: 'Remove dropped.png' }).click();
    await person.page.getByRole('img', { name: 'dropped.png' }).waitFor({ state: 'detached' });
  });

  it('stay with the typed text if they cannot be sent', async () => {
    // Chrome derives the type PNG from the name; the relay checks the content.
    await person.page
      .getByLabel('Add images')
      .setInputFiles({ name: 'fake.png', mimeType: 'image/png', buffer: Buffer.from('no image at all') });
    await person.page.getByRole('img', { name: 'fake.png' }).waitFor();
    const message = person.page.getByLabel('Message', { exact: true });
    await message.fill('Look at this');
    await message.press('Enter');
    await person.page.getByRole('alert').filter({ hasText: 'An image is not valid' }).waitFor();
    expect(await message.inputValue()).toBe('Look at this');
    expect(await shown().count()).toBe(1);
    person.complaints.splice(0);
  });
});
