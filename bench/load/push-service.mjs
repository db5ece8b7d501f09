// A push service of browsers, as a process of its own: takes everything, and keeps when each person was first reached.
import { createServer } from 'node:http';

let count = 0;
let first = new Map();

const server = createServer((request, response) => {
  request.resume();
  request.once('end', () => {
    count += 1;
    if (!first.has(request.url)) first.set(request.url, Date.now());
    response.writeHead(201).end();
  });
});
const calls = {
  /** The number of requests since the last time. */
  count: () => count,
  /** When each path was first asked for; begins again. */
  take: () => {
    const taken = [...first];
    first = new Map();
    count = 0;
    return taken;
  },
};

process.on('message', ({ id, what, args }) => {
  try {
    process.send({ id, result: calls[what](args) });
  } catch (error) {
    process.send({ id, error: String(error?.stack ?? error) });
  }
});
process.on('disconnect', () => process.exit(0));
server.listen(0, '127.0.0.1', () => console.log(`listening on ${server.address().port}`));
