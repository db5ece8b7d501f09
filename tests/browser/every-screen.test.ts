/** Every page on small touch screens, with wide text spacing and without motion (acceptance 29, 30 and 31). */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import type { BrowserContextOptions } from 'playwright-core';
import { type Person, newPerson } from './browser.ts';
import { type EveryPage, cutTexts, settled, startEveryPage } from './every-page.ts';

describeWith('chromium', 'every page', () => {
  let all: EveryPage;
  beforeAll(async () => {
    all = await startEveryPage();
  });
  afterAll(async () => all?.end());

  /** The faults that `find` reports on each page, for its person and for a guest. */
  async function foundOn(options: BrowserContextOptions, find: (person: Person) => Promise<string[]>): Promise<object> {
    const found: Record<string, string[]> = {};
    const [member, guest] = [await all.member(options), await newPerson(all.browser, all.relay.url, options)];
    for (const [person, pages] of [
      [member, all.pages],
      [guest, all.open],
    ] as const)
      for (const [name, path] of pages) {
        await settled(person, path);
        const faults = await find(person);
        if (faults.length > 0) found[name] = faults;
      }
    expect([...member.complaints, ...guest.complaints]).toEqual([]);
    await member.context.close();
    await guest.context.close();
    return found;
  }

  it('29: has targets of 44 by 44 px for a finger, or inside such a label; links in a sentence are exempt', async () => {
    const small = (person: Person) =>
      person.page.evaluate<
        string[]
      >(`[...document.querySelectorAll('button, a[href], input, select, textarea, summary')]
        .filter((element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: false }) && !element.closest('.skip, .sr, .for-readers, [inert]'))
        .filter((element) => !(element.tagName === 'A' && getComputedStyle(element).display === 'inline'))
        .filter((element) => {
          const label = element.closest('label') ?? element;
          const { width, height } = label.getBoundingClientRect();
          return width > 1 && height > 1 && (width < 43.5 || height < 43.5);
        })
        .map((element) => { const { width, height } = element.getBoundingClientRect(); return [element.tagName, element.className, element.getAttribute('aria-label') ?? element.textContent.trim().slice(0, 30), Math.round(width) + '×' + Math.round(height)].join(' '); })`);
    const options = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    expect(await foundOn(options, small)).toEqual({});
  }, 180_000);

  it.each([
    ['320 px wide', { width: 320, height: 720 }],
    ['a desk at 200 %', { width: 640, height: 430 }],
    ['a phone on its side', { width: 844, height: 390 }],
  ])(
    '30: clips nothing on %s, even with the text spacing of WCAG 1.4.12',
    async (_name, viewport) => {
      const cut = async (person: Person) => {
        const plain = await cutTexts(person);
        // The policy of the page allows a new style only by script.
        await person.page.evaluate(`{ const sheet = new CSSStyleSheet();
        sheet.replaceSync('* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important; }');
        document.adoptedStyleSheets = [sheet]; }`);
        return [...plain, ...(await cutTexts(person)).map((text) => `spaced: ${text}`)];
      };
      expect(await foundOn({ viewport }, cut)).toEqual({});
    },
    180_000,
  );

  it('31: moves nothing for people who prefer reduced motion', async () => {
    // Adds the spinner of loading parts to the page.
    const moving = (person: Person) =>
      person.page.evaluate<
        string[]
      >(`document.body.append(...['spinner', 'ring'].map((className) => Object.assign(document.createElement('span'), { className }))),
        document.getAnimations()
        .filter(({ playState, effect }) => playState === 'running' && effect.getComputedTiming().iterations === Infinity)
        .map(({ effect }) => effect.target.className)`);
    for (const [reducedMotion, expected] of [
      ['reduce', []],
      ['no-preference', ['spinner', 'ring']],
    ] as const) {
      const person = await all.member({ reducedMotion });
      await settled(person, all.sessionPath);
      expect(await moving(person)).toEqual(expected);
      await person.context.close();
    }
  });
});
