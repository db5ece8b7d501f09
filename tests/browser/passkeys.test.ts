/**
 * Passkeys with Chromium's virtual authenticator: add, sign in with them in both ways, rename and remove (rules, 8.25).
 */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { oneTimeCode } from '@relay/testing';
import { describeWith } from '@relay/testing/needs';
import type { Browser } from 'playwright-core';
import {
  type BrowserRelay,
  type Person,
  askForCode,
  everyLook,
  launchBrowser,
  newPerson,
  oldSignIn,
  password,
  phone,
  startBrowserRelay,
} from './browser.ts';
import { type FingerprintReader, fingerprintReader } from './fingerprint-reader.ts';

const email = 'ada@example.com';

describeWith('chromium', 'passkeys', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  let owner: Person;
  let reader: FingerprintReader;

  beforeAll(async () => {
    relay = await startBrowserRelay();
    browser = await launchBrowser();
    owner = await newPerson(browser, relay.url, { viewport: phone });
    await owner.createAccount(relay.setupLink, email);
    reader = await fingerprintReader(owner);
  });
  afterAll(async () => {
    await browser?.close();
    await relay?.end();
  });

  const signedOut = async () => {
    await owner.goto('/account');
    await owner.click('Sign out');
    await owner.heading('Sign in');
  };
  const passkeys = () => owner.page.getByRole('region', { name: 'Passkeys' });

  it('are added with one touch, after the password if the sign-in is old; a device has one', async () => {
    await owner.goto('/account');
    await oldSignIn(owner.page, /\/auth\/passkey\/generate-register-options$/, 'GET');
    await owner.click('Add a passkey');
    await owner.page.getByLabel('Your password', { exact: true }).fill(password);
    await everyLook(owner, 'passkeys-password');
    await owner.click('Add a passkey');
    await passkeys().getByText('Chrome on Linux').waitFor();
    const { credentials } = await reader.cdp.send('WebAuthn.getCredentials', reader);
    expect(credentials).toMatchObject([{ isResidentCredential: true, rpId: 'localhost', userName: email }]);
    await owner.click('Add a passkey');
    await owner.text('This device has a passkey for your account already.');
    expect(await passkeys().getByRole('listitem').count()).toBe(1);
  });

  it('sign in without email and password, and lead to the requested page', async () => {
    await signedOut();
    await everyLook(owner, 'passkeys-sign-in');
    const asked = await askForCode(relay.url);
    await owner.goto(asked.link);
    await owner.click('Sign in with a passkey');
    await owner.text('laptop.lan');
    await owner.goto('/account');
    await passkeys()
      .getByText(/last used/)
      .waitFor();
  });

  it('report a refusal of the device, and offer the password instead', async () => {
    await signedOut();
    await reader.cdp.send('WebAuthn.setUserVerified', { ...reader, isUserVerified: false });
    await owner.click('Sign in with a passkey');
    await owner.text('Nothing was done. Try again, and confirm on your device.');
    await reader.cdp.send('WebAuthn.setUserVerified', { ...reader, isUserVerified: true });
    await owner.signIn(email);
    await owner.heading('Settings');
  });

  it('are the second step, too', async () => {
    const { page } = owner;
    await owner.goto('/account');
    await owner.click('Set up');
    await page.getByLabel('Your password', { exact: true }).fill(password);
    await owner.click('Continue');
    const secret = (await page.getByLabel('the key', { exact: true }).textContent())!;
    await page.getByLabel('Code', { exact: true }).fill(oneTimeCode(secret));
    await owner.click('Turn on');
    await owner.click('I have saved them');
    await signedOut();
    await owner.signIn(email);
    await owner.heading('Second step at sign-in');
    await page.getByLabel('Code', { exact: true }).waitFor();
    await everyLook(owner, 'passkeys-second-step');
    await owner.click('Sign in with a passkey');
    await owner.heading('Settings');
  });

  it('can be renamed and removed', async () => {
    await owner.goto('/account');
    await owner.click('Rename Chrome on Linux');
    await owner.page.getByLabel('Name of the passkey').fill('Work phone');
    await everyLook(owner, 'passkeys-rename');
    await passkeys().getByRole('button', { name: 'Save', exact: true }).click();
    await owner.click('Remove Work phone');
    await owner.page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
    await passkeys().getByRole('listitem').waitFor({ state: 'detached' });
    await owner.goto('/activity');
    for (const action of ['Removed a passkey', 'Renamed a passkey', 'Sign-in with a passkey', 'Added a passkey'])
      await owner.text(action);
    await signedOut();
    await owner.click('Sign in with a passkey');
    await owner.text('This passkey was removed from the account. Use your password.');
    expect(owner.complaints).toEqual([]);
  });
});
