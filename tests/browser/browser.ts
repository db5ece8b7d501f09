/**
 * The shipped relay, a real Chromium without a window, and people in it. TEST_PICTURES=1 writes pictures to
 * tests/artefacts/.
 */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  type Registration,
  type RelayAddress,
  freePort,
  send,
  setupLinkOf,
  startCluster,
  startRelayProcess,
} from '@relay/testing';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Locator,
  type Page,
  chromium,
  firefox,
} from 'playwright-core';

const artefacts = fileURLToPath(new URL('../artefacts/', import.meta.url));
/** Pictures are for people: no test compares them. */
const wantsPictures = process.env.TEST_PICTURES === '1';
/** The timeout of pages, which normally respond at once. */
const patienceMs = 30_000;

/** @throws Error with the program to install */
export function chromiumPath(path = process.env.PATH ?? ''): string {
  const folders = [...path.split(delimiter), '/usr/bin'];
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  const found = folders.flatMap((folder) => names.map((name) => join(folder, name))).find((file) => existsSync(file));
  if (found === undefined)
    throw new Error('Tests of the pages need Chromium, and none is on PATH. On Debian: apt-get install chromium');
  return found;
}

export interface BrowserRelay {
  readonly relay: Pick<RelayAddress, 'apis' | 'gateways' | 'token' | 'call'>;
  /** PUBLIC_URL, the address of the relay. */
  readonly url: string;
  /** The link for the first account. */
  readonly setupLink: string;
  end(): Promise<void>;
}

/**
 * Two apis and two gateways behind HAProxy, with Redis and PostgreSQL. Only the setup link of the last started api is
 * valid.
 */
async function startBrowserCluster(env: Record<string, string>, port: number | undefined): Promise<BrowserRelay> {
  const cluster = await startCluster({
    haproxy: 'plain',
    ...(port === undefined ? {} : { haproxyPort: port }),
    env: {
      AUTH_BUILTIN: 'on',
      AUTH_ISSUERS: '[]',
      AUTH_SECRET: randomBytes(32).toString('base64url'),
      SIGN_IN_PER_MINUTE: '100000',
      ...env,
    },
  });
  const { url } = cluster.haproxy!;
  const [, setupLink] = await cluster.apis.at(-1)!.child.wrote(/Create the first account: (\S+)\n/);
  return {
    relay: { ...cluster, apis: [{ url }], gateways: [{ url }] },
    url,
    setupLink: setupLink!,
    end: () => cluster.stop(),
  };
}

/**
 * Browsers need the same address before and after a start, and a local one, because they send passwords to it. Starts
 * one process, or a cluster with TEST_RELAY=cluster.
 */
export async function startBrowserRelay(env: Record<string, string> = {}, givenPort?: number): Promise<BrowserRelay> {
  if (process.env.TEST_RELAY === 'cluster') return startBrowserCluster(env, givenPort);
  const port = givenPort ?? (await freePort());
  const url = `http://localhost:${port}`;
  const relay = await startRelayProcess({
    env: {
      PORT: String(port),
      PUBLIC_URL: url,
      AUTH_BUILTIN: 'on',
      AUTH_DEV_ISSUER: 'off',
      SIGN_IN_PER_MINUTE: '100000',
      ...env,
    },
  });
  const setupLink = await setupLinkOf(relay);
  const end = async () => {
    await relay.end('SIGTERM');
    await rm(relay.dataDir, { recursive: true, force: true });
  };
  return { relay, url, setupLink, end };
}

const isFirefox = process.env.TEST_BROWSER === 'firefox';

/** The system's Firefox over WebDriver BiDi, for the tests of `npm run test:firefox`. */
const launchFirefox = (): Promise<Browser> =>
  firefox.launch({
    channel: 'moz-firefox',
    executablePath: fileURLToPath(new URL('firefox.mjs', import.meta.url)),
    firefoxUserPrefs: { 'ui.prefersReducedMotion': 1 },
  });

/** `more`: additional arguments. `home`: the folder with the certificates that the person trusts. */
export const launchChromium = (more: readonly string[] = [], home?: string): Promise<Browser> =>
  chromium.launch({
    executablePath: chromiumPath(),
    ...(home === undefined ? {} : { env: { PATH: process.env.PATH ?? '', HOME: home } }),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...more,
    ],
  });

export const launchBrowser = (): Promise<Browser> => (isFirefox ? launchFirefox() : launchChromium());

/** Over BiDi, React misses a new value of a field, so this types every text instead. */
function typeTexts(page: Page): void {
  const locator = Object.getPrototypeOf(page.locator('html')) as Locator;
  locator.fill = async function fill(this: Locator, text: string) {
    await this.focus();
    await this.press('Control+a');
    await this.press('Delete');
    await this.pressSequentially(text);
  };
}

