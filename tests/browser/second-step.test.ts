/** The second step at sign-in: a person sets it up, uses it, loses their app, and turns it off (rules, 8.22). */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
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
  password,
  startBrowserRelay,
} from './browser.ts';

const email = 'ada@example.com';

describeWith('chromium', 'the second step at sign-in', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  /** The browser in which the person set it up. */
  let owner: Person;
  let secret: string;
  let codes: string[];
  /** The code that turned it on. */
  let usedCode: string;

  beforeAll(async () => {
    relay = await startBrowserRelay();
    browser = await launchBrowser();
    owner = await newPerson(browser, relay.url, { permissions: ['clipboard-read', 'clipboard-write'] });
    await owner.createAccount(relay.setupLink, email);
  });
  afterAll(async () => {
    await browser?.close();
    await relay?.end();
  });

  /** Another browser after the correct password. */
  const halfWay = async (path = '/sessions'): Promise<Person> => {
    const person = await newPerson(browser, relay.url);
    await person.goto(path);
    await person.heading('Sign in');
    await person.signIn(email);
    await person.heading('Second step at sign-in');
    await person.page.getByLabel('Code', { exact: true }).waitFor();
    return person;
  };
  const give = async ({ page }: Person, label: string, code: string) => {
    await page.getByLabel(label, { exact: true }).fill(code);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  };
  const confirm = async (button: string, code?: string, typed = password) => {
    await owner.page.getByLabel('Your password', { exact: true }).fill(typed);
    if (code !== undefined) await owner.page.getByLabel('Code of the second step', { exact: true }).fill(code);
    await owner.page.getByRole('button', { name: button, exact: true }).click();
  };

  it('is set up with the password, a QR code or its key, and a code; ten recovery codes are shown once', async () => {
    const { page } = owner;
    await owner.goto('/account');
    await owner.click('Set up');
    await confirm('Continue');
    await page.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor();
    secret = (await page.getByLabel('the key', { exact: true }).textContent())!;
    await everyLook(owner, 'second-step-set-up');
    await page.getByLabel('Code', { exact: true }).fill('000000');
    await owner.click('Turn on');
    await owner.text('This code is wrong');
    usedCode = oneTimeCode(secret);
    await page.getByLabel('Code', { exact: true }).fill(usedCode.replace(/^(...)/, '$1 '));
    await owner.click('Turn on');
    const list = page.getByRole('list', { name: 'Recovery codes' });
    await list.waitFor();
    codes = await list.getByRole('listitem').allTextContents();
    expect(new Set(codes).size).toBe(10);
    await everyLook(owner, 'second-step-codes');
    const [download] = await Promise.all([page.waitForEvent('download'), owner.click('Download')]);
    const saved = await readFile(await download.path(), 'utf8');
    for (const code of codes) expect(saved).toContain(code);
    await page.getByRole('button', { name: 'Copy', exact: true }).last().click();
    await page.getByRole('button', { name: 'Copied', exact: true }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain(codes[9]);
    await owner.click('I have saved them');
    await owner.text('10 recovery codes are left.');
    await page.reload();
    await owner.text('10 recovery codes are left.');
    expect(await page.getByText(codes[0]!).count()).toBe(0);
  });

  it('asks for a code after the password, explains a wrong one, and leads to the requested page', async () => {
    const person = await halfWay('/devices');
    await everyLook(person, 'second-step-sign-in');
    await give(person, 'Code', usedCode);
    await person.text('This code has already been used');
    await give(person, 'Code', '000000');
    await person.text('This code is wrong');
    await person.goto('/sessions');
    await person.heading('Sign in');
    await person.signIn(email);
    await give(person, 'Code', oneTimeCode(secret, 1));
    await person.heading('Sessions');
    expect(person.complaints).toEqual([]);
    await person.context.close();
  });

  it('accepts a recovery code instead, on the way to a machine that waits for approval', async () => {
    const asked = await askForCode(relay.url);
    const person = await halfWay(asked.link);
    await person.click('Use a recovery code instead');
    await give(person, 'Recovery code', 'none-such00');
    await person.text('This recovery code is wrong');
    await give(person, 'Recovery code', codes[0]!);
    await person.text('laptop.lan');
    await person.context.close();
    await owner.goto('/account');
    await owner.text('9 recovery codes are left.');
  });

  it('starts over after too many wrong codes', async () => {
    const person = await halfWay();
    for (let guess = 0; guess < 5; guess += 1) {
      await give(person, 'Code', '000000');
      await person.text('This code is wrong');
    }
    await give(person, 'Code', '000000');
    await person.text('Too many wrong codes');
    await person.click('Start again');
    await person.heading('Sign in');
    await person.signIn(email);
    await person.click('Use a recovery code instead');
    await give(person, 'Recovery code', codes[1]!);
    await person.heading('Sessions');
    await person.context.close();
  });

  it('gets new recovery codes, and is turned off, with the password and a code', async () => {
    const { page } = owner;
    await owner.click('New recovery codes');
    await confirm('New recovery codes', codes[2]);
    const list = page.getByRole('list', { name: 'Recovery codes' });
    await list.waitFor();
    const renewed = await list.getByRole('listitem').allTextContents();
    expect(renewed).not.toContain(codes[3]);
    await owner.click('I have saved them');
    await owner.click('Turn off');
    await everyLook(owner, 'second-step-off');
    await confirm('Turn off', renewed[0], 'not the password');
    await owner.text('The current password is wrong');
    await confirm('Turn off', renewed[1]);
    await owner.page.getByRole('button', { name: 'Set up', exact: true }).waitFor();
    const person = await newPerson(browser, relay.url);
    await person.goto('/sessions');
    await person.signIn(email);
    await person.heading('Sessions');
    await owner.goto('/activity');
    await owner.text('Turned off the second step at sign-in');
    expect(owner.complaints).toEqual([]);
  });
});
