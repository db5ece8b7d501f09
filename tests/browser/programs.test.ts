/**
 * Programs that act for a person: consent and revocation in a real browser, with a program that listens on this
 * machine.
 */
import { createHash, randomBytes } from 'node:crypto';
import { describeWith } from '@relay/testing/needs';
import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { send } from '@relay/testing';
import type { Browser } from 'playwright-core';
import {
  type BrowserRelay,
  type Person,
  launchBrowser,
  newPerson,
  oldSignIn,
  password,
  phone,
  pictures,
  startBrowserRelay,
} from './browser.ts';

describeWith('chromium', 'a program', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  let person: Person;
  let program: Server;
  let redirectUri: string;
  const verifier = randomBytes(32).toString('base64url');
  let refreshToken: string;

  beforeAll(async () => {
    relay = await startBrowserRelay();
    browser = await launchBrowser();
    const first = await newPerson(browser, relay.url);
    await first.createAccount(relay.setupLink, 'ada@example.com');
    await first.context.close();
    person = await newPerson(browser, relay.url, { viewport: phone });
    program = createServer((_request, response) => response.end('<title>Done</title>')).listen(0, '127.0.0.1');
    await once(program, 'listening');
    redirectUri = `http://127.0.0.1:${(program.address() as AddressInfo).port}/callback`;
  });
  afterAll(async () => {
    await browser?.close();
    program?.closeAllConnections();
    program?.close();
    await relay?.end();
  });

  const request = () => {
    const params = new URLSearchParams({
      response_type: 'code',
      client_id: 'relay-cli',
      redirect_uri: redirectUri,
      scope: 'openid offline_access sessions:read devices:read',
      state: 'xyz',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    });
    return `${relay.url}/auth/oauth2/authorize?${params.toString()}`;
  };
  const token = (form: Record<string, string>) =>
    send('POST', `${relay.url}/auth/oauth2/token`, {
      raw: new URLSearchParams({ client_id: 'relay-cli', ...form }).toString(),
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });

  it('gets an error when its person refuses', async () => {
    await person.goto(request());
    await person.text('Sign in to continue to');
    await person.signIn('ada@example.com');
    await person.heading('Allow access?');
    await person.text('Command line');
    await person.text('See your sessions');
    await person.text(`a program on this computer (${new URL(redirectUri).host})`);
    await person.picture('consent');
    await person.click('Deny');
    await person.page.waitForURL(`${redirectUri}?**`);
    expect(new URL(person.page.url()).searchParams.get('error')).toBe('access_denied');
  });

  it('gets a code when its person allows it', async () => {
    await person.goto(request());
    await person.heading('Allow access?');
    await person.click('Allow');
    await person.page.waitForURL(`${redirectUri}?**`);
    const { searchParams } = new URL(person.page.url());
    expect(searchParams.get('state')).toBe('xyz');
    expect(searchParams.get('iss')).toBe(relay.url);
    const answer = await token({
      grant_type: 'authorization_code',
      code: searchParams.get('code') ?? '',
      code_verifier: verifier,
      redirect_uri: redirectUri,
    });
    expect(answer.status).toBe(200);
    refreshToken = answer.body.refresh_token as string;
  });

  it('S18: can be allowed with the password after an old sign-in, and its request stays valid', async () => {
    await person.goto(request());
    await person.heading('Allow access?');
    await oldSignIn(person.page, /\/oauth2\/consent$/);
    await person.click('Allow');
    const field = person.page.getByLabel('Your password', { exact: true });
    await field.waitFor();
    await pictures(person, 'consent-again');
    await field.fill(password);
    await person.click('Allow');
    await person.page.waitForURL(`${redirectUri}?**`);
    const { searchParams } = new URL(person.page.url());
    expect([searchParams.get('state'), searchParams.has('code')]).toEqual(['xyz', true]);
    await person.page.setViewportSize(phone);
  });

  it('S1: needs consent again, even if it was allowed before', async () => {
    await person.goto(request());
    await person.heading('Allow access?');
    await person.text('Command line');
    await person.text(new URL(redirectUri).host);
    expect(person.page.url()).not.toContain('code=');
    await person.click('Deny');
    await person.page.waitForURL(`${redirectUri}?**`);
    expect(new URL(person.page.url()).searchParams.get('code')).toBeNull();
  });

  it('is in the list of applications, and loses access when it is revoked', async () => {
    await person.goto('/applications');
    await person.text('Command line');
    await person.picture('applications');
    await person.click('Revoke Command line');
    await person.page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await person.text('No apps yet');
    const refused = await token({ grant_type: 'refresh_token', refresh_token: refreshToken });
    expect(refused.status).toBe(400);
    expect(refused.body.error).toBe('invalid_grant');
    expect(person.complaints).toEqual([]);
  });
});
