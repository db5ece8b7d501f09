/**
 * The manifests: every overlay passes the checks, and each check can fail. The tests break copies of the rendered
 * objects.
 */
/* eslint-disable @typescript-eslint/no-unsafe-return, @typescript-eslint/no-unsafe-call -- rendered objects have any shape */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { describeWith } from '@relay/testing/needs';
import { BlockList, isIPv6 } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { idleConnectionMs } from '@relay/service';
import {
  type KubernetesObject,
  RenderError,
  alone,
  containersOf,
  environmentOf,
  fieldProblems,
  find,
  folderProblems,
  objectProblems,
  ofKind,
  overlays,
  placeholders,
  render,
} from '../k8s/check/index.mjs';

type Break = (object: KubernetesObject, all: KubernetesObject[]) => void;
type Broken = [title: string, change: Break, problem: RegExp];

describeWith('kubectl', 'every folder', () => {
  describe.each([...overlays, ...alone])('%s', (folder) => {
    it('renders and passes every check', async () => {
      const { objects, problems } = await folderProblems(folder);
      expect(problems).toEqual([]);
      expect(objects.length).toBeGreaterThan(20);
    });
  });
});

describeWith('kubectl', 'the rendered objects', () => {
  const [localFolder = '', productionFolder = ''] = overlays;
  let local: KubernetesObject[];
  let production: KubernetesObject[];

  beforeAll(async () => {
    [local, production] = await Promise.all([render(localFolder), render(productionFolder)]);
  });

  const get = (objects: KubernetesObject[], kind: string, name: string): KubernetesObject => {
    const object = find(objects, kind, name);
    if (!object) throw new Error(`${kind}/${name} is not rendered`);
    return object;
  };

  /** Breaks one object at a time, and returns the faults that `look` missed, with the problems that it found. */
  const missed = (rows: Broken[], look: (objects: KubernetesObject[]) => string[]) => {
    const failures: string[] = [];
    for (const [title, change, problem] of rows) {
      const objects = structuredClone(production);
      const [kind = '', name = ''] = title.split('/');
      change(get(objects, kind, name), objects);
      const found = look(objects).join('\n');
      if (!problem.test(found)) failures.push(`${title}: ${problem} is not among: ${found}`);
    }
    return failures;
  };

  it('S15: lets the api reach public addresses only, and no private address in any notation', () => {
    type Block = { ipBlock: { cidr: string; except: string[] } };
    const policy = get(production, 'NetworkPolicy', 'allow-internet');
    const blocks = (policy.spec.egress as { to: Block[] }[]).flatMap(({ to }) => to);
    const isOpen = (address: string) =>
      blocks.some(({ ipBlock: { cidr, except } }) => {
        const family = isIPv6(address) ? 'ipv6' : 'ipv4';
        const holds = (range: string) => {
          const list = new BlockList();
          const [network = '', bits] = range.split('/');
          list.addSubnet(network, Number(bits), isIPv6(network) ? 'ipv6' : 'ipv4');
          return isIPv6(network) === isIPv6(address) && list.check(address, family);
        };
        return holds(cidr) && !except.some(holds);
      });
    for (const inner of [
      ...['10.1.2.3', '172.31.0.1', '192.168.0.1', '169.254.169.254', '100.64.0.1', '127.0.0.1', '0.0.0.0'],
      ...['198.18.0.1', '198.19.255.255', '192.0.0.170', '224.0.0.1', '255.255.255.255'],
      ...[
        '64:ff9b::a9fe:a9fe',
        '64:ff9b:1::1',
        '::1',
        '::7f00:1',
        'fd00::1',
        'fe80::1',
        'fec0::1',
        '2002:a9fe:a9fe::1',
        '2001:0:1::1',
        'ff02::1',
      ],
    ])
      expect([inner, isOpen(inner)]).toEqual([inner, false]);
    for (const open of ['93.184.216.34', '198.20.0.1', '192.0.1.1', '2606:2800:220:1::1', '2001:4860:4860::8888'])
      expect([open, isOpen(open)]).toEqual([open, true]);
  });

  it('lets the edge alone connect to the doors, monitoring to their metrics, and the doors out to named ports', () => {
    interface Way {
      from?: { namespaceSelector?: { matchLabels: Record<string, string> } }[];
      to?: unknown[];
      ports: { port: string | number }[];
    }
    const ways = ofKind(production, 'NetworkPolicy').map(({ metadata: { name }, spec }) => ({
      name,
      into: ((spec.ingress ?? []) as Way[]).map(({ from, ports }) => [
        from?.map((peer) => ({ ...peer, ...peer.namespaceSelector?.matchLabels, namespaceSelector: undefined })),
        ports.map(({ port }) => port),
      ]),
      out: ((spec.egress ?? []) as Way[]).flatMap(({ ports }) => ports.map(({ port }) => port)),
    }));
    expect(ways.flatMap(({ into }) => into)).toEqual([
      [[{ 'relay/edge': 'true' }], ['http']],
      [[{ 'relay/monitoring': 'true' }], ['metrics']],
    ]);
    expect(Object.fromEntries(ways.filter(({ out }) => out.length > 0).map(({ name, out }) => [name, out]))).toEqual({
      'allow-dns': [53, 53],
      'allow-self-check': [443, 8443, 10443],
      'allow-memory': [5432, 6379, 26379],
      'allow-internet': [443],
      'allow-traces': [4318],
    });
    expect(get(production, 'NetworkPolicy', 'default-deny').spec).toEqual({
      podSelector: {},
      policyTypes: ['Ingress', 'Egress'],
    });
  });

  it('production runs at least three of each door, and sets no number of replicas next to the autoscaler', () => {
    for (const name of ['relay-api', 'relay-gateway']) {
      expect(get(production, 'HorizontalPodAutoscaler', name).spec.minReplicas).toBe(3);
      expect(get(production, 'Deployment', name).spec.replicas).toBeUndefined();
    }
  });

  it('the local overlay needs no autoscaler, no edge and no external secret', () => {
    expect(ofKind(local, 'HorizontalPodAutoscaler', 'Gateway', 'Ingress')).toEqual([]);
    expect(ofKind(local, 'Secret')).toHaveLength(1);
    expect(get(local, 'Deployment', 'relay-gateway').spec.replicas).toBe(2);
    expect(containersOf(get(local, 'Deployment', 'relay-api'))[0]?.resources.requests.cpu).toBe('50m');
  });

  it('production pins images by digest and takes secrets from outside', () => {
    const images = production.flatMap(containersOf).map(({ image }) => image as string);
    expect(images.length).toBe(3);
    for (const image of images) expect(image).toMatch(/^registry\.example\.com\/relay@sha256:[0-9a-f]{64}$/);
    expect(ofKind(production, 'Secret')).toEqual([]);
  });

  it('only the api gets the secret of the sign-in, and only the migration the role that can change tables', () => {
    const given = {
      DATABASE_URL: 'd',
      MIGRATE_DATABASE_URL: 'm',
      REDIS_URL: 'r',
      AUTH_SECRET: 's',
      AUTH_UPSTREAM: 'u',
      OTEL_EXPORTER_OTLP_HEADERS: 'o',
    };
    const secrets = (kind: string, name: string) => {
      const [container = {}] = containersOf(get(production, kind, name));
      return Object.entries(environmentOf(production, container, given))
        .filter(([, value]) => Object.values(given).includes(value))
        .map(([key, value]) => `${key}=${value}`);
    };
    expect(secrets('Deployment', 'relay-api')).toEqual([
      'DATABASE_URL=d',
      'REDIS_URL=r',
      'OTEL_EXPORTER_OTLP_HEADERS=o',
      'AUTH_SECRET=s',
      'AUTH_UPSTREAM=u',
    ]);
    expect(secrets('Deployment', 'relay-gateway')).toEqual([
      'DATABASE_URL=d',
      'REDIS_URL=r',
      'OTEL_EXPORTER_OTLP_HEADERS=o',
    ]);
    expect(secrets('Job', 'relay-migrate')).toEqual(['DATABASE_URL=m']);
  });

  it('objects that come first in a release have a label: namespace, settings, accounts, priority, network rules, the migration', () => {
    const first = production
      .filter(({ metadata }) => metadata.labels?.['relay/phase'] === 'prepare')
      .map(({ kind }) => kind);
    expect([...new Set(first)].sort()).toEqual([
      'ConfigMap',
      'Job',
      'Namespace',
      'NetworkPolicy',
      'PriorityClass',
      'ServiceAccount',
    ]);
    const later = production
      .filter(({ metadata }) => metadata.labels?.['relay/phase'] !== 'prepare')
      .map(({ kind }) => kind);
    expect(later).not.toContain('Job');
  });

  it('a first sync creates these objects, migrates in its own hook, and starts the doors after that', () => {
    const waveOf = ({ metadata }: KubernetesObject) =>
      Number(metadata.annotations?.['argocd.argoproj.io/sync-wave'] ?? 0);
    const migration = get(production, 'Job', 'relay-migrate');
    // PreSync would run before the settings and accounts of the migration exist.
    expect(migration.metadata.annotations).toMatchObject({
      'argocd.argoproj.io/hook': 'Sync',
      'argocd.argoproj.io/hook-delete-policy': 'BeforeHookCreation',
    });
    expect(waveOf(migration)).toBe(-1);
    for (const object of production.filter((one) => one !== migration))
      expect([object.kind, object.metadata.name, waveOf(object)]).toEqual([
        object.kind,
        object.metadata.name,
        object.metadata.labels?.['relay/phase'] === 'prepare' ? -2 : 0,
      ]);
  });

  it('a rollout of gateways has the surge that balance.test.ts simulates and operations.md calculates with', async () => {
    const read = (path: string) => readFile(new URL(`../${path}`, import.meta.url), 'utf8');
    const { maxSurge } = get(production, 'Deployment', 'relay-gateway').spec.strategy.rollingUpdate;
    const share = Number.parseInt(maxSurge as string) / 100;
    const [, played] =
      /rollout\(Math\.ceil\(gateways \/ (\d+)\)\)/.exec(await read('apps/gateway/test/balance.test.ts')) ?? [];
    expect(share).toBe(1 / Number(played));
    // The remaining gateways accept the daemons of this share, at 150 connects per second and gateway.
    const [, divisor] = /`DRAIN_SECONDS` ≥ daemons per gateway ÷ (\d+)/.exec(await read('docs/operations.md')) ?? [];
    expect(Number(divisor)).toBe((150 * (1 - share)) / share);
  });

  it('the doors have priority over other pods of a full node', () => {
    const [priority] = ofKind(production, 'PriorityClass');
    expect(priority?.value).toBeGreaterThan(0);
    for (const name of ['relay-api', 'relay-gateway'])
      expect(get(production, 'Deployment', name).spec.template.spec.priorityClassName).toBe(priority?.metadata.name);
  });

  it('daemons connect to the gateway with the fewest connections, or to another if that is full; everything else goes to the api', () => {
    const [daemons] = get(production, 'HTTPRoute', 'relay-daemons').spec.rules;
    expect(daemons.matches).toEqual([{ path: { type: 'Exact', value: '/ws/daemon' } }]);
    expect(daemons.backendRefs[0].name).toBe('relay-gateway');
    const { spec } = get(production, 'BackendTrafficPolicy', 'relay-daemons');
    expect(spec.loadBalancer.type).toBe('LeastRequest');
    expect(spec.retry.retryOn.httpStatusCodes).toEqual([503]);
    for (const { spec } of ofKind(production, 'BackendTrafficPolicy'))
      expect(spec.timeout.http.connectionIdleTimeout).toBe(`${idleConnectionMs / 1000 - 15}s`);
    const paths = get(production, 'HTTPRoute', 'relay-apps').spec.rules.map((rule: KubernetesObject) => [
      rule.matches[0].path.value,
      rule.backendRefs?.[0].name,
      rule.timeouts?.request,
    ]);
    expect(paths).toEqual([
      ['/ready', undefined, undefined],
      ['/ws/attention', 'relay-api', '0s'],
      ['/mcp', 'relay-api', '65s'],
      ['/', 'relay-api', '30s'],
    ]);
  });

  it('errors of the edge itself are JSON with a code, and errors of the relay pass unchanged', () => {
    const policies = ofKind(production, 'BackendTrafficPolicy');
    expect(policies).toHaveLength(2);
    for (const { spec } of policies) {
      const overrides = spec.responseOverride.map(({ source, match, response }: KubernetesObject) => ({
        source,
        codes: match.statusCodes,
        type: response.contentType,
        body: JSON.parse(response.body.inline as string),
      }));
      expect(overrides).toEqual(
        [502, 503, 504].map((status) => ({
          source: 'Local',
          codes: [{ type: 'Value', value: status }],
          type: 'application/json',
          body: { error: expect.stringMatching(/\.$/), code: 'SERVICE_UNAVAILABLE', status },
        })),
      );
    }
  });

  it('no Service with a route serves metrics', () => {
    for (const name of ['relay-api', 'relay-gateway'])
      expect(get(production, 'Service', name).spec.ports.map(({ port }: KubernetesObject) => port as number)).toEqual([
        80,
      ]);
  });

  it('an overlay with placeholders fails the check', () => {
    expect(placeholders(production).join('\n')).toMatch(
      /digest is a placeholder[^]*registry\.example\.com[^]*relay\.example\.com/,
    );
    const ready = JSON.stringify(production)
      .replaceAll(/0{64}/g, 'ab'.repeat(32))
      .replaceAll('registry.example.com', 'registry.acme.test')
      .replaceAll('git.example.com', 'git.acme.test')
      .replaceAll('grafana.example.com', 'grafana.acme.test')
      .replaceAll('relay.example.com', 'relay.acme.test');
    expect(placeholders(JSON.parse(ready) as KubernetesObject[])).toEqual([]);
    expect(placeholders(local).join('\n')).toMatch(/Secret\/relay-secrets.* is part of the manifests/);
  });

  describe('a field', () => {
    const api = 'Deployment/relay-api';
    const broken: Broken[] = [
      [api, ({ spec }) => (spec.replica = 3), /replica is not a field of V1DeploymentSpec/],
      [api, ({ spec }) => (spec.replicas = '3'), /replicas must be integer, is "3"/],
      [api, ({ spec }) => (spec.replicas = 2.5), /replicas must be integer, is 2.5/],
      [api, ({ spec }) => delete spec.selector, /spec\.selector is missing/],
      [api, (object) => (object.apiVersion = 'extensions/v1beta1'), /served neither by Kubernetes 1\.36/],
      [api, (object) => (object.apiVersion = 'policy/v1'), /served neither by Kubernetes 1\.36/],
      [api, ({ spec }) => (spec.template.spec.containers = {}), /containers must be a list/],
      [api, ({ spec }) => (spec.template.spec.containers[0].env[0].name = null), /name is empty/],
      [api, ({ spec }) => (spec.template.spec.containers[0].resources.limits.memory = '1 GB'), /no quantity/],
      [api, ({ metadata }) => (metadata.labels.number = 1), /labels\.number must be string/],
      ['HorizontalPodAutoscaler/relay-api', (object) => (object.apiVersion = 'autoscaling/v2beta2'), /served neither/],
      ['HTTPRoute/relay-apps', ({ spec }) => (spec.rules[0].sessionPersistence = {}), /not a known field/],
      ['HTTPRoute/relay-apps', ({ spec }) => (spec.rules[2].timeouts.request = '30'), /must be duration/],
      ['Gateway/relay', ({ spec }) => delete spec.gatewayClassName, /gatewayClassName is missing/],
    ];

    it('with a fault is reported', () => {
      expect(missed(broken, fieldProblems)).toEqual([]);
    });
  });

  describe('a policy', () => {
    const pod = (object: KubernetesObject): KubernetesObject => object.spec.template.spec;
    const first = (object: KubernetesObject): KubernetesObject => pod(object).containers[0];
    const api = 'Deployment/relay-api';
    const gateway = 'Deployment/relay-gateway';
    const broken: Broken[] = [
      [api, (object) => delete first(object).resources.limits, /limits\.memory is missing/],
      [api, (object) => delete first(object).resources.requests.cpu, /requests\.cpu is missing/],
      [api, (object) => (first(object).resources.requests.memory = '2Gi'), /requests\.memory is above its limit/],
      [api, (object) => delete first(object).startupProbe, /startupProbe is missing/],
      [api, (object) => delete first(object).readinessProbe, /readinessProbe is missing/],
      [api, (object) => (first(object).livenessProbe.httpGet.path = '/ready'), /depends on the database/],
      [api, (object) => (first(object).livenessProbe.httpGet.port = 'web'), /asks port web/],
      [api, (object) => (first(object).securityContext.readOnlyRootFilesystem = false), /readOnlyRootFilesystem/],
      [api, (object) => (first(object).securityContext.capabilities.drop = []), /must drop ALL/],
      [api, (object) => (first(object).securityContext.capabilities.add = ['NET_ADMIN']), /must not be added/],
      [api, (object) => (first(object).securityContext.privileged = true), /privileged/],
      [api, (object) => (first(object).securityContext.allowPrivilegeEscalation = true), /allowPrivilegeEscalation/],
      [api, (object) => (pod(object).securityContext.runAsNonRoot = false), /runAsNonRoot/],
      [api, (object) => (pod(object).securityContext.runAsUser = 0), /runAsUser/],
      [api, (object) => delete pod(object).securityContext.seccompProfile, /seccompProfile/],
      [api, (object) => delete pod(object).automountServiceAccountToken, /automountServiceAccountToken/],
      [api, (object) => delete pod(object).enableServiceLinks, /enableServiceLinks/],
      [api, (object) => (pod(object).hostNetwork = true), /hostNetwork/],
      [api, (object) => (pod(object).volumes = [{ name: 'x', hostPath: { path: '/' } }]), /is a hostPath/],
      [api, (object) => (first(object).ports[0].hostPort = 80), /hostPort/],
      [api, (object) => (first(object).ports[0].containerPort = 70000), /out of range/],
      [api, (object) => (first(object).ports[1].containerPort = 4000), /same containerPort/],
      [api, (object) => (first(object).image = 'relay'), /not pinned/],
      [api, (object) => (first(object).image = 'relay:latest'), /not pinned/],
      [api, (object) => (first(object).volumeMounts = [{ name: 'data', mountPath: '/data' }]), /no volume of the pod/],
      [api, (object) => first(object).env.push({ name: 'REDIS_URL', value: 'x' }), /sets REDIS_URL twice/],
      [api, (object) => (first(object).env = first(object).env.slice(2)), /max-old-space-size must be set/],
      [api, (object) => (first(object).resources.limits.memory = '400Mi'), /max-old-space-size must be set/],
      [api, (object) => (object.spec.replicas = 3), /stands against its autoscaler/],
      [api, (object) => (object.spec.strategy.rollingUpdate.maxUnavailable = 1), /maxUnavailable must be 0/],
      [api, (object) => (object.spec.strategy.rollingUpdate.maxSurge = 0), /maxSurge must be at least 1/],
      [gateway, (object) => (object.spec.strategy.rollingUpdate.maxSurge = 1), /maxSurge must be 25% at least.* is 1$/],
      [gateway, (object) => (object.spec.strategy.rollingUpdate.maxSurge = '10%'), /maxSurge must be 25% at least/],
      [api, (object) => (object.spec.selector.matchLabels.app = 'x'), /selector does not find its own pods/],
      [api, (object) => (pod(object).serviceAccountName = 'other'), /ServiceAccount\/other, which does not exist/],
      [
        api,
        (object) => (first(object).envFrom[0].configMapRef.name = 'relay-config'),
        /ConfigMap\/relay-config, which/,
      ],
      [api, (object) => (first(object).env[2].valueFrom.secretKeyRef.name = 'other'), /Secret\/other, which/],
      [api, (object) => (object.metadata.name = 'Relay_API'), /name is not allowed/],
      [api, (object) => (object.metadata.namespace = 'other'), /namespace other is not among/],
      [gateway, (object) => delete first(object).lifecycle, /preStop must sleep/],
      [gateway, (object) => (pod(object).terminationGracePeriodSeconds = 60), /60 is less than preStop 10 \+ DRAIN/],
      [gateway, (object) => delete pod(object).topologySpreadConstraints, /not spread over/],
      [gateway, (object, all) => all.push(object), /there twice/],
      ['Job/relay-migrate', (object) => delete first(object).command, /a Job needs a command/],
      ['Job/relay-migrate', (object) => (pod(object).restartPolicy = 'OnFailure'), /restartPolicy must be Never/],
      ['Job/relay-migrate', (object) => delete object.spec.activeDeadlineSeconds, /activeDeadlineSeconds/],
      ['Service/relay-api', ({ spec }) => (spec.selector = { app: 'x' }), /its selector finds no pods/],
      ['Service/relay-api', ({ spec }) => (spec.ports[0].targetPort = 'web'), /leads to web/],
      ['Service/relay-api', ({ spec }) => (spec.type = 'LoadBalancer'), /open to the world/],
      ['Service/relay-api', ({ spec }) => (spec.ports[0].targetPort = 'metrics'), /also serves metrics/],
      ['HorizontalPodAutoscaler/relay-api', ({ spec }) => (spec.minReplicas = 1), /at least 2/],
      ['HorizontalPodAutoscaler/relay-api', ({ spec }) => (spec.maxReplicas = 3), /above minReplicas/],
      ['HorizontalPodAutoscaler/relay-api', ({ spec }) => (spec.scaleTargetRef.name = 'x'), /does not exist/],
      ['PodDisruptionBudget/relay-api', ({ spec }) => (spec.minAvailable = 1), /exactly one of/],
      ['PodDisruptionBudget/relay-api', ({ spec }) => (spec.maxUnavailable = 0), /blocks every drain/],
      ['PodDisruptionBudget/relay-api', ({ spec }) => (spec.selector.matchLabels = { a: 'b' }), /pods of one workload/],
      ['NetworkPolicy/default-deny', ({ spec }) => (spec.policyTypes = ['Ingress']), /nothing denies Egress/],
      ['NetworkPolicy/default-deny', ({ spec }) => (spec.ingress = [{}]), /nothing denies Ingress/],
      ['NetworkPolicy/allow-dns', ({ spec }) => (spec.egress = []), /ask for names/],
      ['NetworkPolicy/allow-edge', ({ spec }) => (spec.ingress[0].ports[0].port = 'web'), /no port of the pods/],
      ['NetworkPolicy/allow-edge', ({ spec }) => (spec.podSelector.matchLabels = { a: 'b' }), /finds no pods/],
      ['HTTPRoute/relay-daemons', ({ spec }) => (spec.rules[0].backendRefs[0].name = 'x'), /Service\/x, which/],
      ['HTTPRoute/relay-daemons', ({ spec }) => (spec.rules[0].backendRefs[0].port = 4000), /port 4000 of/],
      ['HTTPRoute/relay-daemons', ({ spec }) => (spec.hostnames = ['a.test']), /its host is not that of/],
      ['HTTPRoute/relay-daemons', ({ spec }) => (spec.parentRefs[0].sectionName = 'tcp'), /Gateway\/relay tcp/],
      ['Gateway/relay', ({ spec }) => (spec.listeners[0].tls.certificateRefs[0].name = 'x'), /Secret\/x, which/],
      ['BackendTrafficPolicy/relay-daemons', ({ spec }) => (spec.targetRefs[0].name = 'x'), /HTTPRoute\/x, which/],
      ['Namespace/relay', ({ metadata }) => (metadata.labels = {}), /enforce restricted/],
    ];

    it('of an object is checked: each violation is reported', () => {
      expect(missed(broken, objectProblems)).toEqual([]);
    });
  });
});

