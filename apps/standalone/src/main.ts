/** `npm start`: environment → relay → SIGTERM. Errors of the start say what to do, in one line, and exit with 1. */
import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { ConfigError, readConfig } from '@relay/config';
import { DatabaseError } from '@relay/database';
import { type Relay, startStandalone } from './server.ts';

const version = (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string })
  .version;

function explain(error: unknown): string {
  if (error instanceof ConfigError || error instanceof DatabaseError) return error.message;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE')
    return `The port is taken: ${message}. Stop the other program, or choose another port with PORT.`;
  if (code === 'EACCES') return `The port may not be used: ${message}. Choose one above 1023 with PORT.`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

async function main(): Promise<void> {
  // WebAssembly (the embedded PostgreSQL) stays with V8's baseline compiler. Optimizing a few huge functions costs 60 to 100 MB
  // that are never given back, and doubles the work of a start; small statements take a tenth longer without, large ones a
  // third (docs/performance.md).
  setFlagsFromString('--liftoff-only');
  const config = readConfig('standalone', process.env);
  const relay = await startStandalone(config, version);
  // For people; the log on standard output is for machines.
  process.stderr.write(
    `Relay ${version} is ready at ${config.publicUrl} (listening on ${config.host}:${relay.port}).\n`,
  );
  if (relay.setupLink !== undefined) process.stderr.write(`Create the first account: ${relay.setupLink}\n`);
  if (config.authDevIssuer)
    process.stderr.write('AUTH_DEV_ISSUER is on: "npm run dev:token" prints an access token for this machine.\n');
  stopOnSignal(relay);
}

/** A second signal ends the process at once. */
function stopOnSignal(relay: Relay): void {
  let stopping = false;
  const stop = (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1);
    stopping = true;
    process.stderr.write(`${signal}: leaving.\n`);
    relay.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`${explain(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

main().catch((error: unknown) => {
  process.stderr.write(`${explain(error)}\n`);
  process.exit(1);
});
