/** The pages: their addresses, and the headers that a browser gets. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { send } from '@relay/testing';
import express, { type Request, type Response } from 'express';
import { mountWeb } from '../src/web.ts';

const index = `<meta name="relay-url" content="" /><script type="module" src="./assets/index-abc_-123.js"></script>`;

describe('the pages', () => {
  let directory: string;
  let server: Server;
  let url: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'relay-web-'));
    await mkdir(join(directory, 'assets'));
    await writeFile(join(directory, 'index.html'), index);
    await writeFile(join(directory, 'assets', 'index-abc_-123.js'), 'export const a = 1;');
    await writeFile(join(directory, 'assets', 'secret.env'), 'no');
    const app = express();
    mountWeb(app, { directory, publicUrl: 'https://relay.example/team' });
    app.use((_request: Request, response: Response) => void response.status(404).json({ code: 'NOT_FOUND' }));
    server = createServer((request, response) => void app(request, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.close();
    await rm(directory, { recursive: true, force: true });
  });

  const browse = (path: string) => send('GET', `${url}${path}`, { headers: { Accept: 'text/html,*/*;q=0.8' } });

  it.each(['/', '/setup', '/device?user_code=BCDF-GHJK', '/devices/new', '/sessions/a%3Ab%3Ac%2Fd'])(
    'are at %s',
    async (path) => {
      const { status, headers, text } = await browse(path);
      expect(status).toBe(200);
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      expect(headers['cache-control']).toBe('no-cache');
      expect(headers['content-security-policy']).toContain("default-src 'none'");
      expect(headers['content-security-policy']).toContain("connect-src 'self' wss://relay.example;");
      expect(headers['content-security-policy']).not.toContain('allow-duplicates');
      expect(text).toContain('content="https://relay.example/team"');
      expect(text).toContain('src="/team/assets/index-abc_-123.js"');
    },
  );

  it("S14: name the pages' single Trusted Types policy", async () => {
    const policy = (await browse('/')).headers['content-security-policy'] as string;
    const directives = policy.split('; ');
    expect(directives).toContain("require-trusted-types-for 'script'");
    expect(directives.filter((one) => one.startsWith('trusted-types'))).toEqual(['trusted-types relay-worker']);
  });

  it('have files that never change under their name', async () => {
    const { status, headers, text } = await send('GET', `${url}/assets/index-abc_-123.js`);
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(text).toBe('export const a = 1;');
  });

  it('of another release load the files of this one, which no cache keeps', async () => {
    const { status, headers, text } = await send('GET', `${url}/assets/index-zzzzzzzz.js`);
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(headers['cache-control']).toBe('no-store');
    expect(text).toBe('export const a = 1;');
    expect((await send('GET', `${url}/assets/other-zzzzzzzz.js`)).status).toBe(404);
  });

  it('are compressed for a client that accepts it', async () => {
    const answer = await fetch(`${url}/assets/index-abc_-123.js`, { headers: { 'Accept-Encoding': 'gzip' } });
    expect(answer.headers.get('content-encoding')).toBe('gzip');
    expect(answer.headers.get('vary')).toBe('Accept-Encoding');
    expect(await answer.text()).toBe('export const a = 1;');
  });

  it('show a browser that a page does not exist', async () => {
    const { status, headers } = await browse('/nothing/here');
    expect(status).toBe(404);
    expect(headers['content-type']).toContain('text/html');
    expect(headers['content-security-policy']).toContain("default-src 'none'");
  });

  it.each([
    '/api/nothing',
    '/auth/nothing',
    '/ws/nothing',
    '/assets/nothing.js',
    '/assets/secret.env',
    '/assets/..%2Findex.html',
  ])('leave %s to programs', async (path) => {
    const { status, body } = await browse(path);
    expect(status).toBe(404);
    expect(body.code).toBe('NOT_FOUND');
  });

  it('are not the answer for a program that asks for a missing resource', async () => {
    expect((await send('GET', `${url}/nothing`)).body.code).toBe('NOT_FOUND');
    expect((await send('POST', `${url}/devices`, { body: {} })).body.code).toBe('NOT_FOUND');
  });

  it('stop the start when they are not built', () => {
    const mount = () =>
      mountWeb(express(), { directory: join(directory, 'nowhere'), publicUrl: 'https://relay.example' });
    expect(mount).toThrow('npm run build');
  });
});
