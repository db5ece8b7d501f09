/**
 * An issuer for one machine: a key in a folder, and tokens signed with it. For trying the relay out until there is a sign-in.
 * A reader of the file can sign in as anyone, so it belongs in the data folder, readable by its owner alone.
 */
import {
  type JsonWebKey,
  type KeyObject,
  randomUUID,
  generateKeyPairSync,
  createPublicKey,
  createPrivateKey,
} from 'node:crypto';
import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import jwt from 'jsonwebtoken';
import type { IssuerConfig, Jwk } from './issuer-config.ts';
import { type Scope, ordinaryScopes } from './principal.ts';

/** The claim `iss` of its tokens; no address, because nothing is ever fetched from it. */
const devIssuer = 'urn:relay:dev';
const defaultAudience = 'http://localhost:4000/api';
const defaultLifetimeSeconds = 12 * 60 * 60;

interface DevClaims {
  /** Absent: `dev`. */
  readonly sub?: string;
  /** Absent: the four of ordinary programs. */
  readonly scopes?: readonly Scope[];
  /** Absent: twelve hours. */
  readonly expiresInSeconds?: number;
  readonly email?: string;
  readonly name?: string;
}

export interface DevIssuer {
  /** Input for `createJwtVerifier`: public key only. */
  readonly config: IssuerConfig;
  /** A signed access token (ES256). */
  sign(claims?: DevClaims): string;
}

interface Stored {
  readonly issuer: string;
  readonly audience: string;
  readonly kid: string;
  readonly privateKey: JsonWebKey;
}

/** Where the key of a folder is. */
export function devIssuerFile(dir: string): string {
  return join(dir, 'dev-issuer.json');
}

function hasCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code;
}

function writeBeside(file: string, stored: Stored): string {
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, `${JSON.stringify(stored, null, 2)}\n`, { mode: 0o600, flag: 'wx', flush: true });
  return draft;
}

/** Appears whole or not at all; if another process was first, its key stays. */
function create(file: string, stored: Stored): void {
  const draft = writeBeside(file, stored);
  try {
    linkSync(draft, file);
  } catch (error) {
    // Some file systems lack hard links; there the last writer wins.
    if (!hasCode(error, 'EEXIST')) renameSync(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
}

function newKey(audience: string): Stored {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { issuer: devIssuer, audience, kid: randomUUID(), privateKey: privateKey.export({ format: 'jwk' }) };
}

function read(file: string): { stored: Stored; key: KeyObject } {
  try {
    const stored = JSON.parse(readFileSync(file, 'utf8')) as Stored;
    const key = createPrivateKey({ key: stored.privateKey, format: 'jwk' });
    const usable = [stored.issuer, stored.audience, stored.kid].every(
      (text) => typeof text === 'string' && text !== '',
    );
    if (!usable || key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') throw new Error('a part is missing');
    return { stored, key };
  } catch (error) {
    throw new Error(`${file} is not a usable key of the development issuer. Delete it to get a new one.`, {
      cause: error,
    });
  }
}

/**
 * The development issuer of a data folder. Creates its key on first use (file mode 600, and folder mode 700 for a new
 * folder). Stores issuer and audience beside the key, so that another program can sign with the folder alone.
 *
 * @param options.audience the audience of its tokens, `$PUBLIC_URL/api`. Absent: the stored audience, at first
 * `http://localhost:4000/api`. A different audience replaces the stored one.
 * @throws Error that names the file if it is unusable; file system errors unchanged
 */
export function openDevIssuer(dir: string, options: { readonly audience?: string } = {}): DevIssuer {
  const file = devIssuerFile(dir);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  if (!existsSync(file)) create(file, newKey(options.audience ?? defaultAudience));
  // A copy or a backup might have loosened its mode.
  chmodSync(file, 0o600);
  const { stored, key } = read(file);
  const { issuer, kid } = stored;
  const audience = options.audience ?? stored.audience;
  if (audience !== stored.audience) renameSync(writeBeside(file, { ...stored, audience }), file);

  const publicKey: Jwk = { ...createPublicKey(key).export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' };
  return {
    config: { issuer, audience, algorithms: ['ES256'], keys: [publicKey] },
    sign({ sub = 'dev', scopes = ordinaryScopes, expiresInSeconds = defaultLifetimeSeconds, email, name } = {}) {
      const claims = { scope: scopes.join(' '), ...(email ? { email } : {}), ...(name ? { name } : {}) };
      return jwt.sign(claims, key, {
        algorithm: 'ES256',
        issuer,
        audience,
        subject: sub,
        keyid: kid,
        jwtid: randomUUID(),
        expiresIn: expiresInSeconds,
        header: { alg: 'ES256', typ: 'at+jwt' },
      });
    },
  };
}
