// The databases that the schema engine can open: an embedded one, or one PostgreSQL connection. The shadow database,
// which replays migrations for a comparison, is always a new embedded one in memory, so it touches no real data.
import { PGlite } from '@electric-sql/pglite';
import { DriverAdapterError } from '@prisma/driver-adapter-utils';
import pg from 'pg';
import { parse } from 'pg-connection-string';
import { PrismaPGlite } from 'pglite-prisma-adapter';

function toAdapterError(error) {
  if (error instanceof DriverAdapterError) return error;
  const code = error.code ?? 'N/A';
  return new DriverAdapterError({
    kind: 'postgres',
    code,
    severity: error.severity ?? 'N/A',
    message: error.message,
    detail: error.detail,
    column: error.column,
    hint: error.hint,
    originalCode: code,
    originalMessage: error.message,
  });
}

/** Lets an adapter run a script in one piece. Its own method splits at every `;`, even inside a function body. */
function withScript(adapter, run) {
  adapter.executeScript = async (sql) => {
    try {
      await run(sql);
    } catch (error) {
      throw toAdapterError(error);
    }
  };
  return adapter;
}

async function connectToShadowDb() {
  const db = await PGlite.create();
  const adapter = await new PrismaPGlite(db).connect();
  adapter.dispose = () => db.close();
  return withScript(adapter, (sql) => db.exec(sql));
}

/** Uses an open PGlite. */
export function pgliteFactory(db) {
  return {
    provider: 'postgres',
    adapterName: 'pglite',
    connectToShadowDb,
    connect: async () => withScript(await new PrismaPGlite(db).connect(), (sql) => db.exec(sql)),
  };
}

/**
 * Uses one connection to PostgreSQL. @prisma/adapter-pg 7.10 cannot describe a live database (it does not know the type
 * "char"), so the PGlite adapter gets a PGlite-shaped view of the connection.
 */
export function pgFactory(url) {
  const address = new URL(url);
  const schemaName = address.searchParams.get('schema') ?? 'public';
  address.searchParams.delete('schema');
  const client = new pg.Client({
    ...parse(address.toString()),
    options: `-c search_path="${schemaName}" -c TimeZone=UTC`,
  });
  const connected = client.connect();
  connected.catch(() => {}); // the first query reports it
  const view = {
    async query(text, values, { parsers }) {
      await connected;
      const getTypeParser = (oid, format) => (format === 'text' && parsers[oid]) || pg.types.getTypeParser(oid, format);
      try {
        const result = await client.query({ text, values, rowMode: 'array', types: { getTypeParser } });
        return { rows: result.rows, fields: result.fields, affectedRows: result.rowCount };
      } catch (error) {
        throw toAdapterError(error);
      }
    },
  };
  return {
    provider: 'postgres',
    adapterName: 'pg',
    connectToShadowDb,
    connect: async () => {
      const adapter = await new PrismaPGlite(view).connect();
      adapter.getConnectionInfo = () => ({ schemaName, supportsRelationJoins: true });
      return withScript(adapter, async (sql) => {
        await connected;
        await client.query(sql);
      });
    },
  };
}
