/**
 * The daemon, served by the relay itself: a machine needs Node and this address, and neither a clone nor a name on a registry.
 * `/relay-daemon.tgz` is the package (scripts/pack), `/install.sh` installs it for one user. Both are public, as the pages are.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Express, Request, Response } from 'express';
import { installScript } from './install-script.ts';

interface DownloadOptions {
  /** The package of the daemon, built with this release. Without that file both addresses answer 404. */
  daemon: string;
  /** The address that machines use. */
  publicUrl: string;
  version: string;
}

function readPackage(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

/** Adds both addresses. Reads the package once. */
export function mountDownloads(app: Express, { daemon, publicUrl, version }: DownloadOptions): void {
  const bytes = readPackage(daemon);
  if (bytes === undefined) return;
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const script = installScript({ base: publicUrl, version, sha256 });

  const answer = (type: string, body: Buffer | string) => (_: Request, response: Response) => {
    response.setHeader('Content-Type', type);
    response.setHeader('Cache-Control', 'no-cache');
    response.end(body);
  };
  app.get('/install.sh', answer('text/plain; charset=utf-8', script));
  app.get('/relay-daemon.tgz', answer('application/gzip', bytes));
}
