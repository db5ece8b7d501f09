/**
 * Registration keys on the machines page: create one, register a machine without a person present, revoke it (rules,
 * 7.13).
 */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { send } from '@relay/testing';
import { describeWith } from '@relay/testing/needs';
import type { Browser } from 'playwright-core';
import {
  type BrowserRelay,
  everyLook,
  launchBrowser,
  newPerson,
  oldSignIn,
  password,
  startBrowserRelay,
} from './browser.ts';

describeWith('chromium', 'registration keys', () => {
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

  it('are created with a name, a time and uses, shown once with the command to paste, and revoked', async () => {
    const person = await newPerson(browser, relay.url);
    const { page } = person;
    await person.createAccount(relay.setupLink, 'ada@example.com');
    // This sign-in is new: the first response is faked for an older one.
    await oldSignIn(page, /\/api\/devices\/keys$/);
    await person.click('Make a key');
    await page.getByLabel('Name (optional)').fill('Build machines');
    await page.getByLabel('Valid for').selectOption({ label: '7 days' });
    await page.getByLabel('Machines that may register with it').fill('2');
    await everyLook(person, 'device-keys-form');
    await person.click('Make a key');
    await page.getByLabel('Your password', { exact: true }).fill(password);
    await person.click('Make a key');
    const command = page.getByLabel('the command that registers with the key', { exact: true });
    await command.waitFor();
    const [, key] = /^curl -fsSL \S+\/install\.sh \| RELAY_DAEMON_KEY=(\S+) sh -s -- --service$/.exec(
      (await command.textContent())!,
    )!;
    await person.text('0 of 2 used');
    const answer = await send('POST', `${relay.url}/api/devices/code`, {
      body: { hostname: 'runner.lan', agent_type: 'scripted', device_name: 'Runner', key },
    });
    expect(answer.status).toBe(200);
    await send('POST', `${relay.url}/api/devices/token`, { body: { device_code: answer.body.device_code as string } });

    await person.goto('/devices');
    await person.text('Runner');
    await person.text('1 of 2 used');
    await everyLook(person, 'device-keys');
    expect(await page.content()).not.toContain(key);
    await person.click('Revoke Build machines');
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByRole('button', { name: 'Revoke Build machines' }).waitFor({ state: 'detached' });
    const refused = await send('POST', `${relay.url}/api/devices/code`, {
      body: { hostname: 'other.lan', agent_type: 'scripted', key },
    });
    expect(refused.body).toMatchObject({ code: 'KEY_NOT_VALID' });
    expect(person.complaints).toEqual([]);
  });
});
