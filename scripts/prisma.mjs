// Runs the Prisma CLI from the top of the repository, from any folder: `npm run db -- migrate status`. Prisma downloads
// a native schema engine from its vendor's host before it looks at any command. prisma-engine/ is a stand-in made of
// the same engine compiled to WebAssembly, so that every command works without that host. DATABASE_URL names a
// PostgreSQL; PGLITE_DIR names the folder of an embedded database instead.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const cli = createRequire(import.meta.url).resolve('prisma/build/index.js');
const engine = fileURLToPath(new URL('./prisma-engine/schema-engine.mjs', import.meta.url));
const { status } = spawnSync(process.execPath, [cli, ...process.argv.slice(2)], {
  stdio: 'inherit',
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  env: {
    CHECKPOINT_DISABLE: '1',
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
    PRISMA_SCHEMA_ENGINE_BINARY: engine,
    ...process.env,
  },
});
process.exit(status ?? 1);
