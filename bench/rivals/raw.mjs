// The physical limit: one instance of a relay without checks. `ws` in front, one Redis channel per user for apps'
// events and one per device for daemons' requests. It forwards text unchanged. NEEDS adds work that the relay's promise
// requires, for the rows called floor: see needs.mjs.
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import { serveAsking } from './asking.mjs';
import { connectRedis } from './ioredis.mjs';
import { bareExpress } from './limited.mjs';
import { authenticated, forwarder, pinging } from './needs.mjs';

const publisher = connectRedis(process.env.REDIS_URL);
const subscriber = connectRedis(process.env.REDIS_URL);
const instance = `r:${process.pid}`;
const apps = new Map();
const daemons = new Map();
const waiting = new Map();
const needs = new Set(process.env.NEEDS?.split(','));
const forward = needs.has('frames') ? forwarder(publisher) : (user, text) => publisher.publish(`u:${user}`, text);
const attend = needs.has('ping') ? pinging(publisher) : undefined;
let asked = 0;

subscriber.on('message', (channel, text) => {
  if (channel === instance) {
    const space = text.indexOf(' ');
    const id = text.slice(0, space);
    waiting.get(id)?.(text.slice(space + 1));
    waiting.delete(id);
  } else if (channel.startsWith('d:')) daemons.get(channel.slice(2))?.send(text);
  else for (const app of apps.get(channel.slice(2)) ?? []) app.send(text);
});
await subscriber.subscribe(instance);

const ask = (user, n) =>
  new Promise((resolve) => {
    const id = String((asked += 1));
    waiting.set(id, resolve);
    void publisher.publish(`d:${user}`, JSON.stringify({ type: 'ask', from: instance, id, before: String(n) }));
  });

/** Requests over HTTP: by express with a limiter, or with neither. */
const web = process.env.HTTP === 'express' ? bareExpress(process.env.REDIS_URL) : undefined;
if (needs.has('token')) web?.use(authenticated());
web?.get('/ask', (request, response) => {
  void ask(request.query.user, request.query.before).then((text) => response.type('json').send(text));
});

const server = createServer((request, response) => {
  if (serveAsking(request, response, ask)) return;
  if (web) return void web(request, response);
  const url = new URL(request.url, 'http://raw');
  void ask(url.searchParams.get('user'), url.searchParams.get('before')).then((text) => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
    response.end(text);
  });
});

const onApp = async (socket, user) => {
  const others = apps.get(user);
  if (others) others.add(socket);
  else apps.set(user, new Set([socket]));
  socket.on('close', () => {
    const left = apps.get(user);
    left?.delete(socket);
    if (left?.size === 0) {
      apps.delete(user);
      void subscriber.unsubscribe(`u:${user}`);
    }
  });
  if (!others) await subscriber.subscribe(`u:${user}`);
  socket.send('{"type":"ready"}');
};

const onDaemon = async (socket, user) => {
  daemons.set(user, socket);
  socket.on('close', () => {
    daemons.delete(user);
    void subscriber.unsubscribe(`d:${user}`);
  });
  socket.on('message', (data) => {
    const text = data.toString();
    // The first letters give the kind; reads and drops `status` and reports, as the relay does if nothing changed.
    if (text.startsWith('{"to":')) {
      const { to, id, body } = JSON.parse(text);
      void publisher.publish(to, `${id} ${JSON.stringify(body)}`);
    } else if (text.startsWith('{"type":"event"')) void forward(user, text);
  });
  await subscriber.subscribe(`d:${user}`);
  void publisher.publish(`u:${user}`, JSON.stringify({ type: 'device_status', deviceId: user, status: 'online' }));
  await attend?.(user, socket);
  socket.send('{"type":"ready"}');
};

new WebSocketServer({ server, perMessageDeflate: false, clientTracking: false }).on('connection', (socket, request) => {
  socket.on('error', () => undefined);
  const user = request.url.slice(request.url.indexOf('=') + 1);
  void (request.url.startsWith('/app') ? onApp : onDaemon)(socket, user);
});
server.listen(0, '127.0.0.1', 4096, () => console.log(`listening on ${server.address().port}`));
process.on('SIGTERM', () => process.exit(0));
