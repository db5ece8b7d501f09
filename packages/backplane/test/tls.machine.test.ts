import { execFile } from 'node:child_process';
import { describeWith } from '@relay/testing/needs';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type TestRedis, freePort, startRedis } from '@relay/testing/redis';

const run = promisify(execFile);
const program = fileURLToPath(new URL('programs/own.mjs', import.meta.url));

describeWith(['redis-server', 'openssl'], 'a Redis that speaks TLS', () => {
  let folder: string;
  let certificate: string;
  let port: number;
  let redis: TestRedis;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'relay-tls-'));
    const key = join(folder, 'key.pem');
    certificate = join(folder, 'cert.pem');
    const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...names];
    await run('openssl', [...request, '-keyout', key, '-out', certificate]);
    port = await freePort();
    redis = await startRedis({
      password: 'secret',
      config: [
        ['tls-port', String(port)],
        ['tls-cert-file', certificate],
        ['tls-key-file', key],
        ['tls-auth-clients', 'no'],
      ],
    });
  });
  afterAll(async () => {
    await redis.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The output of a relay that trusts these certificates in addition to the system's. */
  const own = async (host: string, trusted: string | undefined): Promise<string> => {
    const env = { ...process.env, ...(trusted === undefined ? {} : { NODE_EXTRA_CA_CERTS: trusted }) };
    const url = `rediss://:secret@${host}:${port}`;
    return (await run(process.execPath, [program, url], { env, timeout: 60_000 })).stdout.trim();
  };

  it('is used when its certificate is trusted', async () => {
    expect(await own('localhost', certificate)).toMatch(/^fence \d+$/);
  });

  it('is not used when no authority vouches for it', async () => {
    expect(await own('localhost', undefined)).toMatch(/certificate/);
  });

  it('is not used under another name than its own', async () => {
    expect(await own('127.0.0.1', certificate)).toMatch(/certificate/);
  });
});
