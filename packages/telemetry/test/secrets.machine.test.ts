import { describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { maskSecrets } from '../src/index.ts';
import { lines } from './lines.ts';

/** A secret that nothing else in a line can contain by accident. */
const secret = fc.stringMatching(/^S3cr3t[a-z]{20}$/);
const part = fc.stringMatching(/^[A-Za-z0-9_-]{10,40}$/);

/** Tokens of devices, keys, ACP clients and people. */
const relayToken = fc.stringMatching(/^rly_(?:drt|key|acp|urt)_[A-Za-z0-9_-]{43}[0-9A-Za-z]{6}$/);
const jwt = fc.tuple(part, part).map(([kid, sub]) => {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const input = `${encode({ alg: 'ES256', kid })}.${encode({ sub, exp: 1 })}`;
  return `${input}.${createHmac('sha256', kid).update(input).digest('base64url')}`;
});
const recognisable = fc.oneof(relayToken, jwt);

const secretName = fc.constantFrom(
  'authorization',
  'Authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'sec-websocket-protocol',
  'Sec-WebSocket-Protocol',
  'token',
  'refresh_token',
  'refreshToken',
  'access_token',
  'accessToken',
  'id_token',
  'device_code',
  'deviceCode',
  'user_code',
  'userCode',
  'ticket',
  'password',
  'secret',
  'clientSecret',
  'AUTH_SECRET',
  'x-api-key',
  'privateKey',
  'DATABASE_URL',
  'redisUrl',
  'tokenHash',
  'code_verifier',
  'credentials',
);
const spokenName = fc.constantFrom(
  'content',
  'message',
  'instruction',
  'output',
  'result',
  'prompt',
  'lastMessage',
  'last_message',
);

/** `leaf` somewhere inside objects and lists, at most as deep as is logged. */
function buried(leaf: unknown, path: readonly (string | number)[]): unknown {
  return path.reduceRight<unknown>(
    (inner, step) => (typeof step === 'number' ? [...Array<unknown>(step).fill('x'), inner] : { a: 1, [step]: inner }),
    leaf,
  );
}
const path = fc.array(fc.oneof(fc.constantFrom('body', 'frame', 'x'), fc.nat(3)), { maxLength: 7 });
const around = fc.tuple(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }));

describe('no credential reaches the log', () => {
  it('under the name of a credential, however deep, as a text, a list or an object', () => {
    fc.assert(
      fc.property(secretName, secret, path, fc.constantFrom('text', 'list', 'object'), (name, value, where, shape) => {
        const { log, text } = lines();
        const leaf = shape === 'text' ? value : shape === 'list' ? [value] : { anything: value };
        log.info({ top: buried({ [name]: leaf }, where) }, 'x');
        log.info({ [name]: leaf });
        log.child({ [name]: leaf }).info('x');
        log
          .child({ a: 1 })
          .child({ b: { [name]: leaf } })
          .info('x');
        log.info('%j and %o', { [name]: leaf }, { top: buried({ [name]: leaf }, where) });
        expect(text()).not.toContain(value);
        expect(text().split('\n')).toHaveLength(6);
      }),
      { numRuns: 300 },
    );
  });

  it('in any recognisable form, at any place in any context', () => {
    fc.assert(
      fc.property(recognisable, around, path, (token, [before, after], where) => {
        // Text glued to a token counts as a part of it.
        const written = `${before}${token} ${after}`;
        const { log, text, last } = lines();
        log.info(written);
        log.info('%s', written);
        log.info({ top: buried(written, where), [token]: 1 }, 'x');
        log.child({ where: written }).info('x');
        const error = new Error(written, { cause: new TypeError(written) });
        log.error(error);
        log.error({ err: error }, 'failed: %s', error.stack ?? '');
        expect(text()).not.toContain(token);
        // The signature alone, or a part of the random bits, would be as bad.
        expect(text()).not.toContain(token.slice(-30));
        expect(last()).toMatchObject({ level: 'error' });
      }),
      { numRuns: 300 },
    );
  });

  it('after a line break, a tab or a quote', () => {
    const token = `rly_drt_${'a'.repeat(49)}`;
    const jwtText = `eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhIn0.${'b'.repeat(86)}`;
    for (const glue of ['\n', '\t', '"', '\\', "'", 'x', '_', '.', '=', 'bearer.', '\u2028']) {
      const { log, text } = lines();
      log.info(`look:${glue}${token}${glue} and${glue}${jwtText}`);
      expect(text()).not.toContain('aaaa');
      expect(text()).not.toContain('bbbb');
    }
  });

  it('in truncated form', () => {
    const { log, text } = lines();
    const long = `eyJhbGciOiJFUzI1NiJ9.${'c'.repeat(9_000)}.dddd`;
    log.info({ long }, long);
    expect(text()).not.toContain('cccc');
  });

  it.each([
    ['Authorization: Bearer abcdefghijklmnopqrstuvwxyz', 'abcdefghijklmnop'],
    ['connecting to postgres://relay:hunter2@db/relay failed', 'hunter2'],
    ['redis://:hunter2@redis:6379', 'hunter2'],
    ['postgres://relay:hun@ter2@db/relay', 'ter2'],
    ['GET /x?ticket=hunter2 HTTP/1.1', 'hunter2'],
    ['GET /x?a=b&access_token=hunter2&c=d', 'hunter2'],
    ['GET /x?a=b%26token%3Dhunter2', 'hunter2'],
    ['https://a.example.com/cb?code=hunter2', 'hunter2'],
    ['https://a.example.com/device?user_code=hunter2', 'hunter2'],
    ['password=hunter2; user=relay', 'hunter2'],
    ['client_secret=hunter2', 'hunter2'],
    ['\ntoken=hunter2', 'hunter2'],
  ])('in a sentence: %j', (sentence, hidden) => {
    const { log, text } = lines();
    log.info(sentence);
    log.error(new Error(sentence));
    expect(text()).not.toContain(hidden);
  });

  it('nor texts of people and agents', () => {
    fc.assert(
      fc.property(spokenName, secret, path, (name, said, where) => {
        const { log, text } = lines();
        log.info({ frame: buried({ [name]: said }, where) }, 'x');
        log.info({ frame: buried({ messages: [{ uuid: 'u', role: 'USER', [name]: [said, said] }] }, where) }, 'x');
        log.child({ [name]: said }).info('x');
        expect(text()).not.toContain(said);
      }),
    );
  });
});

