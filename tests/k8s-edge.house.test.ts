/**
 * The edge of overlays/production: Envoys that tolerate the loss of one, drain slowly, and match the numbers in the
 * documents.
 */
/* eslint-disable @typescript-eslint/no-unsafe-call -- rendered objects have any shape */
import { readFile } from 'node:fs/promises';
import { beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import { parse } from 'yaml';
import { type KubernetesObject, find, ofKind, overlays, render } from '../k8s/check/index.mjs';

const read = (path: string) => readFile(new URL(`../${path}`, import.meta.url), 'utf8');

describeWith('kubectl', 'the edge', () => {
  let production: KubernetesObject[];
  let gateway: KubernetesObject;
  let proxy: KubernetesObject;
  let kubernetes: KubernetesObject;
  let operations: string;

  beforeAll(async () => {
    production = await render(overlays[1] ?? '');
    gateway = find(production, 'Gateway', 'relay') ?? {};
    proxy = find(production, 'EnvoyProxy', 'relay') ?? {};
    kubernetes = proxy.spec?.provider.kubernetes as KubernetesObject;
    operations = await read('docs/operations.md');
  });

  it('has a supported class, which the installation creates', async () => {
    const file = 'k8s/components/envoy-gateway/class.yaml';
    const made = parse(await read(file)) as KubernetesObject;
    expect([made.kind, made.spec.controllerName]).toEqual(['GatewayClass', 'gateway.envoyproxy.io/gatewayclass-controller']); // prettier-ignore
    expect(gateway.spec.gatewayClassName).toBe(made.metadata.name);
    const values = parse(await read('k8s/chart/values.yaml')) as { edge: { gatewayClass: string } };
    expect(values.edge.gatewayClass).toBe(made.metadata.name);
    expect(operations).toContain(`\`kubectl apply -f ${file}\``);
    const { parametersRef } = gateway.spec.infrastructure;
    expect(parametersRef).toMatchObject({ kind: proxy.kind, name: proxy.metadata.name });
  });

  it('has at least three Envoys, scaled by processor and memory up to the limit in Sizing', () => {
    const { minReplicas, maxReplicas, metrics } = kubernetes.envoyHpa;
    const resources = metrics.map(({ resource }: KubernetesObject) => resource.name as string);
    expect([minReplicas, resources]).toEqual([3, ['cpu', 'memory']]);
    expect(kubernetes.envoyDeployment.replicas).toBeUndefined();
    const [, core, limit, each, least, most, sockets] =
      /\| edge \| one Envoy or HAProxy with (\d+) core and (\d+) GiB for ([\d,]+) sockets, (\w+) at least; their autoscaler goes to (\d+), for ([\d,]+)/.exec(operations) ?? []; // prettier-ignore
    const numberOf = (text = '') => Number(text.replaceAll(',', ''));
    expect([least, Number(most)]).toEqual(['three', maxReplicas]);
    expect(numberOf(each) * maxReplicas).toBe(numberOf(sockets));
    const { requests, limits } = kubernetes.envoyDeployment.container.resources;
    expect([requests.cpu, limits.memory]).toEqual([core, `${limit}Gi`]);
  });

  it('loses at most one Envoy to a drained node, a lost node or a rollout', () => {
    const { strategy, pod } = kubernetes.envoyDeployment;
    expect(kubernetes.envoyPDB).toEqual({ maxUnavailable: 1 });
    expect(strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
    const [spread] = pod.topologySpreadConstraints;
    expect(spread).toMatchObject({ topologyKey: 'kubernetes.io/hostname', maxSkew: 1 });
    expect(spread.labelSelector.matchLabels).toEqual({
      'gateway.envoyproxy.io/owning-gateway-name': gateway.metadata.name as string,
    });
  });

  it('closes the sockets of a draining Envoy over ten minutes', () => {
    expect(Number.parseInt(proxy.spec.shutdown.drainTimeout as string)).toBeGreaterThanOrEqual(600);
  });

  it('refuses connections before it runs out of memory: at its connection limit and by the overload manager', () => {
    // Envoy Gateway derives the overload manager from the memory limit: Envoy stops accepting at 98 % of 80 % of it,
    // and never without a limit.
    const limit = /^(\d+)Gi$/.exec(kubernetes.envoyDeployment.container.resources.limits.memory as string)?.[1];
    const stopsAt = 0.98 * 0.8 * Number(limit) * 2 ** 30;
    const [policy] = ofKind(production, 'ClientTrafficPolicy');
    expect(policy?.spec.targetRefs[0]).toMatchObject({ kind: 'Gateway', name: gateway.metadata.name as string });
    // 50 KB for each socket with TLS, on both sides (proxy.yaml).
    expect(policy?.spec.connection.connectionLimit.value * 50_000).toBeLessThan(stopsAt);
    expect(policy?.spec.connection.connectionLimit.value).toBeGreaterThanOrEqual(25_000);
  });
});
