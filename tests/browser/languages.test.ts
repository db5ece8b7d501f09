/**
 * Two complete languages, and layouts for others: German, English that is 40 % longer, and right to left (rules, 17.5).
 */
import { readdirSync } from 'node:fs';
import { describeWith } from '@relay/testing/needs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Person, newPerson } from './browser.ts';
import { type EveryPage, cutTexts, settled, startEveryPage } from './every-page.ts';

type Texts = { readonly [key: string]: unknown };
const parts = readdirSync(new URL('../../apps/web/src/languages/en/', import.meta.url)).map((file) =>
  file.replace('.ts', ''),
);
async function textsOf(language: string): Promise<Set<string>> {
  const found = new Set<string>();
  const add = (texts: Texts) => {
    for (const text of Object.values(texts))
      if (typeof text === 'string') found.add(text);
      else if (typeof text === 'object') add(text as Texts);
  };
  for (const part of parts)
    add(((await import(`../../apps/web/src/languages/${language}/${part}.ts`)) as { words: Texts }).words);
  return found;
}

const speaks = (person: Person, language: string) =>
  person.page.addInitScript(`localStorage.setItem('relay-language', '${language}')`);

describeWith('chromium', 'the pages in other languages', () => {
  let all: EveryPage;
  beforeAll(async () => {
    all = await startEveryPage();
  });
  afterAll(() => all?.end());

  describe('in a browser that is set to German', () => {
    let person: Person;
    let english: Set<string>;
    beforeAll(async () => {
      person = await all.member({ locale: 'de-DE', viewport: { width: 1360, height: 860 } });
      const german = await textsOf('de');
      english = new Set([...(await textsOf('en'))].filter((text) => !german.has(text)));
    });
    afterAll(() => person?.context.close());

    /** All visible and announced texts of the page. */
    const shown = () =>
      person.page.evaluate<string[]>(`[
        ...[...document.querySelectorAll('body *')].flatMap((element) => [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data.trim())),
        ...[...document.querySelectorAll('[aria-label], [title], [placeholder]')].flatMap((element) => ['aria-label', 'title', 'placeholder'].map((name) => element.getAttribute(name) ?? '')),
      ]`);

    it('are German, without English', async () => {
      for (const [name, path] of all.pages) {
        await settled(person, path);
        expect(await person.page.evaluate('document.documentElement.lang')).toBe('de');
        expect([name, (await shown()).filter((text) => english.has(text))]).toEqual([name, []]);
        await person.picture(`german-${name.replaceAll(' ', '-')}`);
      }
      expect(person.complaints).toEqual([]);
    });

    it('format dates and numbers as Germans do', async () => {
      await settled(person, '/account');
      expect(await person.page.locator('dl.facts').innerText()).toMatch(/\d{2}\.\d{2}\.\d{4}, \d{2}:\d{2}/);
    });

    it('report a failure in German, before the sign-in too', async () => {
      const guest = await newPerson(all.browser, all.relay.url, { locale: 'de-DE' });
      await guest.goto('/sign-in');
      await guest.page.getByLabel('E-Mail').fill('nobody@example.com');
      await guest.page.getByLabel('Passwort', { exact: true }).fill('not the password');
      await guest.click('Anmelden');
      await guest.text('E-Mail oder Passwort ist falsch.');
      expect(await guest.page.title()).toBe('Anmelden · Relay');
      await guest.context.close();
    });
  });

  it('load one language only, and in parts', async () => {
    const person = await all.member({ locale: 'de-DE' });
    const loaded: string[] = [];
    person.page.on('request', (request) => {
      const [, name] = /assets\/((?:en|de)-[a-z]+)-/.exec(request.url()) ?? [];
      if (name !== undefined) loaded.push(name);
    });
    await settled(person, '/account');
    expect(loaded).toEqual(expect.arrayContaining(['de-frame', 'de-errors', 'de-settings']));
    expect(loaded.filter((name) => !name.startsWith('de-'))).toEqual([]);
    expect(loaded).not.toContain('de-door');
    await person.context.close();
  });

  it('follow the choice in the settings, on every page and after a reload', async () => {
    const person = await all.member();
    await settled(person, '/account');
    await person.page.getByLabel('Language').selectOption('Deutsch');
    await person.heading('Einstellungen');
    await settled(person, '/sessions');
    await person.text('Braucht dich');
    await person.page.reload();
    await person.text('Braucht dich');
    await settled(person, '/account');
    await person.page.getByLabel('Sprache').selectOption('Wie im Browser');
    await person.heading('Settings');
    await person.context.close();
  });

  describe.each([
    ['en-XA', { width: 390, height: 844 }],
    ['en-XA', { width: 820, height: 1100 }],
    ['en-XA', { width: 1360, height: 860 }],
    ['ar-XB', { width: 390, height: 844 }],
    ['ar-XB', { width: 1360, height: 860 }],
  ])('as %s at %j', (language, viewport) => {
    it('has room for every text', async () => {
      const member = await all.member({ viewport });
      const guest = await newPerson(all.browser, all.relay.url, { viewport });
      for (const [person, pages] of [
        [member, all.pages],
        [guest, all.open],
      ] as const)
        // prettier-ignore
        for (const [name, path] of pages) {
          if (path === pages[0]![1]) await speaks(person, language);
          await settled(person, path);
          await person.picture(`${language}-${name.replaceAll(' ', '-')}-${viewport.width}`);
          expect([name, await cutTexts(person)]).toEqual([name, []]);
        }
      await member.context.close();
      await guest.context.close();
    });
  });

  it('are mirrored from right to left, with dates and numbers of the locale, and code from left to right', async () => {
    const viewport = { width: 1360, height: 860 };
    const person = await all.member({ viewport });
    const leftOf = async (selector: string) => (await person.page.locator(selector).first().boundingBox())!.x;
    await settled(person, all.sessionPath);
    expect(await leftOf('.side')).toBeLessThan(await leftOf('main'));
    await speaks(person, 'ar-XB');
    await settled(person, all.sessionPath);
    expect(await person.page.evaluate('document.documentElement.dir')).toBe('rtl');
    expect(await leftOf('.side')).toBeGreaterThan(await leftOf('main'));
    // The message of the person is at the end of the lane, and its text keeps its own direction.
    const lane = (await person.page.locator('.me').first().boundingBox())!;
    const code = await person.page.locator('.fence').first().boundingBox();
    expect(lane.x).toBeLessThan(code!.x + code!.width / 2);
    for (const selector of ['.fence', '.md code', '.q pre', '.fence code'])
      expect([
        selector,
        await person.page.evaluate(`getComputedStyle(document.querySelector('${selector}')).direction`),
      ]).toEqual([selector, 'ltr']);
    await settled(person, '/account');
    expect(await person.page.locator('dl.facts').innerText()).toMatch(/[٠-٩]/);
    await person.context.close();
  });
});
