/**
 * The pages in forced colours (acceptance 31): states that colours, backgrounds and shadows usually show stay visible.
 */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import type { Locator } from 'playwright-core';
import type { Person } from './browser.ts';
import { type EveryPage, settled, startEveryPage } from './every-page.ts';
import { item, put } from './transcript-daemon.ts';

describeWith('chromium', 'the colours of the system', () => {
  let all: EveryPage;
  let person: Person;
  beforeAll(async () => {
    all = await startEveryPage();
    person = await all.member({ forcedColors: 'active', viewport: { width: 1360, height: 860 }, hasTouch: false });
    // A session in each state, on an offline machine.
    await person.page.route(/\/api\/sessions\?/, async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { sessions: Record<string, unknown>[] };
      const [first] = body.sessions;
      if (!first) return route.fulfill({ response });
      const sessions = Object.entries(states).map(([title, state]) => {
        const { prompt: _, ...session } = first;
        return { ...session, id: `${String(session['deviceId'])}:scripted:${title}`, title, unread: false, ...state };
      });
      await route.fulfill({ response, json: { ...body, sessions: [first, ...sessions] } });
    });
    await person.page.route(/\/api\/devices$/, async (route) => {
      const response = await route.fetch();
      const { devices } = (await response.json()) as { devices: object[] };
      await route.fulfill({ response, json: { devices: devices.map((one) => ({ ...one, status: 'offline' })) } });
    });
  });
  afterAll(async () => all?.end());

  const states = {
    failed: { status: 'failed' },
    active: { status: 'active' },
    queued: { status: 'pending', lastTask: { id: 'one', state: 'queued' } },
    news: { status: 'idle', unread: true },
    idle: { status: 'idle' },
  };
  const spot = async (place: Locator) => {
    await place.scrollIntoViewIfNeeded();
    return (await place.boundingBox())!;
  };
  const picture = async (clip: Awaited<ReturnType<typeof spot>>) =>
    (await person.page.screenshot({ clip, animations: 'disabled', caret: 'hide' })).toString('base64');
  /** Whether the place looks different after the change. */
  async function shows(place: Locator, change: () => Promise<unknown>): Promise<boolean> {
    const clip = await spot(place);
    const before = await picture(clip);
    await change();
    return (await picture(clip)) !== before;
  }

  /** Runs a script on the first element of a selector. */
  const on = (selector: string, script: string) => () =>
    person.page.evaluate(`{ const one = document.querySelector(${JSON.stringify(selector)}); ${script} }`);

  it('31: distinguishes the states of sessions', async () => {
    await settled(person, all.sessionPath);
    await person.picture('forced-colours-list');
    const seen = new Set<string>();
    for (const state of ['need', 'work', 'fail', 'wait', 'new', 'idle']) {
      const sign = person.page.locator(`.row .st.${state}`).first();
      await sign.waitFor();
      // Compares them all in one place, because the same sign is drawn differently between pixels.
      const place =
        'position: fixed; z-index: 99; top: 300px; left: 800px; width: 24px; height: 24px; background: Canvas';
      await on(`.row .st.${state}`, `one.style.cssText = '${place}'`)();
      seen.add(await picture(await spot(sign)));
      await on(`.row .st.${state}`, `one.style.cssText = ''`)();
    }
    expect(seen.size).toBe(6);
  });

  it('31: distinguishes the selection and the focus', async () => {
    const { page } = person;
    const faults: string[] = [];
    const check = async (name: string, selector: string, change: () => Promise<unknown>) => {
      const place = page.locator(selector).first();
      await place.waitFor();
      if (!(await shows(place, change))) faults.push(name);
    };
    const loses = (name: string, selector: string, script: string) => check(name, selector, on(selector, script));
    await settled(person, all.sessionPath);
    await loses('the open session', '.row[aria-current]', `one.removeAttribute('aria-current')`);
    await loses('the dot of a machine', '.bar .dot.off', `one.classList.remove('off')`);
    await loses('the main answer', '.q .primary', `one.classList.remove('primary')`);
    await loses('words of the person', '.me', `one.classList.remove('me')`);
    await check('the focus of the composer', '.box', () => page.getByLabel('Message').focus());
    for (const [name, place] of [
      ['a button', page.locator('.q .acts button').last()],
      ['a row', page.locator('a.row').nth(1)],
      ['a link of an icon', page.getByRole('link', { name: 'New session' }).first()],
    ] as const)
      await check(`the focus of ${name}`, '.app', () => place.focus());
    await page.keyboard.press('Control+k');
    await loses('the chosen result', '.res[aria-selected="true"]', `one.setAttribute('aria-selected', 'false')`);
    await page.keyboard.press('Escape');
    await page.setViewportSize({ width: 390, height: 844 });
    await settled(person, '/devices');
    await loses('the tab', '.tabs a[aria-current]', `one.removeAttribute('aria-current')`);
    await page.setViewportSize({ width: 1360, height: 860 });
    expect(faults).toEqual([]);
  });

  it('31: distinguishes the states of a call', async () => {
    const call = (status: string, n: number) =>
      put(item(`call-${n}`, 10 + n, { kind: 'tool', id: `c${n}`, title: `make ${n}`, does: 'execute', status }));
    const statuses = ['pending', 'running', 'completed', 'failed', 'rejected'];
    all.daemon.keep('native', statuses.map(call));
    await settled(person, all.sessionPath);
    const rows = person.page.locator('.call .tool');
    await rows.nth(4).waitFor();
    await person.picture('forced-colours-session');
    expect(new Set(await rows.locator('.v').allInnerTexts()).size).toBe(5);
    const unseen: string[] = [];
    for (const status of statuses) {
      const sign = `.call[data-status="${status}"] svg`;
      const isSeen = await shows(person.page.locator(sign).first(), on(sign, `one.style.visibility = 'hidden'`));
      if (!isSeen) unseen.push(status);
    }
    expect(unseen).toEqual([]);
    expect(person.complaints).toEqual([]);
  });
});
