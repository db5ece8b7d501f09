/** The documents under `/docs`, as built: each page exists, and no link is broken. */
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { send } from '@relay/testing';
import express, { type Request, type Response } from 'express';
import { mountDocs } from '../src/docs.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const directory = join(root, 'apps/docs/dist');

/** Every address that a page links to, and its anchors. */
const addressesIn = (html: string) =>
  [...html.matchAll(/<(?:a|img|source|link|script)\b[^>]*?\s(?:href|src|srcset)="([^"]*)"/g)].map(([, to]) => to!);
const anchorsIn = (html: string) => new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id!));

describe('the documents', () => {
  let server: Server;
  let url: string;

  beforeAll(async () => {
    const app = express().set('etag', false);
    mountDocs(app, { directory, publicUrl: 'https://relay.example/team' });
    app.use((_request: Request, response: Response) => void response.status(404).json({ code: 'NOT_FOUND' }));
    server = createServer((request, response) => void app(request, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.close();
  });

  /** All pages that the links reach from the first page. */
  async function walk() {
    const pages = new Map<string, string>();
    const broken: string[] = [];
    const links: { from: string; to: URL }[] = [{ from: 'the start', to: new URL(`${url}/docs/`) }];
    const seen = new Map<string, number>();
    for (const { from, to } of links) {
      if (to.origin !== url) {
        if (!/^(https?|mailto):$/.test(to.protocol)) broken.push(`${from} → ${to.href}`);
        continue;
      }
      const address = to.pathname;
      if (!seen.has(address)) {
        const { status, headers, text } = await send('GET', to.origin + address);
        seen.set(address, status);
        if (headers['content-type']?.startsWith('text/html')) {
          pages.set(address, text);
          for (const link of addressesIn(text))
            links.push({ from: address, to: new URL(link.replaceAll('&amp;', '&'), to.origin + address) });
        }
      }
      if (seen.get(address) !== 200) broken.push(`${from} → ${address}`);
    }
    const anchors = new Map([...pages].map(([address, html]) => [address, anchorsIn(html)]));
    for (const { from, to } of links) {
      if (to.hash !== '' && anchors.get(to.pathname)?.has(decodeURIComponent(to.hash.slice(1))) === false)
        broken.push(`${from} → ${to.pathname}${to.hash}`);
    }
    return { pages, broken: [...new Set(broken)] };
  }

  it('link only to existing pages, anchors and files, and are all reachable from the first page', async () => {
    const { pages, broken } = await walk();
    expect(broken).toEqual([]);
    const documents = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => `/docs/${name.replace(/README\.md$/, 'index.md').replace(/\.md$/, '.html')}`);
    expect(documents.length).toBeGreaterThan(100);
    expect(documents.filter((address) => !pages.has(address))).toEqual([]);
    for (const html of pages.values())
      expect(html).not.toMatch(/ style=|<style|<script(?! src="[^"]*site\.js" defer>)/);
  }, 60_000);

  it('load nothing from other origins, and are compressed', async () => {
    const { status, headers } = await send('GET', `${url}/docs/rules.html`, { headers: { 'Accept-Encoding': 'gzip' } });
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['content-encoding']).toBe('gzip');
    expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
    expect(headers['content-security-policy']).not.toContain('unsafe');
    const again = await send('GET', `${url}/docs/rules.html`, { headers: { 'If-None-Match': String(headers.etag) } });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  it('are below the address of the relay', async () => {
    const { status, headers } = await send('GET', `${url}/docs`);
    expect([status, headers.location]).toEqual([308, '/team/docs/']);
    expect((await send('GET', `${url}/docs/runbooks/`)).text).toContain('<title>Runbooks');
  });

  it.each([
    '/docs/nothing.html',
    '/docs/..%2fpackage.json',
    '/docs/%2e%2e/package.json',
    '/docs/files',
    '/docs//etc/passwd',
    '/docs/%',
  ])('include no other file: %s', async (path) => {
    const { status } = await send('GET', url + path);
    expect([400, 404]).toContain(status);
  });

  it('are omitted if they are not built', () => {
    expect(mountDocs(express(), { directory: '/nowhere', publicUrl: 'https://relay.example' })).toBe(false);
  });
});
