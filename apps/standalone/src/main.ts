/** `npm start`: the whole relay in one process: embedded database, in-memory backplane, both doors behind one port. */
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { openApi } from '@relay/api';
import { readConfig } from '@relay/config';
import { createGateway } from '@relay/gateway';
import { runService } from '@relay/service';
import { isForPeople, openInstance, versionOf } from '@relay/service/instance';
import { bothDoors } from './doors.ts';
import { withSecret } from './secret.ts';

// WebAssembly (the embedded PostgreSQL) stays with V8's baseline compiler. Optimizing a few huge functions costs 60 to 100 MB
// that are never given back, and doubles the work of a start; small statements take a tenth longer without, large ones a
// third (docs/performance.md).
setFlagsFromString('--liftoff-only');

const web = { directory: fileURLToPath(new URL('../../web/dist', import.meta.url)) };
const downloads = { daemon: fileURLToPath(new URL('../../daemon/dist/relay-daemon.tgz', import.meta.url)) };
const devIssuerOn = 'AUTH_DEV_ISSUER is on: "npm run dev:token" prints an access token for this machine.';
/** A person waits for the process to end; what takes longer is asked again. */
const lastAnswersMs = 1000;

async function start() {
  const config = withSecret(readConfig('standalone', process.env));
  const instance = await openInstance('standalone', config, { version: versionOf(import.meta.url) });
  return instance.serve(async () => {
    const announce = (line: string) => process.stderr.write(`${line}\n`);
    const { api, welcome } = await openApi({ ...instance.deps('api'), web, downloads, announce });
    const gateway = createGateway(instance.deps('gateway'));
    const more = config.authDevIssuer ? [...welcome, devIssuerOn] : welcome;
    return { ...bothDoors(api, gateway), lastAnswersMs, welcome: more };
  });
}

runService(start, { isForPeople });
