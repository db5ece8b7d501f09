// Answers every request with the same body, serialised each time: by `node:http`, or by express, with a limiter if there
// is a REDIS_URL. With a DATABASE_URL it looks the token up and reads the body from PostgreSQL as JSON in one statement.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { bareExpress } from './limited.mjs';
import { authenticated } from './needs.mjs';

const body = JSON.parse(process.env.BODY);

/** Reads the newest sessions of `owner` as one JSON text in a named statement: one row, nothing to assemble. */
function listOf(owner) {
  const { Pool } = createRequire(new URL('../../packages/database/package.json', import.meta.url))('pg');
  const pool = new Pool({ connectionString: process.env.DATABASE_URL, application_name: 'floor' });
  const text = `SELECT json_build_object('sessions', json_agg(row_to_json(s)), 'hasMore', false)::text AS list
    FROM (SELECT native_id, title, status, agent_type, device_id, project_path, created_at, updated_at, message_count,
      last_message, archived, watched, notify, news_at, read_at, progress FROM sessions WHERE owner_id = $1
      ORDER BY updated_at DESC, key DESC LIMIT 100) s`;
  return async () => (await pool.query({ name: 'list', text, values: [owner] })).rows[0].list;
}

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
  if (process.env.DATABASE_URL !== undefined) {
    const list = listOf(process.env.OWNER);
    app.use(authenticated());
    app.get('/api/sessions', (_, response, next) => {
      list().then((text) => response.type('json').send(text), next);
    });
    return app;
  }
  app.get('/api/sessions', (_, response) => response.json(body));
  return app;
}

const server = createServer(handler());
server.listen(0, '127.0.0.1', () => console.log(`listening on ${server.address().port}`));
process.on('SIGTERM', () => process.exit(0));