describe('the log still shows', () => {
  it('how long a text was, that there was a credential, and everything else', () => {
    const { log, last } = lines();
    const frame = { type: 'event', session_id: 's', event: { result: 'four', token: 'x', code: 'TASK_LOST' } };
    log.info({ frame, code: 'ECONNRESET', statusCode: 500, scopes: ['sessions:read'], auth: true }, 'x');
    expect(last()).toMatchObject({
      frame: {
        type: 'event',
        session_id: 's',
        event: { result: '[4 characters]', token: '[redacted]', code: 'TASK_LOST' },
      },
      code: 'ECONNRESET',
      statusCode: 500,
      scopes: ['sessions:read'],
      auth: true,
    });
  });

  it('sentences without a credential, unchanged', () => {
    for (const sentence of [
      'exitcode=1 statusCode=500 retry in 3 s',
      'the bearer of this is welcome',
      'token expired at 2026-01-01T00:00:00.000Z',
      'mail to someone@example.com about http://example.com/a@b',
      'they.are.eyeing.monkeys a.b.c 1.2.3 file.test.ts',
      'device dev-1 (codex) connected from 10.0.0.1:4000',
    ]) {
      expect(maskSecrets(sentence)).toBe(sentence);
    }
  });
});

const hostile = [
  'eyJ',
  'eyJ.',
  'rly_drt_',
  'rly_',
  '://',
  'token=',
  '://a@',
  'bearer ',
  'a',
  'code%3D',
  '?code=',
  'eyJa.eyJb.c',
];

describe('masking', () => {
  it('keeps JSON valid', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('token=', 'eyJ.', '://a:b@', 'rly_drt_', 'bearer ', '"', '\\', '\n', 'x'.repeat(20)),
    );
    const json = fc.array(text, { maxLength: 12 }).map((parts) => JSON.stringify({ [parts[0] ?? '']: parts.join('') }));
    fc.assert(
      fc.property(json, (line) => expect(() => JSON.parse(maskSecrets(line)) as unknown).not.toThrow()),
      {
        numRuns: 1_000,
      },
    );
  });

  it('is done once: a masked text stays as it is', () => {
    fc.assert(
      fc.property(fc.oneof(recognisable, fc.constant('password=x&token=y postgres://a:b@c')), (token) => {
        expect(maskSecrets(maskSecrets(token))).toBe(maskSecrets(token));
      }),
    );
  });

  it('takes time in proportion to the text, for any input', async () => {
    // Runs in another process, because a busy test process could not be stopped.
    const program = `
      const { maskSecrets } = await import('@relay/telemetry');
      for (const piece of ${JSON.stringify(hostile)}) maskSecrets(piece.repeat(Math.ceil(2_000_000 / piece.length)));
      console.log('done');`;
    const cwd = fileURLToPath(new URL('..', import.meta.url));
    const args = ['--input-type=module', '--eval', program];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd, timeout: 15_000 });
    expect(stdout).toBe('done\n');
  });
});
