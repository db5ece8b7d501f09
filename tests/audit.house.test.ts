/**
 * Promise: CI fails if and only if the registry knows a serious vulnerability of a package that we ship. A registry on
 * a real port.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('..', import.meta.url));
const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** Runs the audit against a registry with this answer. */
async function audit(answer: (response: ServerResponse) => void): Promise<{ code: number; text: string }> {
  const server = createServer((_request, response) => answer(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => server.close());
  const registry = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const env = { ...process.env, npm_config_registry: registry, npm_config_fetch_retries: '0' };
  const child = spawn(process.execPath, ['scripts/audit.mjs'], { cwd: root, env });
  let text = '';
  child.stdout.on('data', (part: Buffer) => (text += part.toString()));
  child.stderr.on('data', (part: Buffer) => (text += part.toString()));
  const [code] = (await once(child, 'close')) as [number];
  return { code, text };
}

const advisory = (severity: string) => (response: ServerResponse) =>
  response.end(
    JSON.stringify({
      express: [
        {
          id: 1,
          url: 'https://example.com',
          title: 'A hole',
          severity,
          vulnerable_versions: '>=0.0.1',
          cwe: [],
          cvss: { score: 9, vectorString: null },
        },
      ],
    }),
  );

describe('the audit of dependencies', () => {
  it('S15: runs in CI', async () => {
    expect(await readFile(`${root}/.ci/run`, 'utf8')).toMatch(/^step node scripts\/audit\.mjs$/m);
  });

  it.each(['high', 'critical'])('S15: fails for a %s vulnerability', async (severity) => {
    const { code, text } = await audit(advisory(severity));
    expect([code, text]).toEqual([1, expect.stringMatching(new RegExp(`${severity}: express`))]);
  });

  it.each([
    ['no vulnerability is known', (response: ServerResponse) => response.end('{}')],
    ['only a moderate one is known', advisory('moderate')],
    ['the registry offers no list', (response: ServerResponse) => response.writeHead(404).end('{}')],
    ['the registry fails', (response: ServerResponse) => response.writeHead(500).end('no JSON')],
  ])('S15: passes when %s', async (_name, answer) => {
    expect((await audit(answer)).code).toBe(0);
  });
});
