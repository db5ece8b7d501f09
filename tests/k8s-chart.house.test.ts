/** The Helm chart is generated from the manifests, and Helm renders it to the same objects as kustomize. */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import { chartFiles, renderWith } from '../scripts/chart/files.mjs';
import { merged } from '../scripts/chart/merge.mjs';
import {
  type KubernetesObject,
  chart,
  chartObjects,
  containersOf,
  find,
  helm,
  objectProblems,
  ofKind,
  placeholders,
  render,
} from '../k8s/check/index.mjs';

const k8s = fileURLToPath(new URL('../k8s', import.meta.url));
const runbooks = 'https://git.example.com/relay/blob/main/docs/runbooks';
const dashboard = 'https://grafana.example.com/d/relay';
const settings = { PUBLIC_URL: 'https://relay.example.com' };
const quiet = { enabled: false, neighbours: false };
/** The base has two of each door; the production overlay and the defaults of the chart have three. */
const two = { api: { minReplicas: 2 }, gateway: { minReplicas: 2 } };

/** The objects by kind and name, without parts that only one of the two tools can render. */
function comparable(objects: KubernetesObject[]) {
  const text = JSON.stringify(objects).replaceAll(/(relay-config|relay-dashboard)-[a-z0-9]{10}\b/g, '$1');
  return Object.fromEntries(
    (JSON.parse(text) as KubernetesObject[])
      // The operator creates the namespace first, with the labels of its pod security level.
      .filter(({ kind }) => kind !== 'Namespace')
      .map((object): [string, KubernetesObject] => {
        const { metadata } = object as { metadata: Record<string, unknown> & { annotations?: Record<string, string> } };
        delete metadata.namespace;
        for (const name of Object.keys(metadata.annotations ?? {}))
          if (name.startsWith('helm.sh/')) delete metadata.annotations?.[name];
        // Kustomize puts the hash into the name of the ConfigMap instead.
        if (object.kind === 'Deployment') delete object.spec.template.metadata.annotations;
        return [`${object.kind}/${metadata.name as string}`, object];
      })
      .sort(([one], [other]) => one.localeCompare(other)),
  );
}

describeWith('kubectl', 'the templates', () => {
  it('are identical to the output of `npm run chart`', async () => {
    const files = await chartFiles();
    const there = (await readdir(join(chart, 'templates'))).filter((name) => name.endsWith('.yaml'));
    expect(there.map((name) => `templates/${name}`).sort()).toEqual(Object.keys(files).sort());
    for (const [path, text] of Object.entries(files)) expect([path, await readFile(join(chart, path), 'utf8')]).toEqual([path, text]); // prettier-ignore
  });

  it('cannot be generated from a component that removes or changes parts of the base', () => {
    expect(() => merged({ a: 1, b: 2 }, { a: 1 }, 'c')).toThrow('takes away b');
    expect(() => merged({ a: 1 }, { a: 2 }, 'c')).toThrow('changes 1 to 2');
    expect(() => merged([1, 2], [1], 'c')).toThrow('takes away items');
    expect(merged([1, 2], [1, 2], 'c')).toEqual([1, 2]);
  });
});

