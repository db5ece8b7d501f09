/** Signing in with an external account, in a real browser: the provider is a real OpenID provider on another port. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import type { Browser } from 'playwright-core';
import { freePort } from '@relay/testing';
import { type OpenIdProvider, startOpenIdProvider } from '../openid-provider.ts';
import {
  type BrowserRelay,
  type Person,
  askForCode,
  launchBrowser,
  newPerson,
  oldSignIn,
  phone,
  startBrowserRelay,
} from './browser.ts';

const secret = 'a secret of the relay at the provider';

describeWith('chromium', 'an external account', () => {
  let corp: OpenIdProvider;
  let relay: BrowserRelay;
  let browser: Browser;
  let person: Person;

  beforeAll(async () => {
    const port = await freePort();
    corp = await startOpenIdProvider({
      configuration: {
        clients: [
          {
            client_id: 'relay',
            client_secret: secret,
            token_endpoint_auth_method: 'client_secret_post',
            redirect_uris: [`http://localhost:${port}/auth/callback/corp`],
          },
        ],
      },
    });
    corp.people.set('alice', { email: 'alice@example.com', name: 'Alice' });
    corp.people.set('bob', { email: 'bob@example.com', name: 'Bob' });
    const upstream = {
      provider: 'oidc',
      id: 'corp',
      name: 'Example Corp',
      clientId: 'relay',
      clientSecret: secret,
      issuer: corp.issuer,
    };
    relay = await startBrowserRelay({ AUTH_UPSTREAM: JSON.stringify([upstream]) }, port);
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await relay?.end();
    await corp?.close();
  });
  beforeEach(async () => {
    person = await newPerson(browser, relay.url, { viewport: phone });
  });
  afterEach(async () => {
    expect(person.complaints).toEqual([]);
    await person.context.close();
  });

  it('is unavailable while its provider is down, and the page names the provider', async () => {
    await corp.setDown(true);
    await person.goto('/sign-in');
    await person.click('Continue with Example Corp');
    await person.page.getByRole('alert').getByText('Example Corp does not answer').waitFor();
    await corp.setDown(false);
  });

  it('becomes the first account with the link from the console', async () => {
    corp.visitor = 'alice';
    await person.goto(relay.setupLink);
    await person.click('Continue with Example Corp');
    await person.heading(/^Connect (a|your first) machine/);
    await person.goto('/account');
    await person.page.getByRole('definition').getByText('alice@example.com').waitFor();
  });

  it('returns a person to the waiting machine', async () => {
    corp.visitor = 'alice';
    const asked = await askForCode(relay.url, 'attic.lan', 'Attic');
    await person.goto(asked.link);
    await person.heading('Sign in');
    await person.page.getByRole('button', { name: 'Continue with Example Corp' }).waitFor();
    await person.picture('sign-in-with-provider');
    await person.click('Continue with Example Corp');
    await person.text('attic.lan');
    expect(person.page.url()).toBe(asked.link);
  });

  /** The page that asks for it shows the same texts as the page after it. */
  const confirmAgain = async (owner: Person) => {
    await owner.click('Continue with Example Corp');
    await owner.page.getByRole('button', { name: 'Continue with Example Corp' }).waitFor({ state: 'detached' });
  };

  it('S18: is confirmed again after an old sign-in, and returns a person to the machine and to the program', async () => {
    corp.visitor = 'alice';
    const asked = await askForCode(relay.url, 'cellar.lan', 'Cellar');
    const owner = await newPerson(browser, relay.url, { viewport: phone });
    await owner.goto(asked.link);
    await owner.click('Continue with Example Corp');
    await owner.text('cellar.lan');
    await oldSignIn(owner.page, /\/approve$/);
    await owner.click('Approve');
    await confirmAgain(owner);
    await owner.text('cellar.lan');
    expect(owner.page.url()).toBe(asked.link);
    await owner.page.getByLabel('Your password', { exact: true }).waitFor({ state: 'detached' });
    await owner.click('Approve');
    await owner.text('is approved.');

    const program = new URLSearchParams({
      response_type: 'code',
      client_id: 'relay-cli',
      redirect_uri: 'http://127.0.0.1:9/callback',
      scope: 'openid sessions:read',
      state: 'xyz',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    });
    await owner.goto(`/auth/oauth2/authorize?${program.toString()}`);
    await owner.heading('Allow access?');
    await oldSignIn(owner.page, /\/oauth2\/consent$/);
    await owner.click('Allow');
    await confirmAgain(owner);
    await owner.page.getByLabel('Your password', { exact: true }).waitFor({ state: 'detached' });
    await owner.heading('Allow access?');
    await owner.text('Command line');
    expect(owner.complaints).toEqual([]);
    await owner.context.close();
  });

  it('of a person without an invitation is refused with the reason', async () => {
    corp.visitor = 'bob';
    await person.goto('/sign-in');
    await person.click('Continue with Example Corp');
    await person.heading('Sign-in didn’t work');
    await person.text('a new one needs an invitation');
  });
});
