// Answers every request with the same body, serialised each time: by `node:http`, or by express, with a limiter if there is a REDIS_URL.
import { createServer } from 'node:http';
import { bareExpress } from './limited.mjs';

const body = JSON.parse(process.env.BODY);

function handler() {
  if (process.env.HOW === 'http')
    return (_, response) => {
      const text = JSON.stringify(body);
      response.writeHead(200, {
        'Content-Type': 'application/json; charset=utf-8',
        'Content-Length': Buffer.byteLength(text),
      });
      response.end(text);
    };
  const app = bareExpress(process.env.REDIS_URL);
  app.get('/api/sessions', (_, response) => response.json(body));
  return app;
}

const server = createServer(handler());
server.listen(0, '127.0.0.1', () => console.log(`listening on ${server.address().port}`));
process.on('SIGTERM', () => process.exit(0));
