/** Machines in a real browser: letting one in, turning one away, and managing it. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import { type Registration, connectDaemon, send } from '@relay/testing';
import type { Browser } from 'playwright-core';
import {
  type BrowserRelay,
  type Person,
  askForCode,
  holdSocket,
  launchBrowser,
  newPerson,
  oldSignIn,
  password,
  phone,
  pictures,
  poll,
  registeredDevice,
  startBrowserRelay,
} from './browser.ts';

describeWith('chromium', 'devices', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  let person: Person;

  beforeAll(async () => {
    relay = await startBrowserRelay();
    browser = await launchBrowser();
    person = await newPerson(browser, relay.url, { viewport: phone });
    await person.createAccount(relay.setupLink, 'ada@example.com');
  });
  afterAll(async () => {
    await browser?.close();
    await relay?.end();
  });
  afterEach(() => expect(person.complaints).toEqual([]));

  describe('the page of the code', () => {
    it('shows the machine that asks, and approves nothing by loading', async () => {
      const asked = await askForCode(relay.url, 'build-server.lan', 'Build server');
      await person.goto(asked.link);
      for (const words of ['build-server.lan', 'Build server', 'scripted', '127.0.0.1', 'just now'])
        await person.page.getByRole('definition').filter({ hasText: words }).first().waitFor();
      expect((await poll(relay.url, asked)).body.error).toBe('authorization_pending');
    });

    it('lets the machine in when its owner approves', async () => {
      const asked = await askForCode(relay.url);
      await person.goto(asked.link);
      await person.click('Approve');
      await person.text('is approved.');
      const granted = await poll(relay.url, asked);
      expect(granted.status).toBe(200);
      expect(granted.body.refresh_token).toMatch(/^rly_drt_/);
    });

    it('S18: asks for the password after an old sign-in, and continues with the same code', async () => {
      const asked = await askForCode(relay.url, 'loft.lan', 'Loft');
      const owner = await newPerson(browser, relay.url, { viewport: phone });
      await owner.goto(asked.link);
      await owner.signIn('ada@example.com');
      await owner.text('loft.lan');
      await oldSignIn(owner.page, /\/approve$/);
      await owner.click('Approve');
      const field = owner.page.getByLabel('Your password', { exact: true });
      await field.waitFor();
      await owner.page.locator('input[name="password-again"]:focus').waitFor();
      await owner.text('You signed in more than 15 minutes ago.');
      await pictures(owner, 'approve-again');
      await field.fill('not the password');
      await owner.click('Approve');
      await owner.text('The current password is wrong');
      expect((await poll(relay.url, asked)).body.error).toBe('authorization_pending');
      await field.fill(password);
      await field.press('Enter');
      await owner.text('is approved.');
      expect(owner.complaints).toEqual([]);
      await owner.context.close();
      expect((await poll(relay.url, asked)).status).toBe(200);
    });

    it('S18: every page of the person shows that a machine was allowed, and links to its removal', async () => {
      await person.goto('/account');
      await person.heading('Settings');
      const notice = person.page.getByRole('status').filter({ hasText: 'Barn' }).first();
      // No element of the page shows that its socket is open.
      while (!(await notice.isVisible())) {
        const asked = await askForCode(relay.url, 'barn.lan', 'Barn');
        await send('POST', `${relay.url}/api/devices/code/${asked.userCode}/approve`, {
          headers: { Authorization: person.bearer },
        });
        await notice.waitFor({ timeout: 3000 }).catch(() => undefined);
      }
      await pictures(person, 'access-notice');
      await notice.getByRole('link', { name: 'Remove it under Machines' }).click();
      await person.heading('Machines');
      await notice.getByText('was given access').waitFor();
      while (await notice.isVisible()) await notice.getByRole('button', { name: /Dismiss/ }).click();
      await person.page.setViewportSize(phone);
    });

    it('turns the machine away when its owner denies', async () => {
      const asked = await askForCode(relay.url);
      await person.goto(asked.link);
      await person.click('Deny');
      await person.text('Denied. Nothing was connected');
      expect((await poll(relay.url, asked)).body.error).toBe('access_denied');
    });

    it('accepts a code in any usual notation', async () => {
      const asked = await askForCode(relay.url, 'desk.lan', 'Desk');
      await person.goto('/device');
      await person.page
        .getByLabel('Code shown in the terminal')
        .fill(` ${asked.userCode.toLowerCase().replace('-', ' ')} `);
      await person.click('Continue');
      await person.text('desk.lan');
    });

    it('reports an unknown code, and asks for another', async () => {
      await person.goto('/device?user_code=BBBB-BBBB');
      await person.page.getByRole('alert').getByText('No machine waits with this code').waitFor();
      await person.click('Enter another code');
      await person.page.getByLabel('Code shown in the terminal').waitFor();
    });

    it('reports that a code was used', async () => {
      const asked = await askForCode(relay.url);
      await send('POST', `${relay.url}/api/devices/code/${asked.userCode}/deny`, {
        headers: { Authorization: person.bearer },
      });
      await person.goto(asked.link);
      await person.page.getByRole('alert').getByText('This code was already approved or denied.').waitFor();
    });

    it('reports that another person was faster', async () => {
      const asked = await askForCode(relay.url);
      await person.goto(asked.link);
      await person.page.getByRole('button', { name: 'Approve' }).waitFor();
      await send('POST', `${relay.url}/api/devices/code/${asked.userCode}/deny`, {
        headers: { Authorization: person.bearer },
      });
      await person.click('Approve');
      await person.page.getByRole('alert').getByText('This code was already approved or denied.').waitFor();
    });

    it('returns to the code after the sign-in', async () => {
      const asked = await askForCode(relay.url, 'attic.lan', 'Attic');
      const stranger = await newPerson(browser, relay.url);
      await stranger.goto(asked.link);
      await stranger.text('Sign in to connect your machine.');
      await stranger.signIn('ada@example.com');
      await stranger.text('attic.lan');
      expect(stranger.page.url()).toBe(asked.link);
      expect(stranger.complaints).toEqual([]);
      await stranger.context.close();
    });
  });

  it('shows an expired code as unknown', async () => {
    const hasty = await startBrowserRelay({ TEST_DEVICE_CODE_TTL_SECONDS: '1' });
    const owner = await newPerson(browser, hasty.url);
    await owner.createAccount(hasty.setupLink, 'ada@example.com');
    const asked = await askForCode(hasty.url);
    while ((await poll(hasty.url, asked)).body.error !== 'expired_token');
    await owner.goto(asked.link);
    await owner.page.getByRole('alert').getByText('start again on the machine').waitFor();
    await owner.context.close();
    await hasty.end();
  });

  it('give an ACP app an address and a token, shown once, and revoke it', async () => {
    const { deviceId } = await registeredDevice(person, 'Attic');
    await person.goto(`/devices/${deviceId}`);
    await person.page.getByLabel('The app, like “Phone”').fill('My phone');
    await person.click('Connect an ACP app');
    const address = await person.page.getByLabel('Address', { exact: true }).textContent();
    const token = await person.page.getByLabel('Token', { exact: true }).textContent();
    expect(address).toBe(`${relay.url.replace('http', 'ws')}/acp/${deviceId}`);
    expect(token).toMatch(/^rly_acp_[\w-]{43}$/);
    await person.page.getByRole('img', { name: 'QR code of the address and the token' }).waitFor();
    await pictures(person, 'acp-app');
    await person.page.setViewportSize(phone);
    await person.goto(`/devices/${deviceId}`);
    await person.text('never used');
    expect(await person.page.content()).not.toContain(token);
    await person.click('Revoke My phone');
    await person.page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await person.page.getByText('My phone', { exact: true }).waitFor({ state: 'detached' });
  });

  describe('the page that connects a machine', () => {
    it('leads to a first session as soon as the machine is online', async () => {
      const registration = await registeredDevice(person, 'Workshop');
      await person.goto('/devices/new');
      await person.text(`curl -fsSL ${relay.url}/install.sh | sh`);
      await person.text('Waiting for your machine.');
      // A machine that is online in the first list of the page is not new.
      await person.page.getByText(/^\d+ of \d+ online$/).waitFor({ state: 'attached' });
      const daemon = await connectDaemon(relay.relay, { registration });
      await person.heading('New session');
      await person.text('Workshop is online.');
      expect(await person.page.getByRole('radio', { name: /Workshop/ }).isChecked()).toBe(true);
      await person.page.goBack();
      await person.text('Waiting for your machine.');
      await daemon.close();
    });

    it('stays for a machine that came online before it was opened, while the live stream was down', async () => {
      const registration = await registeredDevice(person, 'Garage');
      const listen = await holdSocket(person.page);
      await person.goto('/devices');
      await person.text('Garage');
      const daemon = await connectDaemon(relay.relay, { registration });
      // The pages load their shared list again at this age.
      await person.page.waitForTimeout(5500);
      const list = person.page.waitForResponse(/\/api\/devices$/);
      await person.page.locator('a[href$="/devices/new"]').filter({ visible: true }).first().click();
      await person.text('Waiting for your machine.');
      await list;
      await person.page.waitForTimeout(500);
      listen();
      await person.page.waitForResponse(/\/api\/ws-tickets$/);
      await person.page.waitForTimeout(500);
      await person.text('Waiting for your machine.');
      await daemon.close();
    });

    it('warns that a phone cannot open an address of this computer', async () => {
      const owner = await newPerson(browser, relay.url, { viewport: { width: 1360, height: 860 } });
      await owner.goto('/devices/new');
      await owner.signIn('ada@example.com');
      await owner.text('localhost means this computer alone');
      expect(await owner.page.getByRole('img', { name: /QR code/ }).count()).toBe(0);
      expect(owner.complaints).toEqual([]);
      await owner.context.close();
    });
  });

  describe('the pages of devices', () => {
    let registration: Registration;

    beforeAll(async () => {
      registration = await registeredDevice(person, 'Studio');
    });

    it('show a machine that comes online while they are open', async () => {
      await person.goto('/devices');
      const row = person.page.getByRole('link', { name: /Studio/ });
      await row.getByText('Offline').waitFor();
      const daemon = await connectDaemon(relay.relay, { registration });
      await row.getByText('Online').waitFor();
      await person.picture('devices');
      await daemon.close();
    });

    it('rename a machine, and show its connection times', async () => {
      await person.goto('/devices');
      await person.page.getByRole('link', { name: /Studio/ }).click();
      await person.heading('Studio');
      await person.text('daemon 1.0.0');
      await person.page.getByLabel('Name of this machine').fill('Garden shed');
      await person.click('Rename');
      await person.heading('Garden shed');
      await person.picture('device');
    });

    it('remove a machine after a confirmation, and close its connection', async () => {
      const daemon = await connectDaemon(relay.relay, { registration });
      await person.goto('/devices');
      await person.page.getByRole('link', { name: /Garden shed/ }).click();
      await person.click('Remove this machine');
      await person.click('Cancel');
      await person.click('Remove this machine');
      await person.page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
      expect((await daemon.closed).code).toBe(4404);
      await person.heading('Machines');
      // The list beside the page gets this from the relay.
      await person.page.getByText('Garden shed').first().waitFor({ state: 'detached' });
    });
  });

  it('load the list once for all parts of a page', async () => {
    const other = await newPerson(browser, relay.url);
    const asked: string[] = [];
    other.page.on('request', (request) => {
      if (request.url() === `${relay.url}/api/devices`) asked.push(request.method());
    });
    await other.goto('/sign-in');
    await other.signIn('ada@example.com');
    await other.page.waitForURL('**/sessions');
    for (const path of ['/', '/devices', '/sessions/new']) {
      // Requests of the previous page would count here.
      await other.page.goto('about:blank');
      asked.length = 0;
      const ticket = other.page.waitForResponse(/\/api\/ws-tickets$/);
      await other.goto(path);
      await ticket;
      await other.page.waitForTimeout(1000);
      expect([path, asked.length]).toEqual([path, 1]);
    }
    expect(other.complaints).toEqual([]);
    await other.context.close();
  });
});
