/* The worker of the pages: shows what the relay pushes, and opens the session that a tap means. It keeps nothing and asks for nothing. */
/* global self, clients */

/** A push that cannot be read is shown too: a browser takes away the permission of a page that stays silent. */
const unread = { title: 'Relay', body: 'Something waits for you.', data: {} };

function read(event) {
  try {
    const { notification } = event.data.json();
    return typeof notification?.title === 'string' ? notification : unread;
  } catch {
    return unread;
  }
}

const text = (value) => (typeof value === 'string' ? value : undefined);

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(clients.claim()));

self.addEventListener('push', (event) => {
  const { title, body, tag, navigate, data } = read(event);
  const scope = self.registration.scope;
  event.waitUntil(
    self.registration.showNotification(title, {
      body: text(body) ?? '',
      // One notification for each session: a newer one takes its place, and buzzes again.
      ...(text(tag) === undefined ? {} : { tag, renotify: true }),
      icon: new URL('icon-192.png', scope).href,
      badge: new URL('badge-96.png', scope).href,
      data: { ...data, navigate: text(navigate) },
    }),
  );
});

/** Only pages of this relay are opened, whatever the push says. */
function target(navigate) {
  const scope = self.registration.scope;
  if (typeof navigate !== 'string' || !URL.canParse(navigate)) return scope;
  return navigate.startsWith(scope) ? navigate : scope;
}

async function open(address) {
  const windows = await clients.matchAll({ type: 'window', includeUncontrolled: true });
  const shown = windows.find(({ url }) => url === address) ?? windows.find(({ focused }) => focused) ?? windows[0];
  if (shown === undefined) return clients.openWindow(address);
  const focused = await shown.focus();
  // The page goes there by itself, without being loaded again.
  focused.postMessage({ type: 'navigate', address });
  return focused;
}

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(open(target(event.notification.data?.navigate)));
});
