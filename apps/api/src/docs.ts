/**
 * The documents under `/docs`: a folder of static files (apps/docs), as public as the pages. A browser loads nothing for them
 * from elsewhere, and no foreign script.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { extname, join, sep } from 'node:path';
import type { Express, NextFunction, Request, Response } from 'express';
import { type File, send } from './web.ts';

interface DocsOptions {
  /** Where the build is: `index.html` and the files beside it. */
  directory: string;
  /** The address that people use. */
  publicUrl: string;
}

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webp': 'image/webp',
};

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

interface Document extends File {
  tag: string;
}

/**
 * Adds the documents. A file is read on the first request for it and kept; only files that were there at the start are served. Returns
 * false, and adds nothing, when the documents are not built: a relay serves its people without them.
 */
export function mountDocs(app: Express, { directory, publicUrl }: DocsOptions): boolean {
  if (!existsSync(join(directory, 'index.html'))) return false;
  const names = new Set(
    readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .map((name) => name.replaceAll(sep, '/'))
      .filter((name) => extname(name) in types),
  );
  const read = new Map<string, Document>();
  const documentOf = (name: string): Document | undefined => {
    if (!names.has(name)) return undefined;
    let document = read.get(name);
    if (!document) {
      const bytes = readFileSync(join(directory, name));
      const tag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
      document = { type: types[extname(name)]!, bytes, tag };
      read.set(name, document);
    }
    return document;
  };
  const base = new URL(publicUrl).pathname.replace(/\/$/, '');

  app.get('/docs{/*path}', (request: Request, response: Response, next: NextFunction) => {
    // Its links are relative: they need the slash.
    if (request.path === '/docs') {
      response.redirect(308, `${base}/docs/`);
      return;
    }
    const name = request.path.slice('/docs/'.length);
    const document = documentOf(name === '' || name.endsWith('/') ? `${name}index.html` : name);
    if (!document) {
      next();
      return;
    }
    response.setHeader('Cache-Control', 'no-cache');
    response.setHeader('ETag', document.tag);
    response.setHeader('Content-Security-Policy', policy);
    response.setHeader('Referrer-Policy', 'no-referrer');
    response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
    response.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
    if (request.fresh) response.status(304).end();
    else send(request, response, document);
  });
  return true;
}
