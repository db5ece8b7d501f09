/** The pages as an app: they can be installed, and accept shared content from other apps (acceptance 26, in part). */
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

describeWith('chromium', 'the pages as an app', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  let person: Person;

  beforeAll(async () => {
    relay = await startBrowserRelay();
    browser = await launchBrowser();
    person = await newPerson(browser, relay.url, { serviceWorkers: 'allow', viewport: { width: 390, height: 844 } });
    await person.createAccount(relay.setupLink, 'ada@example.com');
    // Shared text goes into a new session, which needs a machine.
    await registeredDevice(person);
  });
  afterAll(async () => {
    await browser?.close();
    await relay?.end();
  });
  afterEach(() => expect(person.complaints).toEqual([]));

  it('can be installed, and accept shared content of other apps', async () => {
    const session = await person.context.newCDPSession(person.page);
    const { errors, data } = await session.send('Page.getAppManifest');
    expect(errors).toEqual([]);
    expect(JSON.parse(data!)).toMatchObject({ display: 'standalone', share_target: { action: './sessions/new' } });
    const { installabilityErrors } = await session.send('Page.getInstallabilityErrors');
    expect(installabilityErrors.filter(({ errorId }) => errorId !== 'in-incognito')).toEqual([]);

    await person.goto('/sessions/new?title=Roses&text=How%20much%20water%3F&url=https%3A%2F%2Fexample.com%2Froses');
    const field = person.page.getByLabel(/^What should/);
    expect(await field.inputValue()).toBe('Roses\nHow much water?\nhttps://example.com/roses');
  });

  it('offer the installation in the settings if the browser does', async () => {
    await person.goto('/account');
    await person.heading('Settings');
    await person.page.evaluate(`dispatchEvent(Object.assign(new Event('beforeinstallprompt', { cancelable: true }), {
      prompt: async () => { document.title = 'asked'; },
    }))`);
    await everyLook(person, 'this-device');
    await person.page.setViewportSize({ width: 390, height: 844 });
    await person.click('Install Relay');
    expect(await person.page.title()).toBe('asked');
    expect(await person.page.getByRole('button', { name: 'Install Relay' }).count()).toBe(0);
  });
});
