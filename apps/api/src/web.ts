/**
 * The pages of the relay: a folder of built files, read once. Knows their addresses and the permissions of a browser, and nothing
 * of their content.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { memberPages, openPages } from '@relay/protocol';
import type { Express, NextFunction, Request, Response } from 'express';

export interface WebOptions {
  /** Where the build is: `index.html` and `assets/`. */
  directory: string;
  /** The address that people use; pages load their files from there. */
  publicUrl: string;
  /** The certificate authority of this relay itself: where another machine fetches the file, and its SHA-256 in hex. */
  authority?: { url: string; sha256: string } | undefined;
}

/** Files at the root: the worker of the pages must be there, to serve them all. */
const rootFiles = [
  'sw.js',
  'manifest.webmanifest',
  'icon-192.png',
  'icon-512.png',
  'maskable-512.png',
  'apple-touch-180.png',
  'badge-96.png',
];

/** Addresses of programs: a request for one of these wants JSON, even when it does not exist. */
const ofPrograms =
  /^\/(api|auth|ws|assets|\.well-known|health|ready|metrics|install\.sh|relay-daemon\.tgz|sw\.js)(\/|$)/;

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json',
};

export interface File {
  type: string;
  bytes: Buffer;
  /** Made on the first request for it. */
  gzipped?: Buffer;
}

/** Nothing from elsewhere, nothing inline, in no frame. */
function contentSecurityPolicy(publicUrl: string): string {
  // Not every browser takes 'self' for WebSockets too.
  const sockets = new URL(publicUrl).origin.replace(/^http/, 'ws');
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    // An attached image is shown from the browser's own memory.
    "img-src 'self' blob:",
    `connect-src 'self' ${sockets}`,
    "manifest-src 'self'",
    // Trusted Types lets the pages name one script, /sw.js.
    "worker-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
    // The name of the policy in the pages that makes the address of /sw.js; no second policy can have it.
    'trusted-types relay-worker',
  ].join('; ');
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

/** The page with its base address: its files are named from the root, because it is served at addresses of any depth. */
function readIndex({ directory, publicUrl, authority }: WebOptions): Buffer {
  let html: string;
  try {
    html = readFileSync(join(directory, 'index.html'), 'utf8');
  } catch (cause) {
    throw new Error(`The pages are not built: ${directory} holds no index.html. Run "npm run build".`, { cause });
  }
  const place = authority ? `${publicUrl} ${authority.url} ${authority.sha256}` : publicUrl;
  const base = escaped(new URL(publicUrl).pathname.replace(/\/$/, ''));
  return Buffer.from(
    html
      .replaceAll('="./', `="${base}/`)
      .replace('name="relay-url" content=""', `name="relay-url" content="${escaped(place)}"`),
  );
}

/** The build puts a hash of the content between the name of a file and its suffix. */
const hashed = /^(.+)-[\w-]{8}(\.\w+)$/;
const unhashed = (name: string) => name.replace(hashed, '$1$2');

/** The files, under their names and without the hash in it: a page of another release asks for the one of that release. */
function readAssets(directory: string): Map<string, File> {
  const files = new Map<string, File>();
  for (const name of readdirSync(join(directory, 'assets'))) {
    const type = types[extname(name)];
    if (type === undefined) continue;
    const file = { type, bytes: readFileSync(join(directory, 'assets', name)) };
    files.set(name, file).set(unhashed(name), file);
  }
  return files;
}

/** Answers with the file, compressed where the browser can. */
export function send(request: Request, response: Response, file: File): void {
  response.setHeader('Content-Type', file.type);
  response.setHeader('Vary', 'Accept-Encoding');
  if (request.acceptsEncodings('gzip') === 'gzip') {
    response.setHeader('Content-Encoding', 'gzip');
    response.end((file.gzipped ??= gzipSync(file.bytes)));
    return;
  }
  response.end(file.bytes);
}

/**
 * Adds the pages, after all other routes. A browser that requests an unknown address receives a page about that; all other
 * requests pass to the next routes. Throws if the pages are not built.
 */
export function mountWeb(app: Express, options: WebOptions): void {
  const index: File = { type: 'text/html; charset=utf-8', bytes: readIndex(options) };
  const assets = readAssets(options.directory);
  const policy = contentSecurityPolicy(options.publicUrl);

  const page = (status: number) => (request: Request, response: Response) => {
    response.status(status);
    response.setHeader('Cache-Control', 'no-cache');
    response.setHeader('Content-Security-Policy', policy);
    response.setHeader('Referrer-Policy', 'no-referrer');
    response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
    response.setHeader('Permissions-Policy', 'camera=(), microphone=(), geolocation=()');
    send(request, response, index);
  };

  app.get([...openPages, ...memberPages], page(200));
  for (const name of rootFiles) {
    const path = join(options.directory, name);
    if (!existsSync(path)) continue;
    const file: File = { type: types[extname(name)]!, bytes: readFileSync(path) };
    app.get(`/${name}`, (request: Request, response: Response) => {
      // Every start of a page requests the worker; it can load nothing.
      response.setHeader('Cache-Control', 'no-cache');
      response.setHeader('Content-Security-Policy', "default-src 'none'; connect-src 'self'");
      response.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
      send(request, response, file);
    });
  }
  app.get('/assets/:name', (request: Request, response: Response, next: NextFunction) => {
    const name = request.params.name as string;
    const file = assets.get(name) ?? assets.get(unhashed(name));
    if (!file) {
      next();
      return;
    }
    // Their names change with their content. While two releases run, the page can come from an instance of the other one: these
    // files contain everything on screen, so they work with it, and no cache may keep them under that name.
    const own = hashed.test(name) && assets.has(name);
    response.setHeader('Cache-Control', own ? 'public, max-age=31536000, immutable' : 'no-store');
    response.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
    send(request, response, file);
  });
  const notFound = page(404);
  app.get('/{*path}', (request: Request, response: Response, next: NextFunction) => {
    if (ofPrograms.test(request.path) || request.accepts(['json', 'html']) !== 'html') next();
    else notFound(request, response);
  });
}