export const password = 'correct horse battery';

/** One browser with its cookies, and one tab in it. */
export class Person {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly url: string;
  /** Errors that the browser reports: refusals by the Content-Security-Policy, errors of scripts. */
  readonly complaints: string[] = [];
  #bearer: string | undefined;

  constructor(context: BrowserContext, page: Page, url: string) {
    this.context = context;
    this.page = page;
    this.url = url;
    page.setDefaultTimeout(patienceMs);
    if (isFirefox) typeTexts(page);
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('console', (message) => {
      // Chromium also reports refusals of the relay and a network that a test disabled; these are not faults of the
      // page.
      const isRefusal = /^Failed to load resource: (?:the server responded|net::ERR_INTERNET_DISCONNECTED)/.test(
        message.text(),
      );
      if (message.type() === 'error' && !isRefusal) this.complaints.push(message.text());
    });
    page.on('request', (request) => {
      const header = request.headers()['authorization'];
      if (header?.startsWith('Bearer ')) this.#bearer = header;
    });
  }

  /** The newest access token of a page, for requests beside the subject of a test. */
  get bearer(): string {
    if (this.#bearer === undefined) throw new Error('no page has used an access token yet');
    return this.#bearer;
  }

  /** Returns the status of the page, or undefined if only the fragment changed. */
  async goto(path: string): Promise<number | undefined> {
    return (await this.page.goto(path.startsWith('http') ? path : `${this.url}${path}`))?.status();
  }

  async createAccount(link: string, email: string, name = 'Ada'): Promise<void> {
    await this.goto(link);
    await this.page.getByLabel('Your name').fill(name);
    await this.page.getByLabel('Email').fill(email);
    await this.page.getByLabel('Password', { exact: true }).fill(password);
    await Promise.all([
      // The heading can come before the first request with a token, which `bearer` needs.
      this.page.waitForRequest((request) => request.headers()['authorization']?.startsWith('Bearer ') === true),
      this.click('Create account'),
    ]);
    await this.heading(/^Connect (a|your first) machine/);
  }

  /** Fills in the open sign-in page. */
  async signIn(email: string, secret = password): Promise<void> {
    await this.page.getByLabel('Email').fill(email);
    await this.page.getByLabel('Password', { exact: true }).fill(secret);
    await this.page.getByRole('button', { name: 'Sign in', exact: true }).click();
  }

  /** Waits for a page by its heading. */
  heading(name: string | RegExp): Promise<void> {
    return this.page.getByRole('heading', { level: 1, name }).waitFor();
  }

  text(words: string | RegExp): Promise<void> {
    // Every page contains the list of sessions, which a phone hides.
    return this.page.getByText(words).filter({ visible: true }).first().waitFor();
  }

  click(name: string | RegExp): Promise<void> {
    return this.page.getByRole('button', { name, exact: true }).click();
  }

  /** Takes a picture of the whole page with TEST_PICTURES=1. */
  async picture(name: string): Promise<void> {
    // In Firefox, a picture needs a style in the page, which the policy refuses.
    if (!wantsPictures || isFirefox) return;
    await mkdir(artefacts, { recursive: true });
    await this.page.screenshot({ path: join(artefacts, `${name}.png`), fullPage: true });
  }
}

/** Answers the next request with this method to this path as if the sign-in were 15 minutes old. */
export function oldSignIn(page: Page, path: RegExp, method = 'POST'): Promise<unknown> {
  let isAnswered = false;
  return page.route(path, (route) => {
    // The page can read the same path in between, which does not count.
    if (isAnswered || route.request().method() !== method) return route.fallback();
    isAnswered = true;
    return route.fulfill({ status: 403, json: { code: 'SIGN_IN_NOT_RECENT', error: 'Sign in again.', status: 403 } });
  });
}

/**
 * Reads a value until it passes, at most for the patience of pages. Returns the newest value, so that an expectation
 * shows it. Repeats a read that fails, because a navigation interrupts reads. Throws the error of the last read. The
 * policy of the pages refuses `page.waitForFunction` with a text, from its second evaluation on.
 */
export async function eventually<T>(
  read: () => Promise<T> | T,
  passes: (value: T) => boolean,
  pauseMs = 50,
): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const isLast = performance.now() > deadline;
    try {
      const value = await read();
      if (isLast || passes(value)) return value;
    } catch (error) {
      if (isLast) throw error;
    }
    await delay(pauseMs);
  }
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Runs axe on the page. Returns each violated rule with the element that violates it; empty for an accessible page. */
export async function axeFindings({ page }: Pick<Person, 'page'>): Promise<string[]> {
  const { violations } = await page.evaluate<{
    violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[];
  }>(`${axe}; axe.run(document)`);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ''}`),
  );
}

/** Takes pictures of the page on a phone and a desk, light and dark; leaves it wide and light. */
export async function pictures(person: Person, name: string): Promise<void> {
  for (const colorScheme of ['dark', 'light'] as const)
    for (const width of [390, 1360]) {
      await person.page.setViewportSize({ width, height: 900 });
      await person.page.emulateMedia({ colorScheme });
      await person.picture(`${name}-${width}-${colorScheme}`);
    }
}

/** Takes pictures of the visible part: phone, tablet and desk, light and dark. Leaves the page wide and light. */
export async function everyLook(person: Person, name: string): Promise<void> {
  for (const colorScheme of ['dark', 'light'] as const)
    for (const [width, height] of [
      [390, 844],
      [820, 1100],
      [1360, 860],
    ] as const) {
      // prettier-ignore
      await person.page.setViewportSize({ width, height });
      await person.page.emulateMedia({ colorScheme });
      await person.picture(`${name}-${width}-${colorScheme}`);
    }
}

export const phone = { width: 360, height: 740 };

/** Blocks the service worker unless `options` allow it, because Playwright sees no request that a worker handles. */
export async function newPerson(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Person> {
  const context = await browser.newContext({ reducedMotion: 'reduce', serviceWorkers: 'block', ...options });
  // WebDriver BiDi has no event for refusals of the policy.
  if (isFirefox)
    await context.addInitScript(
      `addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => console.error('Content Security Policy', effectiveDirective, blockedURI))`,
    );
  return new Person(context, await context.newPage(), url);
}

/** Keeps the live socket of this page closed, even after a reload, until the test calls the returned function. */
export async function holdSocket(page: Page): Promise<() => void> {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route(/\/api\/ws-tickets$/, async (route) => {
    await released;
    await route.continue();
  });
  return release;
}

/** Waits until an entry of this store has this text in its key or value. Resolves with the number of entries. */
export const untilKept = (page: Page, database: string, store: string, words: string): Promise<number> =>
  page.evaluate<number>(`new Promise((resolve) => {
    const look = async () => {
      const again = () => setTimeout(look, 50);
      // Opening it before the page does would make it, without its stores.
      const all = await indexedDB.databases();
      if (!all.some(({ name }) => name === ${JSON.stringify(database)})) { again(); return; }
      const request = indexedDB.open(${JSON.stringify(database)});
      request.onsuccess = () => {
        const db = request.result;
        if (!db.objectStoreNames.contains(${JSON.stringify(store)})) { db.close(); again(); return; }
        const tx = db.transaction(${JSON.stringify(store)});
        const [keys, values] = [tx.objectStore(${JSON.stringify(store)}).getAllKeys(), tx.objectStore(${JSON.stringify(store)}).getAll()];
        tx.oncomplete = () => {
          db.close();
          if (JSON.stringify([keys.result, values.result]).includes(${JSON.stringify(words)})) resolve(keys.result.length);
          else again();
        };
      };
    };
    look();
  })`);

export interface AskedCode {
  userCode: string;
  deviceCode: string;
  link: string;
}

/** A machine asks to be registered. */
export async function askForCode(
  url: string,
  hostname = 'laptop.lan',
  name = 'My laptop',
  agentType = 'scripted',
): Promise<AskedCode> {
  const answer = await send('POST', `${url}/api/devices/code`, {
    body: { hostname, agent_type: agentType, device_name: name },
  });
  const code = answer.body as { user_code: string; device_code: string; verification_uri_complete: string };
  return { userCode: code.user_code, deviceCode: code.device_code, link: code.verification_uri_complete };
}

/** A machine polls the result of its code. */
export const poll = (url: string, { deviceCode }: AskedCode) =>
  send('POST', `${url}/api/devices/token`, { body: { device_code: deviceCode } });

/** Registers and approves a device of this person without the page. */
export async function registeredDevice(
  person: Pick<Person, 'url' | 'bearer'>,
  name = 'My laptop',
): Promise<Registration> {
  const asked = await askForCode(person.url, 'laptop.lan', name);
  const headers = { Authorization: person.bearer };
  await send('POST', `${person.url}/api/devices/code/${asked.userCode}/approve`, { headers });
  const granted = await poll(person.url, asked);
  if (granted.status !== 200) throw new Error(`the registration failed: ${granted.status} ${granted.text}`);
  const { deviceId, refreshToken } = granted.body as { deviceId: string; refreshToken: string };
  return { deviceId, refreshToken, agentType: 'scripted', user: 'the person of the browser' };
}