describeWith('kubectl', 'a kustomization', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'relay-k8s-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const settings = `apiVersion: v1
kind: ConfigMap
metadata: { name: settings, namespace: relay }
data: { A: b }
`;
  const write = async (more: string) => {
    await writeFile(join(folder, 'settings.yaml'), settings);
    await writeFile(join(folder, 'kustomization.yaml'), `resources: [settings.yaml]\n${more}`);
  };

  it.each([
    [
      'a patch',
      'patches:\n  - target: { kind: ConfigMap, name: setings }\n    patch: \'[{"op": "remove", "path": "/data/A"}]\'\n',
      /setings.* matches nothing/,
    ],
    ['an image', 'images:\n  - { name: relay, newTag: "1" }\n', /nothing runs the image relay:1/],
  ])('with %s that matches nothing is refused, although kubectl accepts it', async (_, more, problem) => {
    await write(more);
    const { problems } = await folderProblems(folder);
    expect(problems.join('\n')).toMatch(problem);
  });

  it('that does not render is refused with the reason', async () => {
    await write('resource: [settings.yaml]\n');
    await expect(folderProblems(folder)).rejects.toThrow(/does not render/);
  });

  it('is not reported as valid if kubectl is missing', async () => {
    await write('');
    await expect(render(folder, { kubectl: join(folder, 'kubectl') })).rejects.toThrow(RenderError);
    await expect(render(folder, { kubectl: join(folder, 'kubectl') })).rejects.toThrow(/is not installed.*KUBECTL/);
  });
});
