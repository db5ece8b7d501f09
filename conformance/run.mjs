#!/usr/bin/env node
// Checks any relay from outside: `node conformance/run.mjs --url http://127.0.0.1:4000 --token <jwt>`. See `--help`.
import { existsSync } from 'node:fs';

// The reader can stop early: `--list | head`.
process.stdout.on('error', (error) => process.exit(error.code === 'EPIPE' ? 0 : 2));

const built = new URL('./dist/cli.js', import.meta.url);
if (existsSync(built)) {
  const { main } = await import(built.href);
  process.exitCode = await main(process.argv.slice(2));
} else {
  process.stderr.write('conformance: run `npm run build` first.\n');
  process.exitCode = 2;
}
