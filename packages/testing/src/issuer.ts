/** A sign-in service for tests: a real HTTP server with a JWKS, and tokens signed with its key. */
import { generateKeyPairSync, randomUUID, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { IssuerConfig } from '@relay/auth';
import jwt from 'jsonwebtoken';

export interface TokenOptions {
  scopes?: readonly string[];
  expiresInSeconds?: number;
  audience?: string;
  email?: string;
  name?: string;
  /** How long ago it was issued; default not at all. */
  issuedSecondsAgo?: number;
  /** How long ago the person signed in, the claim `auth_time`; omitted by default. */
  signedInSecondsAgo?: number;
  /** The `sid` of the login. */
  login?: string;
  key?: KeyObject;
  algorithm?: jwt.Algorithm;
}

export interface TestIssuer {
  readonly config: IssuerConfig;
  /** An access token of this user with all scopes, good for an hour. */
  token(user: string, options?: TokenOptions): string;
  /** The id the relay knows this user by. */
  userId(user: string): string;
  /** Stops and starts serving the keys. */
  setDown(down: boolean): void;
  close(): Promise<void>;
}

const seconds = () => Math.floor(Date.now() / 1000);
const allScopes = ['sessions:read', 'sessions:write', 'devices:read', 'devices:write'];

export async function startIssuer(audience = 'http://relay.test/api'): Promise<TestIssuer> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const kid = randomUUID();
  const jwks = JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' }] });
  let down = false;
  const server = createServer((request, response) => {
    if (down || request.url !== '/jwks') {
      response.writeHead(down ? 503 : 404).end();
      return;
    }
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(jwks);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    config: { issuer, audience, jwksUri: `${issuer}/jwks` },
    token: (user, options = {}) =>
      jwt.sign(
        {
          scope: (options.scopes ?? allScopes).join(' '),
          ...(options.email === undefined ? {} : { email: options.email }),
          ...(options.name === undefined ? {} : { name: options.name }),
          ...(options.issuedSecondsAgo === undefined ? {} : { iat: seconds() - options.issuedSecondsAgo }),
          ...(options.signedInSecondsAgo === undefined ? {} : { auth_time: seconds() - options.signedInSecondsAgo }),
          ...(options.login === undefined ? {} : { sid: options.login }),
        },
        options.key ?? privateKey,
        {
          algorithm: options.algorithm ?? 'ES256',
          keyid: kid,
          issuer,
          audience: options.audience ?? audience,
          subject: user,
          expiresIn: options.expiresInSeconds ?? 3600,
          jwtid: randomUUID(),
        },
      ),
    userId: (user) => `${issuer}|${user}`,
    setDown: (value) => {
      down = value;
    },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
