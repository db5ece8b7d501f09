import { describe, expect, it } from '@jest/globals';
import { type AddressInfo, type Socket, createServer } from 'node:net';
import { openDatabase } from '../src/open.ts';
import { isUnavailable } from '../src/unavailable.ts';
import { device, onPostgres } from './databases.ts';

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'it did not fail',
    (error: unknown) => error,
  );

describe('isUnavailable', () => {
  const away: [string, object][] = [
    ['Prisma cannot reach the server', { code: 'P1001' }],
    ['Prisma could not initialize', { errorCode: 'P1002' }],
    ['no connection was free', { code: 'P2024' }],
    ['a transaction could not start', { code: 'P2028', message: 'Unable to start a transaction in the given time.' }],
    ['a transaction did not end in its time', { code: 'P2028', message: 'Transaction already closed' }],
    ['the server ended a silent transaction', { code: '25P03' }],
    [
      'a statement of a model met the end of it',
      { code: 'P2010', message: 'Raw query failed. Code: `25P03`. Message: `…`' },
    ],
    ['a transaction of statements is undone', { code: 'TRANSACTION_FAILED' }],
    ['the server shuts down', { code: '57P01' }],
    ['a connection exception', { code: '08006' }],
    ['too many connections', { code: '53300' }],
    ['the database is read-only', { code: 'P2010', cause: { code: '25006' } }],
    ['a statement was cancelled', { code: '57014' }],
    ['the certificate of the server does not fit', { code: 'ERR_TLS_CERT_ALTNAME_INVALID' }],
    ['the adapter met a TLS error', { cause: { kind: 'TlsConnectionError', reason: 'x' } }],
    ['the socket was refused', { code: 'ECONNREFUSED' }],
    [
      'a raw query hides the reason',
      { code: 'P2010', meta: { driverAdapterError: { cause: { kind: 'ConnectionClosed' } } } },
    ],
    ['every address failed', { errors: [{ code: 'ECONNREFUSED' }, { code: 'ENETUNREACH' }] }],
    ['the reason is the cause of the cause', { cause: { cause: { code: 'ECONNRESET' } } }],
  ];
  it.each(away)('is true when %s', (_, error) => {
    expect(isUnavailable(Object.assign(new Error('message' in error ? String(error.message) : 'x'), error))).toBe(true);
  });

  const circular: { cause?: unknown } = {};
  circular.cause = circular;
  const ours: [string, unknown][] = [
    ['a constraint', { code: 'P2002' }],
    ['a value that cannot be stored', { code: '22021' }],
    ['a table that is not there', { code: '42P01' }],
    ['a number that looks like class 08', { code: '0800' }],
    ['an error that causes itself', circular],
    ['something that is no error', 'ECONNREFUSED'],
    ['nothing', undefined],
  ];
  it.each(ours)('is false for %s', (_, error) => {
    expect(isUnavailable(error)).toBe(false);
  });
});

onPostgres('an outage', (postgres) => {
  it('is recognised in every kind of call, and everything works again after the restart', async () => {
    const database = await openDatabase({ url: await postgres().createDatabase() });
    try {
      const calls = () => [
        database.models.device.count(),
        database.sql.query`SELECT 1`,
        database.sql.execute`DELETE FROM devices`,
        database.models.$transaction((tx) => tx.device.count()),
        database.models.$transaction([database.models.device.count()]),
      ];
      const interrupted = failure(database.sql.query`SELECT pg_sleep(600)::text`);
      const interruptedInTransaction = failure(
        database.models.$transaction((tx) => tx.$queryRaw`SELECT pg_sleep(601)::text`),
      );
      const sleeping = () => database.sql.query<object>`SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'`;
      while ((await sleeping()).length < 2);
      await postgres().halt();
      for (const error of [await interrupted, await interruptedInTransaction]) expect(isUnavailable(error)).toBe(true);
      for (const call of calls()) expect(isUnavailable(await failure(call))).toBe(true);
      expect(await database.health()).toMatchObject({ ok: false });
      await postgres().resume();
      await Promise.all(calls());
      await database.models.device.create({ data: device('after') });
      expect(await database.health()).toMatchObject({ ok: true });
    } finally {
      await database.close();
    }
  });

  it('covers a pool without a free connection', async () => {
    const database = await openDatabase({ url: await postgres().createDatabase(), poolSize: 1 });
    try {
      await database.models.$transaction(
        async (tx) => {
          await tx.device.count();
          const [single, transaction] = await Promise.all([
            failure(database.models.device.count()),
            failure(database.models.$transaction((other) => other.device.count(), { maxWait: 100 })),
          ]);
          expect(transaction).toMatchObject({ code: 'P2028' });
          for (const error of [single, transaction]) expect(isUnavailable(error)).toBe(true);
        },
        { timeout: 30_000 },
      );
    } finally {
      await database.close();
    }
  });

  it('covers a statement that takes too long', async () => {
    const database = await openDatabase({ url: await postgres().createDatabase(), statementTimeoutMs: 100 });
    try {
      const error = await failure(database.sql.query`SELECT pg_sleep(600)::text`);
      expect(error).toMatchObject({ code: '57014', message: expect.stringContaining('statement timeout') });
      expect(isUnavailable(error)).toBe(true);
    } finally {
      await database.close();
    }
  });

  it('at the start names the address it tried, without the password', async () => {
    const url = new URL(postgres().url('nowhere'));
    url.password = 'secret';
    const refused = await failure(openDatabase({ url: url.toString() }));
    expect(refused).toMatchObject({
      code: 'DATABASE_REFUSED',
      message: expect.stringContaining('database nowhere refuses'),
    });
    url.port = '1';
    const unreachable = await failure(openDatabase({ url: url.toString() }));
    expect(unreachable).toMatchObject({
      code: 'DATABASE_UNREACHABLE',
      message: expect.stringContaining('127.0.0.1:1,'),
    });
    expect(isUnavailable(unreachable)).toBe(true);
    for (const error of [refused, unreachable]) expect(String(error)).not.toContain('secret');
  });

  it('covers a server that accepts a connection at the start and does not answer', async () => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => void sockets.add(socket.on('error', () => {})));
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const error = await failure(openDatabase({ url: `postgresql://relay@127.0.0.1:${port}/relay` }));
      expect(error).toMatchObject({
        code: 'DATABASE_UNREACHABLE',
        message: expect.stringContaining('does not answer: timeout expired'),
      });
      expect(sockets.size).toBe(1);
    } finally {
      for (const socket of sockets) socket.destroy();
      server.close();
    }
  });
});
