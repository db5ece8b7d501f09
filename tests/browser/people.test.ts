/** Accounts in a real browser: the first one, invitations, passwords, and every way to sign out. */
import { afterAll, beforeAll, beforeEach, afterEach, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import type { Browser } from 'playwright-core';
import {
  type BrowserRelay,
  type Person,
  launchBrowser,
  newPerson,
  password,
  phone,
  registeredDevice,
  startBrowserRelay,
} from './browser.ts';

const email = 'ada@example.com';

describeWith('chromium', 'accounts', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  const people: Person[] = [];

  /** A new browser, closed after the test. */
  async function visitor(): Promise<Person> {
    const person = await newPerson(browser, relay.url, { viewport: phone });
    people.push(person);
    return person;
  }
  async function signedIn(): Promise<Person> {
    const person = await visitor();
    await person.goto('/account');
    await person.signIn(email);
    await person.heading('Settings');
    return person;
  }

  beforeAll(async () => {
    relay = await startBrowserRelay();
    browser = await launchBrowser();
    const first = await newPerson(browser, relay.url);
    await first.createAccount(relay.setupLink, email);
    await registeredDevice(first);
    await first.context.close();
  });
  afterAll(async () => {
    await browser?.close();
    await relay?.end();
  });
  beforeEach(() => void people.splice(0));
  afterEach(async () => {
    for (const person of people) {
      expect(person.complaints).toEqual([]);
      await person.context.close();
    }
  });

  it('reports that the first link was used, and removes it from the address', async () => {
    const person = await visitor();
    await person.goto(relay.setupLink);
    await person.text('This link has been used or replaced');
    expect(person.page.url()).toBe(`${relay.url}/setup`);
  });

  it('reports a wrong password in one sentence, and accepts the correct one', async () => {
    const person = await visitor();
    await person.goto('/sign-in');
    await person.signIn(email, 'not the password');
    await person.page.getByRole('alert').getByText('Wrong email or password').waitFor();
    await person.picture('sign-in-refused');
    await person.signIn(email);
    await person.heading('Sessions');
  });

  it('shows a password to its owner on request', async () => {
    const person = await visitor();
    await person.goto('/sign-in');
    const field = person.page.getByLabel('Password', { exact: true });
    expect(await field.getAttribute('type')).toBe('password');
    await person.click('Show password');
    expect(await field.getAttribute('type')).toBe('text');
  });

  it('stays signed in after a reload, and keeps no token within reach of scripts', async () => {
    const person = await signedIn();
    await person.page.reload();
    await person.heading('Settings');
    expect(await person.page.evaluate('localStorage.length + sessionStorage.length')).toBe(0);
    expect(await person.page.evaluate('document.cookie')).toBe('');
  });

  it('renews its token before it expires, on the live socket too', async () => {
    const person = await visitor();
    await person.page.clock.install();
    const isOpen = new Promise<void>((resolve) => void person.page.exposeFunction('liveSocketOpened', resolve));
    await person.page.addInitScript(`globalThis.WebSocket = class extends WebSocket {
      constructor(url) {
        super(url);
        this.addEventListener('open', () => liveSocketOpened());
      }
    }`);
    await person.goto('/devices');
    const opened = person.page.waitForEvent('websocket');
    await person.signIn(email);
    const socket = await opened;
    await person.heading('Machines');
    // The faked minutes would count as a lack of frames while the socket opens, which times out after seconds.
    await isOpen;
    const heard = socket.waitForEvent('framereceived', { predicate: ({ payload }) => /auth_ok/.test(String(payload)) });
    await person.page.clock.fastForward('09:30');
    await heard;
    expect(socket.isClosed()).toBe(false);
  });

  it('leads to no address outside after signing in', async () => {
    const person = await visitor();
    await person.goto('/sign-in?return_to=//evil.example/');
    await person.signIn(email);
    await person.heading('Sessions');
    expect(new URL(person.page.url()).origin).toBe(relay.url);
  });

  it('invites a person, once', async () => {
    const host = await signedIn();
    await host.click('Create invitation link');
    const link = await host.page.getByRole('group', { name: 'the invitation link' }).innerText();
    expect(link).toMatch(new RegExp(`^${relay.url}/invite#token=[\\w-]{43}$`));

    const guest = await visitor();
    await guest.goto(link);
    await guest.heading('You’re invited');
    expect(guest.page.url()).toBe(`${relay.url}/invite`);
    await guest.createAccount(link, 'bob@example.com', 'Bob');

    const other = await visitor();
    await other.goto(link);
    await other.text('This invitation has been used or has expired');
  });

  it('shows why an account cannot be created, and keeps the typed text', async () => {
    const host = await signedIn();
    await host.click('Create invitation link');
    const link = await host.page.getByRole('group', { name: 'the invitation link' }).innerText();
    const guest = await visitor();
    await guest.goto(link);
    await guest.page.getByLabel('Your name').fill('Ada again');
    await guest.page.getByLabel('Email').fill(email);
    await guest.page.getByLabel('Password', { exact: true }).fill(password);
    await guest.click('Create account');
    await guest.page.getByRole('alert').getByText('An account with this email already exists').waitFor();
    expect(await guest.page.getByLabel('Your name').inputValue()).toBe('Ada again');
  });

  it('changes the name', async () => {
    const person = await signedIn();
    await person.page.getByLabel('Your name').fill('Ada Lovelace');
    await person.click('Save');
    await person.text('Saved.');
    await person.page.reload();
    await person.page.getByRole('definition').getByText('Ada Lovelace').waitFor();
  });

  it('changes the password: this browser stays signed in, others do not', async () => {
    const person = await signedIn();
    const other = await signedIn();
    const change = async (from: string, to: string) => {
      await person.page.getByLabel('Current password').fill(from);
      await person.page.getByLabel('New password').fill(to);
      await person.click('Change password');
    };
    await change('not the password', 'another good password');
    await person.page.getByRole('alert').getByText('current password is wrong').waitFor();
    await change(password, 'another good password');
    await person.text('Password changed.');
    await other.heading('Sign in');
    await person.page.getByRole('link', { name: /^Machines/ }).click();
    await person.heading('Machines');
    await person.page.getByRole('link', { name: 'Settings' }).click();
    await change('another good password', password);
    await person.text('Password changed.');
  });

  it('signs out', async () => {
    const person = await signedIn();
    await person.click('Sign out');
    await person.heading('Sign in');
    expect(await person.page.getByText('You were signed out').count()).toBe(0);
    await person.goto('/devices');
    await person.heading('Sign in');
  });

  it('signs every other browser out when a person signs out everywhere', async () => {
    const person = await signedIn();
    const other = await signedIn();
    await other.goto('/devices');
    await other.text('My laptop');
    await person.click('Sign out everywhere');
    await person.page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();
    await person.heading('Sign in');
    // Appears without any action there.
    await other.text('You were signed out');
    await other.heading('Sign in');
    await other.signIn(email);
    await other.heading('Machines');
  });

  it('redirects people who used another host name to its own address', async () => {
    const person = await visitor();
    await person.goto(`${relay.url.replace('localhost', '127.0.0.1')}/devices`);
    await person.page.getByRole('link', { name: 'Go there' }).click();
    await person.heading('Sign in');
  });
});
