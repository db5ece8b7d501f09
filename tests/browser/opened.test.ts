/** A conversation that a browser opens by its address: the page loads it before its live socket is open. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import { type TestDaemon, connectDaemon } from '@relay/testing';
import { once } from 'node:events';
import type { Browser } from 'playwright-core';
import {
  type BrowserRelay,
  type Person,
  holdSocket,
  launchBrowser,
  newPerson,
  registeredDevice,
  startBrowserRelay,
} from './browser.ts';

describeWith('chromium', 'a conversation that is opened by its address', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  let person: Person;
  let daemon: TestDaemon;
  let listen: () => void;

  beforeAll(async () => {
    relay = await startBrowserRelay();
    browser = await launchBrowser();
    person = await newPerson(browser, relay.url);
    // Holds the socket from the first page on, so the daemon watches only for the page of this test.
    listen = await holdSocket(person.page);
    await person.createAccount(relay.setupLink, 'ada@example.com');
    daemon = await connectDaemon(relay.relay, {
      registration: await registeredDevice(person),
      // A pong confirms that earlier frames are stored.
      headers: { 'X-Daemon-Capabilities': 'receipts' },
    });
  });
  afterAll(async () => {
    await browser?.close();
    await daemon?.drop();
    await relay?.end();
  });

  const atDesk = (frame: Record<string, unknown>) => frame.session_id === 'desk';
  const message = (uuid: string, content: string) => ({
    uuid,
    role: 'AGENT',
    content,
    timestamp: '2026-11-20T10:00:00.000Z',
  });

  /** Answers the next history request of this daemon. */
  async function tell(...messages: object[]): Promise<void> {
    const { request_id } = await daemon.next('get_messages', atDesk);
    daemon.send({ type: 'messages', request_id, messages, has_more: false });
  }

  it('shows the loaded messages at once, and later ones when its socket opens; the daemon starts to watch', async () => {
    daemon.send({ type: 'report_sessions', sessions: [{ session_id: 'desk', title: 'At the desk' }] });
    daemon.socket.ping();
    await once(daemon.socket, 'pong');

    await person.goto(`/sessions/${encodeURIComponent(`${daemon.deviceId}:scripted:desk`)}`);
    await tell(message('m1', 'Said before'));
    await person.text('Said before');

    listen();
    // No app watched the session, so the daemon sent nothing by itself: only its history has the second message.
    await tell(message('m1', 'Said before'), message('m2', 'Said meanwhile'));
    await person.text('Said meanwhile');
    await daemon.next('watch_session', atDesk);
    expect(person.complaints).toEqual([]);
  });

  it('keeps the loaded messages until the second load completes', async () => {
    let wasAskedAgain = () => {};
    const askedAgain = new Promise<void>((resolve) => (wasAskedAgain = resolve));
    let wasShown = () => {};
    const shown = new Promise<void>((resolve) => (wasShown = resolve));
    let reads = 0;
    // Otherwise the socket could open before the first load, which makes a second one unnecessary.
    const listenAgain = await holdSocket(person.page);
    await person.page.route(/\/api\/sessions\/[^/?]+(\?|$)/, async (route) => {
      if (++reads === 1) {
        const response = await route.fetch();
        listenAgain();
        await askedAgain;
        return route.fulfill({ response });
      }
      wasAskedAgain();
      await shown;
      return route.continue();
    });
    await person.page.reload();
    await tell(message('m3', 'Read at once'));
    await person.text('Read at once');
    wasShown();
    await tell(message('m3', 'Read at once'), message('m4', 'Read later'));
    await person.text('Read later');
    expect(person.complaints).toEqual([]);
  });
});
