/** A search that finds text inside a transcript, and leads to its message. */
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
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

describeWith('chromium', 'a search', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  let person: Person;
  let daemon: TranscriptDaemon;
  let path = '';

  beforeAll(async () => {
    relay = await startBrowserRelay();
    browser = await launchBrowser();
    person = await newPerson(browser, relay.url, { viewport: { width: 1360, height: 860 } });
    await person.createAccount(relay.setupLink, 'ada@example.com');
    const registration = await registeredDevice(person);
    daemon = await connectTranscriptDaemon(relay.relay, registration, { capabilities: ['search'] });
    const items = Array.from({ length: 300 }, (_, at) =>
      item(`i${at}`, at + 1, { kind: at % 2 ? 'text' : 'user' }, at === 40 ? 'Where do the roses grow?' : `Line ${at}`),
    );
    daemon.keep('garden', items.map(put));
    daemon.socket.on('message', (data: Buffer) => {
      const { type, request_id, query } = JSON.parse(data.toString('utf8')) as Record<string, string>;
      if (type !== 'search_request') return;
      const { uuid, role, content: text, timestamp } = items[40]!;
      const hits = query === 'roses grow' ? [{ session_id: 'garden', uuid, role, text, timestamp }] : [];
      daemon.send({ type: 'search_response', request_id, hits });
    });
    daemon.send({ type: 'report_sessions', sessions: [{ session_id: 'garden', title: 'The garden' }] });
    path = `/sessions/${encodeURIComponent(`${registration.deviceId}:scripted:garden`)}`;
    await person.goto('/sessions');
    await person.page.getByRole('link', { name: /The garden/ }).waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await daemon?.drop();
    await relay?.end();
  });
  afterEach(() => expect(person.complaints.splice(0)).toEqual([]));

  it('D4: finds text that only the machine has, and opens its message', async () => {
    await person.page.getByRole('searchbox').fill('roses grow');
    const hit = person.page.getByRole('link', { name: /Where do the roses grow/ });
    await hit.waitFor();
    expect(await hit.locator('mark').allInnerTexts()).toEqual(['roses', 'grow']);
    await everyLook(person, 'search-in-messages');
    await hit.click();
    const message = person.page.getByRole('article', { name: 'You' }).filter({ hasText: 'Where do the roses grow?' });
    await message.waitFor();
    await person.page.locator('.entry:focus').filter({ has: message }).waitFor();
    await everyLook(person, 'search-message');
    expect(new URL(person.page.url()).pathname).toBe(path);
    // The address names the message, so a reload leads to it again.
    await person.page.reload();
    await person.page.locator('.entry:focus').filter({ has: message }).waitFor();
  });
});
