/*
 * The worker of the pages: shows pushed notifications, sends the answers they offer, opens the session of a tap, and starts the
 * pages offline. It has no access token: a notification carries the token of its own answer.
 */
/* global self, caches, clients, indexedDB */

/** Set by the build: its hashed files, and a name that changes with them and with the page. */
const files = [];
const build = '';

/** Texts in the languages of the pages: a notification names the language its browser chose. */
const languages = {
  en: {
    unread: 'Something waits for you.',
    allow: 'Allowed.',
    reject: 'Rejected.',
    reply: 'Your reply was sent.',
    waits: (until) => `The machine is offline. The answer waits for it until ${until}.`,
    already: (label, on, at) =>
      `Already answered${label === '' ? '' : `: ${label}`}${on === '' ? '' : ` on ${on}`}${at === '' ? '' : `, ${at}`}.`,
    gone: 'The agent is no longer asking this.',
    late: 'It is too late to answer here. Tap to open the session.',
    signedOut: 'This browser is signed out. Tap to sign in.',
    failed: 'Your answer was not sent. Try again, or tap to open the session.',
  },
  de: {
    unread: 'Etwas wartet auf dich.',
    allow: 'Erlaubt.',
    reject: 'Abgelehnt.',
    reply: 'Deine Antwort wurde gesendet.',
    waits: (until) => `Der Rechner ist offline. Die Antwort wartet auf ihn bis ${until}.`,
    already: (label, on, at) =>
      `Schon beantwortet${label === '' ? '' : `: ${label}`}${on === '' ? '' : ` auf ${on}`}${at === '' ? '' : `, ${at}`}.`,
    gone: 'Der Agent fragt das nicht mehr.',
    late: 'Zu spät, um hier zu antworten. Tippe, um die Sitzung zu öffnen.',
    signedOut: 'Dieser Browser ist abgemeldet. Tippe, um dich anzumelden.',
    failed: 'Deine Antwort wurde nicht gesendet. Versuche es noch einmal, oder tippe, um die Sitzung zu öffnen.',
  },
};
const wordsOf = (lang) => ((lang || self.navigator.language).startsWith('de') ? languages.de : languages.en);

/** A push that cannot be read is shown too: a browser takes away the permission of a page that stays silent. */
const unread = () => ({ title: 'Relay', body: wordsOf().unread, data: {} });

function read(event) {
  try {
    const message = event.data.json();
    const { notification } = message;
    return typeof notification?.title === 'string' ? { ...notification, app_badge: message.app_badge } : unread();
  } catch {
    return unread();
  }
}

const text = (value) => (typeof value === 'string' ? value : undefined);
const scope = () => self.registration.scope;

const cacheName = `relay-${build}`;
const isKept = new Set(files);
/** Below the address of the relay. */
const pathOf = (url) => (url.startsWith(scope()) ? url.slice(scope().length) : undefined);

/**
 * Stores all files of this build, and the page that loads them. While instances of two releases run, some files might belong to the
 * other release: then storing fails, and a later start tries again.
 */
async function keepBuild() {
  const shell = await fetch(scope(), { cache: 'no-store', credentials: 'omit' });
  const named = (await shell.clone().text()).match(/assets\/[\w.-]+/g) ?? [];
  if (!shell.ok || named.length === 0 || !named.every((name) => isKept.has(name)))
    throw new Error('the page is of another release');
  const cache = await caches.open(cacheName);
  const keep = async (name) => {
    const answer = await fetch(new URL(name, scope()), { credentials: 'omit' });
    if (!answer.ok || !(answer.headers.get('Cache-Control') ?? '').includes('immutable'))
      throw new Error(`${name} is of another release`);
    await cache.put(new URL(name, scope()), answer);
  };
  await Promise.all(files.map(keep));
  await cache.put(scope(), shell);
}

