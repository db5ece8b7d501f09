import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { openDatabase } from '../src/open.ts';
import { isUnavailable } from '../src/unavailable.ts';
import { onPostgres } from './databases.ts';

/** The last message of a server before it closes a connection (PostgreSQL, Message Formats: ErrorResponse). */
function goodbye(): Buffer {
  const fields = ['SFATAL', 'VFATAL', 'C57P01', 'Mterminating connection due to administrator command', ''];
  const body = Buffer.from(fields.map((field) => `${field}\0`).join(''), 'latin1');
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

onPostgres('a server that ends a connection in the moment in which it has answered', (postgres) => {
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  /** A wire that adds the goodbye to the answer with this text, in the same packet, and then closes the connection. */
  const wire = async (port: number, text: string): Promise<number> => {
    const sockets: Socket[] = [];
    const server = createServer((near) => {
      const far = connect(port, '127.0.0.1');
      sockets.push(near, far);
      for (const socket of [near, far]) socket.on('error', () => {});
      near.pipe(far);
      far.on('data', (chunk: Buffer) => {
        if (chunk.includes(text)) near.end(Buffer.concat([chunk, goodbye()]));
        else near.write(chunk);
      });
      far.on('end', () => near.end());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ends.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  };

  it('fails the next caller that gets the connection, and no other', async () => {
    const url = new URL(await postgres().createDatabase());
    url.port = String(await wire(Number(url.port), 'the last words'));
    const database = await openDatabase({ url: url.href, poolSize: 1 });
    ends.push(() => database.close());
    const answered = database.sql.query`SELECT 'the last ' || 'words' AS said`;
    const next = database.sql.transaction((tx) => tx.sql.query`SELECT 1`).catch((error: unknown) => error);
    expect(await answered).toEqual([{ said: 'the last words' }]);
    expect(isUnavailable(await next)).toBe(true);
    expect(await database.sql.transaction((tx) => tx.sql.query`SELECT 2 AS two`)).toEqual([{ two: 2 }]);
  });
});
