// The cost of forwarding a frame without a relay: every frame from /daemon goes to every /app, unread.
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';

const apps = new Set();
const server = createServer();
new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (socket, request) => {
  if (request.url === '/app') {
    apps.add(socket);
    socket.on('close', () => apps.delete(socket));
    return;
  }
  socket.on('message', (data) => {
    const text = data.toString();
    for (const app of apps) app.send(text);
  });
});
server.listen(0, '127.0.0.1', () => console.log(`listening on ${server.address().port}`));
process.on('SIGTERM', () => process.exit(0));
