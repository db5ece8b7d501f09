import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, get, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { lines } from './lines.ts';

describe('a line of the log', () => {
  it('is one JSON object with level, time, name, instance and message', () => {
    const { log, text, last } = lines();
    log.info({ deviceId: 'dev-1', count: 3, ok: true, nothing: null }, 'connected %s', 'now');
    expect(text()).toMatch(/^\{.*\}\n$/);
    expect(last()).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      name: 'api',
      instance: 'api-1',
      deviceId: 'dev-1',
      count: 3,
      ok: true,
      nothing: null,
      msg: 'connected now',
    });
  });

  it('is left out below the level', () => {
    const { log, text } = lines();
    log.debug('quiet');
    expect(text()).toBe('');
  });

  it('carries the fields of a child and of its child', () => {
    const { log, last } = lines();
    log.child({ deviceId: 'dev-1' }).child({ fence: 7 }).warn('hello');
    expect(last()).toMatchObject({ level: 'warn', deviceId: 'dev-1', fence: 7, msg: 'hello' });
  });

  it('shows an error with its type, message, stack, code and causes', () => {
    const { log, last } = lines();
    const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED', query: 'select private' });
    log.error({ err: new TypeError('no database', { cause }) }, 'failed');
    expect(last()).toMatchObject({
      msg: 'failed',
      err: {
        type: 'TypeError',
        message: 'no database',
        stack: expect.stringContaining('logger.test'),
        cause: { type: 'Error', message: 'refused', code: 'ECONNREFUSED' },
      },
    });
    expect(JSON.stringify(last())).not.toContain('select private');
  });

  it('takes an error alone, its message and all', () => {
    const { log, last } = lines();
    log.error(new Error('alone'));
    expect(last()).toMatchObject({ msg: 'alone', err: { message: 'alone' } });
    log.error({ err: new Error('in a field') });
    expect(last()).toMatchObject({ msg: 'in a field', err: { message: 'in a field' } });
  });

  it('shows errors that Node made', () => {
    const { log, last } = lines();
    try {
      readFileSync('/does/not/exist');
    } catch (err) {
      log.error({ err }, 'failed');
    }
    expect(last()).toMatchObject({ err: { type: 'Error', code: 'ENOENT' } });
  });

  it('shows several errors at once', () => {
    const { log, last } = lines();
    log.error(new AggregateError([new Error('one'), new Error('two'), 'three'], 'both'));
    expect(last()).toMatchObject({ err: { message: 'both', errors: [{ message: 'one' }, { message: 'two' }] } });
  });

  it('does not change its arguments', () => {
    const { log } = lines();
    const fields = { token: 'abc', nested: { content: 'hello' } };
    log.info(fields, 'x');
    expect(fields).toEqual({ token: 'abc', nested: { content: 'hello' } });
  });

  it('survives every kind of value', () => {
    const { log, last } = lines();
    class Socket {
      readonly inner = 'x';
    }
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    const fields = {
      big: 12n,
      date: new Date(0),
      noDate: new Date(Number.NaN),
      bytes: Buffer.from('secret bytes'),
      map: new Map([['a', 1]]),
      set: new Set([1, 2]),
      socket: new Socket(),
      href: new URL('https://a:b@example.com/?token=abc'),
      fn: () => 1,
      symbol: Symbol('x'),
      notNumber: Number.NaN,
      circle,
      bare: Object.assign(Object.create(null) as object, { a: 1 }),
      get broken(): string {
        throw new Error('no');
      },
      throwing: {
        toJSON() {
          throw new Error('no');
        },
      },
    };
    log.info(fields, 'everything');
    expect(last()).toMatchObject({
      big: '12',
      date: '1970-01-01T00:00:00.000Z',
      noDate: 'Invalid Date',
      bytes: '[12 bytes]',
      map: '[1 entries]',
      set: '[2 entries]',
      socket: '[Socket]',
      href: 'https://[redacted]@example.com/?token=[redacted]',
      bare: { a: 1 },
      broken: '[unreadable]',
      msg: 'everything',
    });
    expect(JSON.stringify(last()['circle'])).toContain('[too deep]');
  });

  it('has a bounded size', () => {
    const { log, text } = lines();
    const wide = (depth: number): unknown =>
      depth === 0
        ? 'x'.repeat(100)
        : Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`k${i}`, wide(depth - 1)]));
    log.info(
      { wide: wide(3), long: 'y'.repeat(1_000_000), ['n'.repeat(100_000)]: 1, list: Array(10_000).fill('z') },
      'big',
    );
    expect(text().length).toBeLessThan(200_000);
    log.info('m'.repeat(1_000_000));
    log.info('%s', 'm'.repeat(1_000_000));
    expect(text().length).toBeLessThan(220_000);
  });
});

describe('a request', () => {
  /** Sends a real request and passes the server's request to `use` while the connection is open. */
  async function received(path: string, headers: Record<string, string>, use: (request: IncomingMessage) => void) {
    const server = createServer((request, response) => {
      use(request);
      response.end();
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    await new Promise<void>((done, failed) => {
      const sent = get({ port, host: '127.0.0.1', path, headers, agent: false }, (response) => {
        response.resume().once('end', done);
      });
      sent.once('error', failed);
    });
    await new Promise((done) => server.close(done));
  }

  it('shows only its harmless parts', async () => {
    const { log, last, text } = lines();
    const path = '/ws/attention?ticket=t1&since=&access_token=t2';
    const headers = {
      authorization: 'Bearer t3',
      cookie: 'sid=t4',
      'sec-websocket-protocol': 'relay.v1, bearer.t5',
      'x-api-key': 't6',
      'x-anything': 't7',
      'x-device-id': 'dev-1',
      'user-agent': 'curl/8',
    };
    const seen: Record<string, unknown>[] = [];
    await received(path, headers, (req) => {
      log.info({ req }, 'upgrade');
      seen.push(last());
      log.info(req, 'alone');
      seen.push(last());
      log.info({ headers: req.headers, rawHeaders: req.rawHeaders }, 'headers alone');
    });
    expect(seen[0]?.['req']).toEqual({
      method: 'GET',
      url: '/ws/attention?ticket=[redacted]&since=&access_token=[redacted]',
      remoteAddress: '127.0.0.1',
      headers: { host: expect.any(String), 'x-device-id': 'dev-1', 'user-agent': 'curl/8' },
    });
    expect(seen[1]).toMatchObject({ req: seen[0]?.['req'], msg: 'alone' });
    for (let i = 1; i <= 6; i += 1) expect(text()).not.toContain(`t${i}`);
  });
});
