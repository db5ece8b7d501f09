// The same relay on Socket.IO and its Redis adapter, following its documentation: one room per user and one per device,
// events to rooms, requests as acknowledgements. It checks nothing.
import { createServer } from 'node:http';
import { createAdapter } from '@socket.io/redis-adapter';
import { Server } from 'socket.io';
import { serveAsking } from './asking.mjs';
import { connectRedis } from './ioredis.mjs';

const publisher = connectRedis(process.env.REDIS_URL);
const subscriber = publisher.duplicate();
const server = createServer();
const io = new Server(server, {
  adapter: createAdapter(publisher, subscriber),
  transports: ['websocket'],
  perMessageDeflate: false,
  serveClient: false,
});

const ask = async (user, n) => {
  const [answer] = await io
    .to(`device:${user}`)
    .timeout(10_000)
    .emitWithAck('ask', { before: String(n) });
  return answer;
};

server.on('request', (request, response) => {
  if (serveAsking(request, response, ask)) return;
  const url = new URL(request.url, 'http://socketio');
  if (url.pathname !== '/ask') return;
  void ask(url.searchParams.get('user'), url.searchParams.get('before')).then((body) => {
    const text = JSON.stringify(body);
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
    response.end(text);
  });
});

io.on('connection', (socket) => {
  const { role, user } = socket.handshake.auth;
  if (role === 'app') {
    void socket.join(`user:${user}`);
  } else {
    void socket.join(`device:${user}`);
    io.to(`user:${user}`).emit('device_status', { deviceId: user, status: 'online' });
    socket.on('event', (event) => io.to(`user:${user}`).emit('event', event));
    socket.on('status', () => undefined);
    socket.on('report_sessions', () => undefined);
  }
  socket.emit('ready');
});
server.listen(0, '127.0.0.1', 4096, () => console.log(`listening on ${server.address().port}`));
process.on('SIGTERM', () => process.exit(0));
