/** `npm start`: environment → relay → SIGTERM. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { ConfigError, readConfig } from '@relay/config';
import { DatabaseError } from '@relay/database';
import { runService } from '@relay/service';
import { startStandalone } from './server.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

// WebAssembly (the embedded PostgreSQL) stays with V8's baseline compiler. Optimizing a few huge functions costs 60 to 100 MB
// that are never given back, and doubles the work of a start; small statements take a tenth longer without, large ones a
// third (docs/performance.md).
setFlagsFromString('--liftoff-only');

const web = { directory: fileURLToPath(new URL('../../web/dist', import.meta.url)) };
const forPeople = [ConfigError, DatabaseError];
runService(async () => startStandalone(readConfig('standalone', process.env), version, { web }), {
  isForPeople: (error) => forPeople.some((kind) => error instanceof kind),
});
