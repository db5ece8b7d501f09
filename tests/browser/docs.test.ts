/** The documents under `/docs` in a browser: search, reading without JavaScript, and a phone. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import type { Browser } from 'playwright-core';
import { type BrowserRelay, launchBrowser, newPerson, startBrowserRelay } from './browser.ts';

describeWith('chromium', 'the documents', () => {
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

  it('can be searched by keyboard, and a result opens at its place', async () => {
    const { page, complaints } = await newPerson(browser, relay.url);
    await page.goto(`${relay.url}/docs`);
    await page.keyboard.press('/');
    await page.keyboard.type('ownership fences');
    await page.getByRole('option', { name: /Internals › Ownership and fences/ }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${relay.url}/docs/internals.html#ownership-and-fences`);
    await page.getByRole('combobox').fill('zzzz');
    await page.getByText('No page has “zzzz”.').waitFor();
    expect(complaints).toEqual([]);
  });

  it('work on a phone without JavaScript: the menu leads to every page, and nothing is wider than the screen', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 360, height: 780 } });
    const page = await context.newPage();
    for (const address of ['', 'protocol.html', 'performance.html', 'pictures.html']) {
      await page.goto(`${relay.url}/docs/${address}`);
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    }
    await page.getByRole('link', { name: 'Menu' }).click();
    await page.getByRole('navigation', { name: 'Documents' }).getByRole('link', { name: 'Glossary' }).click();
    await page.getByRole('heading', { name: 'Glossary', level: 1 }).waitFor();
    await context.close();
  });
});
