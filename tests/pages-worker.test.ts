/** The service worker of the pages, in a minimal fake browser. */
import { readFileSync } from 'node:fs';
import { createContext, runInContext } from 'node:vm';
import { expect, it } from '@jest/globals';

const script = readFileSync(new URL('../apps/web/public/sw.js', import.meta.url), 'utf8');

interface Shown {
  title: string;
  body: string;
  data: object;
  lang?: string;
}

/**
 * Starts a worker in a browser of this language. `answer` is the reply of the relay to an answer, or undefined while
 * the relay is unreachable.
 */
function startWorker(language: string) {
  const shown: Shown[] = [];
  const listeners = new Map<string, (event: object) => void>();
  const browser = { answer: undefined as { status: number; body: object } | undefined };
  const self = {
    navigator: { language },
    registration: {
      scope: 'https://relay.example.com/',
      showNotification: (title: string, options: Omit<Shown, 'title'>) => void shown.push({ title, ...options }),
    },
    addEventListener: (name: string, listener: (event: object) => void) => void listeners.set(name, listener),
  };
  const fetch = () => {
    const { answer } = browser;
    return answer
      ? Promise.resolve(Response.json(answer.body, { status: answer.status }))
      : Promise.reject(new TypeError('Failed to fetch'));
  };
  runInContext(script, createContext({ self, fetch, URL, AbortSignal, indexedDB: {}, setTimeout }));
  const dispatch = async (name: string, event: object) => {
    const work: Promise<unknown>[] = [];
    listeners.get(name)!({ ...event, waitUntil: (one: Promise<unknown>) => void work.push(one) });
    await Promise.all(work);
  };
  return {
    browser,
    newest: () => shown.at(-1)!,
    push: (message: unknown) => dispatch('push', { data: { json: () => message } }),
    tap: (action: string) =>
      dispatch('notificationclick', { notification: { ...shown.at(-1)!, close: () => undefined }, action }),
  };
}

const question = {
  notification: {
    ...{ title: 'Ein Agent braucht dich', body: 'Der Garten\nDarf ich jäten?', lang: 'de', tag: 'one' },
    data: { tokens: { allow: 'a token' } },
    actions: [{ action: 'allow', title: 'Einmal erlauben' }],
  },
};

it('an unreadable push shows a text in the language of the browser', async () => {
  for (const [language, body] of [
    ['de-AT', 'Etwas wartet auf dich.'],
    ['fr', 'Something waits for you.'],
  ] as const) {
    const worker = startWorker(language);
    await worker.push({ unknown: true });
    expect(worker.newest()).toMatchObject({ title: 'Relay', body });
  }
});

it('a failed answer shows its failure once, however often it fails, and a successful one names its session', async () => {
  const worker = startWorker('en');
  await worker.push(question);
  const failed =
    'Deine Antwort wurde nicht gesendet. Versuche es noch einmal, oder tippe, um die Sitzung zu öffnen.\nDer Garten\nDarf ich jäten?';
  for (let n = 0; n < 2; n += 1) {
    await worker.tap('allow');
    expect(worker.newest()).toMatchObject({ title: 'Ein Agent braucht dich', body: failed });
  }
  worker.browser.answer = { status: 202, body: {} };
  await worker.tap('allow');
  expect(worker.newest()).toMatchObject({ title: 'Der Garten', body: 'Erlaubt.' });
});
