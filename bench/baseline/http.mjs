// The cost of an answer without a relay: node:http, JSON.stringify, nothing else. Routes that ask a daemon are compared with
// `/ask`, which asks the peer connected by WebSocket and passes the answer on.
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';

let answer = {};
let peer;
let asking;
const read = async (request) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString('utf8')) : undefined;
};
const reply = (response, body) => {
  const text = JSON.stringify(body);
  response.writeHead(200, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  });
  response.end(text);
};

const server = createServer(async (request, response) => {
  const body = await read(request);
  if (request.method === 'PUT') {
    answer = body;
    response.writeHead(204).end();
  } else if (request.url === '/ask') {
    const said = new Promise((resolve) => (asking = resolve));
    peer.send(JSON.stringify({ type: 'get_messages', request_id: '1', session_id: 'x', limit: 50 }));
    reply(response, { ...answer, ...(await said) });
  } else {
    reply(response, answer);
  }
});
new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (socket) => {
  peer = socket;
  socket.on('message', (data) => asking(JSON.parse(data.toString())));
});
server.listen(0, '127.0.0.1', () => console.log(`listening on ${server.address().port}`));
process.on('SIGTERM', () => process.exit(0));
