/** The version this daemon declares in `X-Daemon-Version` and prints with `--version`. */
import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };

export const daemonVersion = manifest.version;
