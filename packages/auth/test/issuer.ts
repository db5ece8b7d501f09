/** A sign-in service for tests: real keys, a real HTTP server on loopback, and a clock that the test moves. */
import { type KeyObject, generateKeyPairSync, randomUUID } from 'node:crypto';
import { type Server, type RequestListener, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import jwt from 'jsonwebtoken';
import { type Jwk, AuthError } from '../src/index.ts';

export const audience = 'https://relay.example.com/api';
export const startMs = 1_800_000_000_000;

export interface TestClock {
  (): number;
  advance(ms: number): void;
}

export function testClock(nowMs = startMs): TestClock {
  let now = nowMs;
  const clock = (): number => now;
  return Object.assign(clock, { advance: (ms: number) => void (now += ms) });
}

export interface TestKey {
  readonly kid: string;
  readonly algorithm: 'ES256' | 'RS256' | 'PS256';
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly jwk: Jwk;
}

export function testKey(algorithm: TestKey['algorithm'] = 'ES256', kid: string = randomUUID()): TestKey {
  const { privateKey, publicKey } =
    algorithm === 'ES256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { kid, algorithm, privateKey, publicKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig' } };
}

/** A valid token of `key`; claims and header override its defaults, and undefined removes them. */
export function tokenOf(
  key: TestKey,
  issuer: string,
  claims: Record<string, unknown> = {},
  header: Record<string, unknown> = {},
): string {
  const start = startMs / 1000;
  const payload = { iss: issuer, aud: audience, sub: 'alice', iat: start, exp: start + 600, ...claims };
  const given = Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== undefined));
  return jwt.sign(given, key.privateKey, {
    algorithm: key.algorithm,
    // Prevents the library from adding the time of the real clock.
    noTimestamp: given['iat'] === undefined,
    header: { alg: key.algorithm, typ: 'at+jwt', kid: key.kid, ...header },
  });
}

export interface TestServer {
  readonly origin: string;
  /** The number of requests per path. */
  readonly asked: Map<string, number>;
  /** Answers by path; everything else is 404. A text or an object is a 200. */
  readonly answers: Map<string, unknown>;
  stop(): Promise<void>;
  startAgain(): Promise<void>;
}

/** `answers` can hold a `RequestListener` for misbehaving answers. */
export async function testServer(): Promise<TestServer> {
  const asked = new Map<string, number>();
  const answers = new Map<string, unknown>();
  const listener: RequestListener = (request, response) => {
    const path = request.url ?? '';
    asked.set(path, (asked.get(path) ?? 0) + 1);
    const answer = answers.get(path);
    if (typeof answer === 'function') return void (answer as RequestListener)(request, response);
    response.statusCode = answer === undefined ? 404 : 200;
    response.setHeader('content-type', 'application/json');
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer ?? {}));
  };
  let server: Server;
  const listen = async (port: number): Promise<number> => {
    server = createServer(listener);
    await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
    return (server.address() as AddressInfo).port;
  };
  const port = await listen(0);
  return {
    origin: `http://127.0.0.1:${port}`,
    asked,
    answers,
    async stop() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
    async startAgain() {
      await listen(port);
    },
  };
}

/** The error code of `promise`, or `accepted`; anything but an AuthError is a bug. */
export async function outcome(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'accepted';
  } catch (error) {
    if (error instanceof AuthError) return error.code;
    throw error;
  }
}

export async function refusal(promise: Promise<unknown>): Promise<AuthError> {
  return promise.then(
    () => {
      throw new Error('it was accepted');
    },
    (error: unknown) => {
      if (error instanceof AuthError) return error;
      throw error;
    },
  );
}
