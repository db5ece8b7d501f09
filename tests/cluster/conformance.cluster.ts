import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fileURLToPath } from 'node:url';
import { type Cluster, startCluster, startProgram } from '@relay/testing';

const program = fileURLToPath(new URL('../../conformance/run.mjs', import.meta.url));
const patienceMs = 300_000;

/** Promise: the relay conforms to the specification through its load balancer, with the limits of the specification. */
describe('three apis and three gateways behind HAProxy', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster({
      apis: 3,
      gateways: 3,
      haproxy: true,
      env: { RATE_LIMIT_PER_MINUTE: '100', SESSION_CREATE_PER_MINUTE: '10', TRUST_PROXY: '1' },
    });
  }, patienceMs);
  afterAll(() => cluster.stop());

  it(
    'pass the conformance suite over TLS',
    async () => {
      const { url, certificate } = cluster.haproxy!;
      const suite = startProgram(
        process.execPath,
        [program, '--url', url, '--token', cluster.token('alice'), '--other-token', cluster.token('bob')],
        { env: { PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: certificate } },
      );
      const [, passed, failed] = await suite.wrote(/(\d+) passed, (\d+) failed/, patienceMs);
      const failures = suite.output().match(/^FAIL.*(?:\n +.*)?/gm) ?? [];
      expect(failures).toEqual([]);
      expect(Number(failed)).toBe(0);
      expect(Number(passed)).toBeGreaterThan(130);
    },
    patienceMs,
  );
});
