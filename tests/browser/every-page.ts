/** A relay with content on every page: a machine, a session with an open question, a pending code. */
import { send } from '@relay/testing';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import {
  type BrowserRelay,
  type Person,
  askForCode,
  eventually,
  launchBrowser,
  newPerson,
  registeredDevice,
  startBrowserRelay,
} from './browser.ts';
import { type TranscriptDaemon, connectTranscriptDaemon, item, put } from './transcript-daemon.ts';

export interface EveryPage {
  readonly relay: BrowserRelay;
  readonly browser: Browser;
  readonly daemon: TranscriptDaemon;
  /** Pages of the person, with their names. */
  readonly pages: readonly (readonly [name: string, path: string])[];
  /** Pages for guests. */
  readonly open: readonly (readonly [name: string, path: string])[];
  readonly sessionPath: string;
  /** The sign-in of the person, for another browser. */
  readonly state: Awaited<ReturnType<Person['context']['storageState']>>;
  /** The signed-in person in another browser. */
  member(options?: BrowserContextOptions): Promise<Person>;
  end(): Promise<void>;
}

export const said = 'Run `npm test -- garden` and **wait** for it.\n\n```ts\nconst rows = await read();\n```\n';
const command = 'rm -rf build && npm run build -- --mode=production';

export async function startEveryPage(): Promise<EveryPage> {
  const relay = await startBrowserRelay();
  const browser = await launchBrowser();
  const person = await newPerson(browser, relay.url);
  await person.createAccount(relay.setupLink, 'ada@example.com');
  const registration = await registeredDevice(person);
  const { deviceId } = registration;
  const daemon = await connectTranscriptDaemon(relay.relay, registration);
  const headers = { Authorization: person.bearer };
  await send('POST', `${relay.url}/api/sessions`, { headers, body: { deviceId, message: 'Plan a trip' } });
  const task = await daemon.next('task_start');
  const taskId = task.task_id as string;
  daemon.send({ type: 'status', running_tasks: [taskId] });
  daemon.event(taskId, 'SESSION_STARTED', { session_id: 'native' });
  daemon.say(taskId, 'native', [
    put(item(task.message_uuid as string, 1, { kind: 'user' }, 'Plan a trip')),
    put(item('01900000-0000-7000-8000-000000000002', 2, { kind: 'text' }, said)),
  ]);
  const uuid = '01900000-0000-7000-8000-000000000003';
  daemon.event(taskId, 'WAIT_FOR_USER', {
    prompt: 'Build it again?',
    result: '',
    options: [{ label: 'Allow once' }, { label: 'Reject' }],
    message_uuid: uuid,
    question: {
      uuid,
      title: 'Build it again?',
      kind: 'permission',
      options: [
        { id: 'yes', label: 'Allow once', kind: 'allow_once' },
        { id: 'no', label: 'Reject', kind: 'reject_once' },
      ],
      text: true,
      subject: { type: 'command', command },
    },
  });
  daemon.send({ type: 'status', running_tasks: [] });
  const { userCode } = await askForCode(relay.url, 'attic.lan', 'Attic');
  const sessionPath = `/sessions/${encodeURIComponent(`${deviceId}:scripted:native`)}`;
  const stored = async () => (await send('GET', `${relay.url}/api${sessionPath}`, { headers })).status;
  await eventually(stored, (status) => status === 200);
  await person.goto(sessionPath);
  await person.page.locator('.q').waitFor();
  const storageState = await person.context.storageState();
  await person.context.close();
  return {
    relay,
    browser,
    daemon,
    sessionPath,
    state: storageState,
    pages: [
      ['sessions', '/sessions'],
      ['session', sessionPath],
      ['new session', '/sessions/new'],
      ['machines', '/devices'],
      ['machine', `/devices/${deviceId}`],
      ['connect', '/devices/new'],
      ['code', '/device'],
      ['approval', `/device?user_code=${userCode}`],
      ['settings', '/account'],
      ['apps', '/applications'],
      ['activity', '/activity'],
      ['notifications', '/notifications'],
    ],
    open: [
      ['sign-in', '/sign-in'],
      ['first account', '/setup#token=nothing'],
      ['failed sign-in', '/error?error=invalid_client'],
      ['consent', '/consent?client_id=relay-cli'],
      ['nothing', '/nothing/here'],
    ],
    member: (options = {}) => newPerson(browser, relay.url, { ...options, storageState }),
    end: async () => {
      await browser.close();
      await daemon.drop();
      await relay.end();
    },
  };
}

/** Opens a page and waits until it has its content. */
export async function settled(person: Person, path: string): Promise<void> {
  await person.goto(path);
  // The page has another heading while it looks for the sign-in.
  await person.page.locator('h1').first().waitFor();
  await person.page.locator('p.late').waitFor({ state: 'detached' });
  await person.page.locator('h1').first().waitFor();
  if (path.startsWith('/sessions/') && path !== '/sessions/new') await person.page.locator('.q').waitFor();
  else if (path !== '/devices/new') await person.page.locator('p.waiting').first().waitFor({ state: 'detached' });
  await person.page.evaluate('document.fonts.ready');
}

/** Clipped texts of the page, and a page that is wider than the screen. */
export const cutTexts = (person: Person): Promise<string[]> =>
  person.page.evaluate<string[]>(`(() => {
    const found = [];
    if (document.documentElement.scrollWidth > innerWidth) found.push('the page: ' + document.documentElement.scrollWidth + ' > ' + innerWidth);
    for (const element of document.querySelectorAll('button, a, label, legend, h1, h2, h3, dt, dd, .chip, .hint, .notice, p')) {
      const style = getComputedStyle(element);
      if (element.closest('.cut, .sr, .for-readers, .skip, .menu') || style.textOverflow === 'ellipsis') continue;
      if (!element.checkVisibility() || element.querySelector('.cut')) continue;
      if (style.overflowX !== 'visible' && element.scrollWidth > element.clientWidth + 1) found.push(element.textContent.slice(0, 60));
      const { left, right, width } = element.getBoundingClientRect();
      if (width > 0 && element.closest('[tabindex="0"], pre') === null && (left < -1 || right > innerWidth + 1)) found.push('outside: ' + element.textContent.slice(0, 60));
    }
    return found;
  })()`);
