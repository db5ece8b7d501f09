/** The program of a gateway, one of several instances of the daemons' door. */
import { createDeviceVerifier } from '@relay/auth';
import { readConfig } from '@relay/config';
import { gathered, readCredentials } from '@relay/database';
import { runService } from '@relay/service';
import { isForPeople, openInstance, versionOf } from '@relay/service/instance';
import { claimsCheck, createProbes } from './door/probes.ts';
import { createGateway } from './server.ts';

/** Probes are answered at once. */
const lastAnswersMs = 1000;

async function start() {
  const version = versionOf(import.meta.url);
  const instance = await openInstance('gateway', readConfig('gateway', process.env), {
    version,
    checks: (backplane) => ({ claims: claimsCheck(backplane) }),
  });
  const deps = instance.deps('gateway');
  return instance.serve(async () => {
    // Thousands of daemons reconnect at once.
    const lookup = gathered((deviceIds) => readCredentials(deps.database, deviceIds));
    const gateway = createGateway({ ...deps, deviceVerifier: createDeviceVerifier({ lookup }) });
    const handler = createProbes(deps.readiness, version);
    return Promise.resolve({ ...gateway, handler, lastAnswersMs, selfCheck: '/ws/daemon' });
  });
}

runService(start, { isForPeople });
