/** The version that `relay --version` prints. A file of its own: the executable replaces it (scripts/pack/executable.mjs). */
import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };

export const cliVersion = manifest.version;