// A new version waits until the person wants it; the first version installs at once.
self.addEventListener('install', (event) => {
  // Sends API calls past the worker, in browsers that support static routes.
  const condition = { urlPattern: new URL('api/*', scope()).href };
  event.addRoutes?.({ condition, source: 'network' }).catch(() => undefined);
  event.waitUntil(keepBuild());
});
self.addEventListener('activate', (event) =>
  event.waitUntil(
    caches
      .keys()
      .then((names) => names.filter((name) => name.startsWith('relay-') && name !== cacheName))
      .then((old) => Promise.all([clients.claim(), ...old.map((name) => caches.delete(name))])),
  ),
);
self.addEventListener('message', ({ data }) => {
  if (data?.type === 'activate') void self.skipWaiting();
});

/** Signing in needs the relay and reports its own errors; the remaining paths are programs, or answer for themselves. */
const isApart =
  /^(api|auth|ws|assets|sign-in|sign-up|setup|invite|consent|callback|error|docs|\.well-known|health|ready|metrics)([/?#]|$)/;
const patienceMs = 3000;

/** Returns the page from the network; after three seconds without an answer, or if the relay is away, the stored page. */
async function page(request) {
  const network = fetch(request).then((answer) => (answer.status >= 500 ? undefined : answer));
  const soon = new Promise((resolve) => setTimeout(resolve, patienceMs));
  const answer = await Promise.race([network.catch(() => undefined), soon]);
  return answer ?? (await caches.match(scope())) ?? fetch(request);
}

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const path = pathOf(request.url);
  if (request.method !== 'GET' || path === undefined) return;
  if (isKept.has(path)) event.respondWith(caches.match(request.url).then((kept) => kept ?? fetch(request)));
  else if (request.mode === 'navigate' && !isApart.test(path)) event.respondWith(page(request));
});

/** `tag`: one notification for each session; a newer one takes its place. */
const show = (title, { body, tag, ...more }) =>
  self.registration.showNotification(title, {
    body: text(body) ?? '',
    ...(text(tag) === undefined || tag === '' ? {} : { tag }),
    icon: new URL('icon-192.png', scope()).href,
    badge: new URL('badge-96.png', scope()).href,
    ...more,
  });

const answerOf = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
const inStore = (db, mode, work) => answerOf(work(db.transaction('kept', mode).objectStore('kept')));

