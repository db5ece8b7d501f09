/** The last section of the account page: export everything as a file, and delete the account (rules, 8.14). */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { describeWith } from '@relay/testing/needs';
import type { Browser } from 'playwright-core';
import {
  type BrowserRelay,
  launchBrowser,
  newPerson,
  oldSignIn,
  password,
  pictures,
  startBrowserRelay,
} from './browser.ts';

describeWith('chromium', 'the data of an account', () => {
  let relay: BrowserRelay;
  let browser: Browser;

  beforeAll(async () => {
    relay = await startBrowserRelay();
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await relay?.end();
  });

  it('S4: can be saved as a file, and deleted after a typed confirmation and the password', async () => {
    const person = await newPerson(browser, relay.url, { viewport: { width: 390, height: 844 } });
    const { page } = person;
    await person.createAccount(relay.setupLink, 'ada@example.com');
    await person.goto('/account');
    const [download] = await Promise.all([page.waitForEvent('download'), person.click('Export my data')]);
    expect(download.suggestedFilename()).toBe('relay-account.json');
    const saved = JSON.parse(await readFile(await download.path(), 'utf8')) as object;
    expect(saved).toMatchObject({ account: { email: 'ada@example.com' }, devices: [] });

    // This sign-in is new: the first response is faked for an older one.
    await oldSignIn(page, /\/api\/me$/, 'DELETE');
    await page.getByLabel('Type “delete my account”').fill('delete my account');
    await person.click('Delete my account');
    await page.getByLabel('Your password', { exact: true }).waitFor();
    await pictures(person, 'account');
    await page.getByLabel('Your password', { exact: true }).fill('not the password');
    await person.click('Delete my account');
    await person.text('The current password is wrong');
    await page.getByLabel('Your password', { exact: true }).fill(password);
    await person.click('Delete my account');
    await person.heading('Sign in');
    await person.text('No accounts yet');
    expect(person.complaints).toEqual([]);
    await person.context.close();
  });
});
