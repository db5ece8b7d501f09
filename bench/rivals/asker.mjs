// An instance of the relay that only sends requests: the relay's backplane, its command and its check of the reply,
// without HTTP.
// USERS maps a number to its device and session.
import { createServer } from 'node:http';
import { createRedisBackplane } from '@relay/backplane';
import { decodeReply } from '@relay/protocol';
import { serveAsking } from './asking.mjs';

const backplane = await createRedisBackplane({ url: process.env.REDIS_URL, name: 'asker' });
let people = [];

const ask = async (user, n) => {
  const { deviceId, nativeId } = people[user];
  const command = JSON.stringify({ v: 1, kind: 'history', sessionId: nativeId, limit: 50, before: `before-${n}` });
  const reply = decodeReply(await backplane.request(deviceId, command, 10_000));
  if (reply?.kind !== 'page') throw new Error(`answered ${JSON.stringify(reply)}`);
  return reply;
};

const server = createServer(async (request, response) => {
  if (request.method === 'PUT') {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    people = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    response.end();
  } else if (!serveAsking(request, response, ask)) response.writeHead(404).end();
});
server.listen(0, '127.0.0.1', () => console.log(`listening on ${server.address().port}`));
process.on('SIGTERM', () => process.exit(0));