/** The number on the icon, unless a newer one was shown: messages of a push service come in any order. */
async function badge(count, version) {
  if (!Number.isInteger(count) || !Number.isInteger(version) || self.navigator.setAppBadge === undefined) return;
  const opening = indexedDB.open('relay-badge', 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore('kept');
  const db = await answerOf(opening);
  try {
    const known = await inStore(db, 'readonly', (kept) => kept.get('version'));
    if (known >= version) return;
    await inStore(db, 'readwrite', (kept) => kept.put(version, 'version'));
    await self.navigator.setAppBadge(count);
  } finally {
    db.close();
  }
}

self.addEventListener('push', (event) => {
  const { title, body, tag, navigate, data, actions, lang, app_badge: count } = read(event);
  // The notification is shown even if the number fails.
  event.waitUntil(badge(count, data?.version).catch(() => undefined));
  event.waitUntil(
    show(title, {
      ...{ body, tag, lang: text(lang) ?? '' },
      // A newer one buzzes again.
      ...(text(tag) === undefined ? {} : { renotify: true }),
      ...(Array.isArray(actions) ? { actions } : {}),
      data: { ...data, navigate: text(navigate) },
    }),
  );
});

/** Only pages of this relay are opened, regardless of the push. */
function target(navigate) {
  if (typeof navigate !== 'string' || !URL.canParse(navigate)) return scope();
  return navigate.startsWith(scope()) ? navigate : scope();
}

/** True for the address of a page that handles taps, not a document or another app on this host. */
const isPage = (url) => {
  const path = pathOf(url);
  return path !== undefined && !isApart.test(path);
};

/** A page confirms a tap at once. */
const takeMs = 1000;

async function open(address) {
  const all = await clients.matchAll({ type: 'window', includeUncontrolled: true });
  const windows = all.filter(({ url }) => isPage(url));
  const shown = windows.find(({ url }) => url === address) ?? windows.find(({ focused }) => focused) ?? windows[0];
  if (shown === undefined) return clients.openWindow(address);
  const focused = await shown.focus();
  // The page goes there by itself, without being loaded again. A page that is still loading does not listen yet.
  const { port1, port2 } = new MessageChannel();
  const isTaken = new Promise((resolve) => {
    port1.onmessage = () => resolve(true);
    setTimeout(resolve, takeMs, false);
  });
  focused.postMessage({ type: 'navigate', address }, [port2]);
  // A page that this worker does not control cannot be navigated.
  if (!(await isTaken)) await focused.navigate(address).catch(() => clients.openWindow(address));
  port1.close();
}

const timeOf = (iso) =>
  typeof iso === 'string' && !Number.isNaN(Date.parse(iso))
    ? new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' }).format(new Date(iso))
    : '';

/** The outcome of an answer as a sentence; undefined if it can be retried. */
function sentenceFor(words, action, status, answer) {
  if (status === 202) {
    const until = timeOf(answer.queuedUntil);
    return until === '' ? words[action] : `${words[action]} ${words.waits(until)}`;
  }
  const { code, answer: given = {} } = answer;
  if (code === 'PROMPT_ALREADY_ANSWERED')
    return words.already(text(given.label) ?? '', text(given.on) ?? '', timeOf(given.at));
  if (['PROMPT_SUPERSEDED', 'PROMPT_NOT_FOUND', 'SESSION_NOT_FOUND'].includes(code)) return words.gone;
  if (code === 'TOKEN_EXPIRED') return words.late;
  return code === 'TOKEN_REVOKED' ? words.signedOut : undefined;
}

const answerMs = 10_000;

async function post(token, reply) {
  const response = await fetch(new URL('api/answers', scope()), {
    method: 'POST',
    credentials: 'omit',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(reply === undefined ? {} : { text: reply }),
    signal: AbortSignal.timeout(answerMs),
  });
  return { status: response.status, answer: await response.json() };
}

/** Sends the answer, and replaces the notification with the outcome. */
async function give(notification, action, token, reply) {
  const { title, tag, data, actions, lang } = notification;
  // After an attempt that failed the sentence about it is before the question.
  const asked = text(data.asked) ?? notification.body;
  const words = wordsOf(lang);
  let sentence;
  try {
    const { status, answer } = await post(token, reply);
    sentence = sentenceFor(words, action, status, answer);
    // The pages that this browser stored for the person are deleted with the sign-in.
    if (answer.code === 'TOKEN_REVOKED') indexedDB.deleteDatabase('relay-last');
  } catch {
    // No network, or no relay: the token is good for another attempt, which is the same answer.
  }
  if (sentence === undefined)
    return show(title, {
      ...{ tag, actions, lang, data: { ...data, asked } },
      body: `${words.failed}\n${asked}`,
      silent: true,
    });
  // The first of several lines is the name of the session.
  const [name, ...rest] = asked.split('\n');
  const about = rest.length === 0 ? 'Relay' : name;
  return show(about, { tag, lang, data: { navigate: data.navigate }, body: sentence, silent: true });
}

self.addEventListener('notificationclick', (event) => {
  const { notification, action, reply } = event;
  const { tokens, navigate } = notification.data ?? {};
  const token = text(tokens?.[action]);
  const said = action === 'reply' ? (text(reply) ?? '').trim() : undefined;
  notification.close();
  // In a browser without a text field, a reply button opens the session.
  event.waitUntil(
    token === undefined || said === '' ? open(target(navigate)) : give(notification, action, token, said),
  );
});