describeWith(['kubectl', 'helm'], 'the chart', () => {
  const image = { repository: 'relay', tag: 'check' };

  it('renders the same objects as overlays/production', async () => {
    const values = {
      image: { repository: 'registry.example.com/relay', digest: `sha256:${'0'.repeat(64)}` },
      settings,
      memory: { to: [{ ipBlock: { cidr: '10.0.0.0/8' } }] },
      monitoring: { runbooks, dashboard },
    };
    const objects = await chartObjects(values);
    expect(comparable(objects)).toEqual(comparable(await render(join(k8s, 'overlays/production'))));
    expect(placeholders(objects)).toHaveLength(5);
  });

  it.each([
    ['no edge and no monitoring', { edge: { kind: 'none' } }, () => renderWith([])],
    ['another edge of the Gateway API', { edge: { kind: 'gateway-api' } }, () => renderWith(['gateway-api'])],
    ["HAProxy's controller", { edge: { kind: 'haproxy' } }, () => render(join(k8s, 'check/ingress'))],
    [
      'KEDA, a private authority and alerts about the neighbours',
      {
        edge: { kind: 'none' },
        keda: { enabled: true },
        privateCa: { enabled: true },
        monitoring: { enabled: false, neighbours: true, runbooks, dashboard },
      },
      () => render(join(k8s, 'check/keda')),
    ],
  ])('renders the same objects as kustomize with %s', async (_title, values: Record<string, unknown>, manifests) => {
    const min = 'keda' in values ? {} : two;
    const objects = await chartObjects({ image, settings, monitoring: quiet, ...min, ...values });
    const expected = comparable(await manifests());
    // The operator creates this one.
    delete expected['ConfigMap/relay-ca'];
    const text = JSON.stringify(expected).replaceAll('"image":"relay"', '"image":"relay:check"');
    expect(comparable(objects)).toEqual(JSON.parse(text));
  });

  it.each([{ kind: 'envoy' }, { kind: 'haproxy' }])('passes every check with the edge %j', async (edge) => {
    const everything = { enabled: true, neighbours: true, runbooks };
    const values = { image, settings, edge, monitoring: everything, imagePullSecrets: [{ name: 'registry-login' }] };
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'relay', labels: {} } };
    const objects = await chartObjects(values);
    for (const { kind, metadata } of objects)
      if (!['PriorityClass', 'GatewayClass'].includes(kind as string)) metadata.namespace ??= 'relay';
    const [made = namespace] = ofKind(await renderWith([]), 'Namespace');
    expect(objectProblems([made, ...objects])).toEqual([]);
    expect(find(objects, 'ServiceAccount', 'relay-api')?.imagePullSecrets).toEqual([{ name: 'registry-login' }]);
  });

  it('migrates before the doors of a release start, with a service account that exists by that time', async () => {
    const objects = await chartObjects({ image, settings, monitoring: quiet });
    const weights = objects
      .filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] === 'pre-install,pre-upgrade')
      .map(({ kind, metadata }) => [`${kind}/${metadata.name}`, Number(metadata.annotations['helm.sh/hook-weight'])]);
    expect(Object.fromEntries(weights)).toEqual({ 'ServiceAccount/relay-migrate': -10, 'Job/relay-migrate': -5 });
  });

  it('rolls out a changed setting, but not a changed number of pods', async () => {
    const sums = async (values: object) =>
      ofKind(await chartObjects({ image, settings, monitoring: quiet, ...values }), 'Deployment').map(
        ({ spec }) => spec.template.metadata.annotations['checksum/settings'] as string,
      );
    const [before, changed, more] = await Promise.all([
      sums({}),
      sums({ settings: { ...settings, LOG_LEVEL: 'debug' } }),
      sums({ api: { maxReplicas: 20 } }),
    ]);
    expect(changed[0]).not.toBe(before[0]);
    expect(more).toEqual(before);
  });

  it('takes the host from PUBLIC_URL, and tags the image with its version if no digest is set', async () => {
    const [, version] = /^appVersion: (.+)$/m.exec(await readFile(join(chart, 'Chart.yaml'), 'utf8')) ?? [];
    const objects = await chartObjects({
      image: { repository: 'r.example.org/relay' },
      settings: { PUBLIC_URL: 'https://talk.example.org:8443/' },
      monitoring: quiet,
      api: { heapMiB: 512, nodeSelector: { pool: 'relay' } },
    });
    expect(find(objects, 'Gateway', 'relay')?.spec.listeners[0].hostname).toBe('talk.example.org');
    const api = find(objects, 'Deployment', 'relay-api') ?? {};
    expect(containersOf(api)[0]?.image).toBe(`r.example.org/relay:${version}`);
    expect(containersOf(api)[0]?.env).toContainEqual({ name: 'NODE_OPTIONS', value: '--max-old-space-size=512' });
    expect(api.spec.template.spec.nodeSelector).toEqual({ pool: 'relay' });
  });

  it.each([
    ['no address', { image, monitoring: quiet }, 'settings.PUBLIC_URL is missing'],
    ['no image', { settings, monitoring: quiet }, 'image.repository is missing'],
    ['no URL of the runbooks', { image, settings }, 'monitoring.runbooks is missing'],
    ['an address without TLS', { image, settings: { PUBLIC_URL: 'http://relay.example.com' } }, 'PUBLIC_URL'],
    ['a number as a setting', { image, settings: { ...settings, MAX_CONNECTIONS: 12000 } }, 'MAX_CONNECTIONS'],
    ['a secret among the settings', { image, settings: { ...settings, AUTH_SECRET: 'x' } }, 'AUTH_SECRET'],
    ['an unknown value', { image, settings, replicas: 3 }, 'replicas'],
    ['an unknown edge', { image, settings, edge: { kind: 'nginx' } }, 'edge.kind'],
    ['an invalid digest', { image: { ...image, digest: 'latest' }, settings }, 'digest'],
  ])('refuses %s and names it', async (_title, values, name) => {
    await expect(chartObjects(values)).rejects.toThrow(name);
  });

  it('passes the linter', async () => {
    const said = await helm('lint', '--strict', chart, '--set', 'image.repository=r,settings.PUBLIC_URL=https://r.example,monitoring.runbooks=https://r.example'); // prettier-ignore
    expect(said).toContain('0 chart(s) failed');
  });
});

describe('the values', () => {
  it('match the schema', async () => {
    const schema = JSON.parse(await readFile(join(chart, 'values.schema.json'), 'utf8')) as { properties: object };
    const values = await readFile(join(chart, 'values.yaml'), 'utf8');
    const named = [...values.matchAll(/^([a-zA-Z]+):/gm)].map(([, name]) => name);
    expect(Object.keys(schema.properties).filter((name) => name !== 'global')).toEqual(named);
  });
});
