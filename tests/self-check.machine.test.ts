import { afterEach, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import { type Cluster, startCluster } from '@relay/testing';

const warning = /A proxy before PUBLIC_URL[^"]*PING_INTERVAL_MS[^"]*timeout tunnel/;

/** Promise: a starting relay warns about a proxy that cuts silent connections, and still starts. */
describeWith(
  ['postgresql', 'redis-server', 'haproxy', 'openssl'],
  'an instance behind HAProxy with a short "timeout tunnel"',
  () => {
    let cluster: Cluster | undefined;
    afterEach(() => cluster?.stop());

    it('starts, serves, and warns at each door', async () => {
      cluster = await startCluster({ apis: 1, gateways: 1, haproxy: 'plain', haproxyTunnelMs: 500 });
      const [api, gateway] = [cluster.apis[0]!, cluster.gateways[0]!];
      // Instances that started before HAProxy could not check it.
      for (const instance of [api, gateway]) {
        expect(await instance.leave()).toBe(0);
        await instance.start();
      }
      await api.child.wrote(warning);
      await gateway.child.wrote(warning);
      const answers = [api, gateway].map(async ({ url }) => (await fetch(`${url}/ready`)).status);
      expect(await Promise.all(answers)).toEqual([200, 200]);
    }, 180_000);
  },
);
