// Prints the bytes of a page that uses the client, as JSON: with everything, and with calls only. Uses the bundler of
// the web app.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';

const room = new URL('../..', import.meta.url).pathname;
const folder = mkdtempSync(join(room, 'dist/size-'));

async function sizeOf(source) {
  const entry = join(folder, 'entry.js');
  writeFileSync(entry, source);
  const { output } = await build({
    root: folder,
    configFile: false,
    logLevel: 'silent',
    build: { write: false, target: 'es2022', modulePreload: false, rolldownOptions: { input: entry } },
  });
  const { code } = output[0];
  if (/node:|ajv|TypeBox/.test(code)) throw new Error('the bundle has something that only servers need');
  return { bytes: code.length, gzip: gzipSync(code).length };
}

try {
  const all = `import { createClient } from '@relay/client';
    const client = createClient({ baseUrl: location.origin, token: 't' });
    client.call('me').then(console.log);
    for await (const item of client.attention()) console.log(item);`;
  const requestAlone = `import { request } from '@relay/client'; request('/api/me').then(console.log);`;
  console.log(JSON.stringify({ all: await sizeOf(all), request: await sizeOf(requestAlone) }));
} finally {
  rmSync(folder, { recursive: true });
}
