import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type UserPrincipal, type DevIssuer, createJwtVerifier, devIssuerFile, openDevIssuer } from '../src/index.ts';
import { outcome } from './issuer.ts';

let folder: string;
let dir: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'relay-dev-issuer-'));
  dir = join(folder, 'data');
});

afterEach(() => rm(folder, { recursive: true }));

const accepted = (issuer: DevIssuer, token: string): Promise<UserPrincipal> =>
  createJwtVerifier({ issuers: [issuer.config] }).verify(token);

describe('the development issuer', () => {
  it('signs tokens that the verifier accepts', async () => {
    const issuer = openDevIssuer(dir);
    expect(await accepted(issuer, issuer.sign())).toMatchObject({
      userId: 'urn:relay:dev|dev',
      scopes: new Set(['sessions:read', 'sessions:write', 'devices:read', 'devices:write']),
    });
    const claims = { sub: 'alice', scopes: ['devices:read'], email: 'a@example.com', name: 'Alice' } as const;
    expect(await accepted(issuer, issuer.sign(claims))).toMatchObject({
      subject: 'alice',
      scopes: new Set(['devices:read']),
      email: 'a@example.com',
      name: 'Alice',
    });
  });

  it('signs for the requested time', async () => {
    const issuer = openDevIssuer(dir);
    const principal = await accepted(issuer, issuer.sign({ expiresInSeconds: 60 }));
    expect(principal.expiresAt - principal.issuedAt).toBe(60_000);
    expect(await outcome(accepted(issuer, issuer.sign({ expiresInSeconds: -60 })))).toBe('TOKEN_EXPIRED');
  });

  it('keeps its key, for its owner alone', async () => {
    const first = openDevIssuer(dir);
    const again = openDevIssuer(dir);
    expect(again.config).toEqual(first.config);
    expect(await outcome(accepted(again, first.sign()))).toBe('accepted');
    expect((await stat(dir)).mode & 0o777).toBe(0o700);
    expect((await stat(devIssuerFile(dir))).mode & 0o777).toBe(0o600);
    expect(await readdir(dir)).toEqual(['dev-issuer.json']);
  });

  it('closes a world-readable file', async () => {
    openDevIssuer(dir);
    await chmod(devIssuerFile(dir), 0o644);
    openDevIssuer(dir);
    expect((await stat(devIssuerFile(dir))).mode & 0o777).toBe(0o600);
  });

  it('shows only the public half', () => {
    expect(JSON.stringify(openDevIssuer(dir).config)).not.toContain('"d"');
  });

  it('is another one in another folder', async () => {
    const token = openDevIssuer(dir).sign();
    expect(await outcome(accepted(openDevIssuer(join(folder, 'other')), token))).toBe('INVALID_TOKEN');
  });

  it('keeps its audience, so that other programs can omit it', () => {
    expect(openDevIssuer(dir).config.audience).toBe('http://localhost:4000/api');
    const key = openDevIssuer(dir).config.keys;
    expect(openDevIssuer(dir, { audience: 'https://relay.example.com/api' }).config.audience).toBe(
      'https://relay.example.com/api',
    );
    expect(openDevIssuer(dir).config).toMatchObject({ audience: 'https://relay.example.com/api', keys: key });
  });

  it.each(['', '{', '{}', 'null', '{"issuer":"a","audience":"b","kid":"c","privateKey":{"kty":"oct","k":"AA"}}'])(
    'names the file when it cannot be used: %j',
    async (text) => {
      openDevIssuer(dir);
      await writeFile(devIssuerFile(dir), text);
      expect(() => openDevIssuer(dir)).toThrow(`${devIssuerFile(dir)} is not a usable key`);
      expect(await readFile(devIssuerFile(dir), 'utf8')).toBe(text);
    },
  );

  it('is the same for processes that start together', async () => {
    const runs = await Promise.all(Array.from({ length: 4 }, () => run('--create', '--json')));
    const issuer = openDevIssuer(dir);
    for (const { stdout } of runs) {
      const { token } = JSON.parse(stdout) as { token: string };
      expect(await outcome(accepted(issuer, token))).toBe('accepted');
    }
    expect(await readdir(dir)).toEqual(['dev-issuer.json']);
  });
});

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const script = fileURLToPath(new URL('../../../scripts/dev-token.mjs', import.meta.url));

/** The script as a person runs it, on the folder of the test. */
function run(...args: string[]): Promise<Run> {
  return new Promise((resolve) => {
    execFile(process.execPath, [script, '--data-dir', dir, ...args], (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
    });
  });
}

describe('npm run dev:token', () => {
  it('prints a token and nothing else', async () => {
    const issuer = openDevIssuer(dir);
    const { code, stdout, stderr } = await run('--user', 'alice', '--hours', '0.5', '--scopes', 'sessions:read');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    const principal = await accepted(issuer, stdout.trim());
    expect(principal).toMatchObject({ subject: 'alice', scopes: new Set(['sessions:read']) });
    expect(principal.expiresAt - principal.issuedAt).toBe(1_800_000);
  });

  it('gives advice when the relay was never started, and creates nothing', async () => {
    const { code, stdout, stderr } = await run();
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('Start the relay with AUTH_DEV_ISSUER=on first');
    expect(await readdir(folder)).toEqual([]);
  });

  it.each([
    ['--hours', '0', /--hours is "0"/],
    ['--hours', 'soon', /--hours is "soon"/],
    ['--scopes', 'admin', /--scopes has "admin"; known are sessions:read/],
    ['--user', '', /--user must be 1 to 255 characters/],
    ['--sub', 'x', /Unknown option '--sub'[^]*Usage:/],
  ])('refuses %s %j with a reason', async (option, value, expected) => {
    openDevIssuer(dir);
    const { code, stdout, stderr } = await run(option, value);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(expected);
  });

  it('explains itself', async () => {
    expect((await run('--help')).stdout).toMatch(/^Usage: npm run --silent dev:token/);
  });
});
