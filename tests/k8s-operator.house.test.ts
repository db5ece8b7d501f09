/**
 * A new operator, from an empty folder to a rollback: the commands of docs/operations.md as printed, in their order,
 * with the real kubectl and an API server in memory.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import { type KubernetesObject, containersOf, find, ofKind, render } from '../k8s/check/index.mjs';
import { type KubernetesDouble, type Manifest, startKubernetes } from './kubernetes-double.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const digestOf = (digit: string) => `sha256:${digit.repeat(64)}`;
const own = 'k8s/overlays/mine';

describeWith('kubectl', 'docs/operations.md, followed with kubectl', () => {
  let folder: string;
  let cluster: KubernetesDouble;
  let document: string;
  let scaledObjects: Manifest[];

  /** The commands in the section of this heading: first the code blocks, then commands within sentences. */
  const linesOf = (heading: string, { alone = true, inSentences = false } = {}) => {
    const from = document.indexOf(`\n${heading}\n`) + 1;
    if (from === 0) return [`false # docs/operations.md has no ${heading}`];
    const next = document.indexOf('\n#', from);
    const section = document.slice(from, next < 0 ? undefined : next);
    const blocks = [...section.matchAll(/^( *)```sh\n(.*?)^\1```/gms)].flatMap(([, , block = '']) => block.split('\n'));
    const inline = [...section.matchAll(/`(kubectl [^`…]+)`/g)].map(([, line = '']) => line);
    return [...(alone ? blocks : []), ...(inSentences ? inline : [])]
      .map((line) => line.trim())
      .filter((line) => line !== '');
  };
  /** Runs a script that stops at the first failure; with `-c` it goes on, as in a terminal. */
  const sh = async (script: string, how: '-ec' | '-c' = '-ec') => {
    const env = { ...process.env, KUBECONFIG: join(folder, 'kubeconfig') };
    return run('bash', [how, script], { cwd: folder, env, timeout: 50_000 });
  };
  const runSentence = (heading: string, begins: string) =>
    sh(linesOf(heading, { alone: false, inSentences: true }).find((line) => line.startsWith(begins)) ?? `false # not below ${heading}: ${begins}`); // prettier-ignore

  /** Changes a file like an operator; the file must contain each text. */
  const edit = async (path: string, changes: Record<string, string>) => {
    let text = await readFile(join(folder, path), 'utf8');
    for (const [before, after] of Object.entries(changes)) {
      expect(text).toContain(before);
      text = text.replaceAll(before, after);
    }
    await writeFile(join(folder, path), text);
  };
  const upgradeTo = async (digit: string) => {
    const path = join(folder, own, 'kustomization.yaml');
    await writeFile(path, (await readFile(path, 'utf8')).replace(/sha256:[0-9a-f]{64}/, digestOf(digit)));
    return sh(linesOf('## Upgrade').join('\n'), '-c');
  };
  const images = () =>
    ['relay-api', 'relay-gateway'].map(
      (name) => containersOf(cluster.find('Deployment', name) ?? {})[0]?.image as string | undefined,
    );
  const imagesOf = (digit: string) => Array(2).fill(`registry.acme.test/relay@${digestOf(digit)}`) as string[];
  const replicas = () => ['relay-api', 'relay-gateway'].map((name) => cluster.find('Deployment', name)?.spec?.replicas);
  const writesOf = (kinds: RegExp) => cluster.writes.filter((write) => kinds.test(write));

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'relay-operator-'));
    await Promise.all([
      cp(join(root, 'k8s'), join(folder, 'k8s'), { recursive: true }),
      cp(join(root, 'scripts'), join(folder, 'scripts'), { recursive: true }),
      cp(join(root, 'package.json'), join(folder, 'package.json')),
      symlink(join(root, 'node_modules'), join(folder, 'node_modules')),
      mkdir(join(folder, 'tmp')),
    ]);
    document = (await readFile(join(root, 'docs/operations.md'), 'utf8')).replaceAll('/tmp/', `${folder}/tmp/`);
    const namespaces = ['envoy-gateway-system', 'monitoring'].map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })); // prettier-ignore
    scaledObjects = ofKind(await render(join(root, 'k8s/check/keda')), 'ScaledObject') as Manifest[];
    cluster = await startKubernetes([...(await render(join(root, 'k8s/overlays/production'))), ...namespaces, ...scaledObjects] as Manifest[]); // prettier-ignore
    for (const object of [...(namespaces as Manifest[]), ...scaledObjects]) cluster.put(object);
    await writeFile(join(folder, 'kubeconfig'), cluster.kubeconfig);
  }, 60_000);
  beforeEach(() => {
    cluster.writes.length = 0;
  });
  afterAll(async () => {
    await cluster.stop();
    await rm(folder, { recursive: true });
  });

  it('step 1: the check lists the placeholders in the copy of the overlay, and passes once they are replaced', async () => {
    const [copy = '', check = ''] = linesOf('## Install for real');
    await sh(copy);
    await expect(sh(check)).rejects.toMatchObject({ stdout: expect.stringContaining('registry.example.com') });
    await edit(`${own}/kustomization.yaml`, { 'registry.example.com': 'registry.acme.test', 'relay.example.com': 'relay.acme.test' }); // prettier-ignore
    const path = join(folder, own, 'kustomization.yaml');
    await writeFile(path, (await readFile(path, 'utf8')).replace(/sha256:[0-9a-f]{64}/, digestOf('1')));
    await edit('k8s/components/monitoring/alerts.yaml', {
      'git.example.com': 'git.acme.test',
      'grafana.example.com': 'grafana.acme.test',
    });
    expect((await sh(check)).stdout).toMatch(/^ok {3}/);
  }, 60_000);

  it('step 3: creates the namespace, the labels and the secrets', async () => {
    const lines = linesOf('## Install for real').filter((line) => /^(kubectl (apply|label|create)|install|shred) /.test(line)); // prettier-ignore
    const fill = lines.findIndex((line) => line.startsWith('install '));
    await sh(lines.slice(0, fill + 1).join('\n'));
    await edit('tmp/secrets.env', { 'AUTH_SECRET=CHANGE': `AUTH_SECRET=${'s'.repeat(64)}` });
    await sh(lines.slice(fill + 1).join('\n'));
    expect(cluster.find('Namespace', 'monitoring')?.metadata.labels).toMatchObject({ 'relay/monitoring': 'true' });
    expect(Object.keys(cluster.find('Secret', 'relay-secrets')?.data ?? {})).toEqual(expect.arrayContaining(['AUTH_SECRET', 'DATABASE_URL', 'MIGRATE_DATABASE_URL', 'REDIS_URL'])); // prettier-ignore
    expect(await readdir(join(folder, 'tmp'))).toEqual([]);
  }, 60_000);

  it('step 4: deploys everything, the migration before the doors', async () => {
    const { stdout } = await upgradeTo('1');
    expect(stdout).toContain('deployment "relay-gateway" successfully rolled out');
    const order = writesOf(/^create (Job|Deployment|ConfigMap)\//);
    const at = (kind: string) => order.findIndex((write) => write.includes(` ${kind}/`));
    expect(at('ConfigMap')).toBeGreaterThanOrEqual(0);
    expect(at('Job')).toBeGreaterThan(at('ConfigMap'));
    expect(at('Deployment')).toBeGreaterThan(at('Job'));
    expect(images()).toEqual(imagesOf('1'));
    const names = (objects: readonly KubernetesObject[]) => objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`).sort(); // prettier-ignore
    expect(names(cluster.all())).toEqual(expect.arrayContaining(names(await render(join(folder, own)))));
  }, 60_000);

  it('an upgrade with a failing migration prints its log and changes no door', async () => {
    const { jobEnds } = cluster;
    cluster.jobEnds = () => 'Failed';
    await expect(upgradeTo('2')).rejects.toMatchObject({ stderr: expect.stringMatching(/Failed\n.*Nothing was deployed/s) }); // prettier-ignore
    cluster.jobEnds = jobEnds;
    expect(images()).toEqual(imagesOf('1'));
    expect(writesOf(/ Deployment\//)).toEqual([]);
  }, 60_000);

  it('an upgrade runs the migration again, then updates the doors', async () => {
    await upgradeTo('3');
    expect(images()).toEqual(imagesOf('3'));
    expect(writesOf(/ (Job|Deployment)\//)).toEqual(['delete Job/relay-migrate', 'create Job/relay-migrate', 'patch Deployment/relay-api', 'patch Deployment/relay-gateway']); // prettier-ignore
  }, 60_000);

  it('a rollback restores the previous release, without a migration', async () => {
    await runSentence('### Roll back', 'kubectl rollout undo ');
    expect(images()).toEqual(imagesOf('1'));
    expect(writesOf(/ Job\//)).toEqual([]);
  }, 60_000);

  it('a restore scales the doors down and up again; a changed secret takes effect after a restart', async () => {
    const [shut = '', open = ''] = linesOf('## Back up and restore').filter((line) =>
      line.startsWith('kubectl scale '),
    );
    await sh(shut);
    expect(replicas()).toEqual([0, 0]);
    await sh(open);
    expect(replicas()).toEqual([3, 3]);
    // KEDA scales up a target below its minimum, unless it is paused.
    expect(scaledObjects.map(({ spec }) => spec?.minReplicaCount)).toEqual([3, 3]);
    const annotate = 'kubectl annotate scaledobject relay-api relay-gateway autoscaling.keda.sh/paused-replicas';
    const annotations = () =>
      scaledObjects.map(({ metadata }) => cluster.find('ScaledObject', metadata.name)?.metadata.annotations ?? {});
    await runSentence('## Back up and restore', `${annotate}=`);
    expect(annotations()).toEqual(Array(2).fill({ 'autoscaling.keda.sh/paused-replicas': '0' }));
    await runSentence('## Back up and restore', `${annotate}-`);
    expect(annotations()).toEqual([{}, {}]);
    await writeFile(join(folder, 'tmp/secrets.env'), 'AUTH_SECRET=new,old\n');
    await sh(linesOf('## Secrets and rotation').join('\n'));
    expect(cluster.find('Secret', 'relay-secrets')?.data).toEqual({ AUTH_SECRET: btoa('new,old') });
    await runSentence('## Secrets and rotation', 'kubectl rollout restart ');
    const restarted = cluster.find('Deployment', 'relay-api')?.spec as { template?: Manifest } | undefined;
    expect(restarted?.template?.metadata.annotations).toHaveProperty(['kubectl.kubernetes.io/restartedAt']);
  }, 60_000);

  it('the CA of CloudNativePG, copied with the commands of its section, becomes the file that doors and migration read', async () => {
    const authority = '-----BEGIN CERTIFICATE-----\nof the cluster\n-----END CERTIFICATE-----\n';
    cluster.put({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'relay-db-ca' }, data: { 'ca.crt': btoa(authority), 'ca.key': btoa('x') } }); // prettier-ignore
    const script = linesOf('### CloudNativePG').join('\n');
    // The double has one namespace.
    expect(script).toContain('--namespace postgres');
    for (let times = 0; times < 2; times += 1) await sh(script.replaceAll('--namespace postgres', '--namespace relay'));
    const data = cluster.find('ConfigMap', 'relay-ca')?.data as Record<string, string> | undefined;
    const rendered = await render(join(root, 'k8s/check/keda'));
    for (const [kind, name] of [
      ['Deployment', 'relay-api'],
      ['Deployment', 'relay-gateway'],
      ['Job', 'relay-migrate'],
    ] as const) {
      // prettier-ignore
      const object = find(rendered, kind, name) ?? {};
      const [{ env = [], volumeMounts = [] } = {}] = containersOf(object) as { env?: { name: string; value?: string }[]; volumeMounts?: { name: string; mountPath: string }[] }[]; // prettier-ignore
      const volumes = object.spec.template.spec.volumes as { name: string; configMap?: { name: string } }[];
      const volume = volumes.find(({ configMap }) => configMap?.name === 'relay-ca')?.name;
      const mounted = volumeMounts.find((mount) => mount.name === volume)?.mountPath ?? '';
      const file = env.find((variable) => variable.name === 'NODE_EXTRA_CA_CERTS')?.value ?? '';
      expect(file.startsWith(`${mounted}/`)).toBe(true);
      expect(data?.[file.slice(mounted.length + 1)]).toBe(authority);
    }
  }, 60_000);

  it('after the loss of a zone, a higher minimum of the autoscaler adds gateways and keeps them', async () => {
    const text = await readFile(join(root, 'docs/situations.md'), 'utf8');
    const section = /^## A zone is lost\n[^]*?(?=^## )/m.exec(text)?.[0] ?? '';
    const lines = [...section.matchAll(/`(kubectl patch [^`]+)`/g)].map(([, line = '']) =>
      line.replace(/<[^>]*>/, '12'),
    );
    expect(section).not.toMatch(/`kubectl scale [^`]*--replicas/);
    for (const line of lines) await sh(line);
    expect(cluster.find('HorizontalPodAutoscaler', 'relay-gateway')?.spec?.minReplicas).toBe(12);
    expect(cluster.find('ScaledObject', 'relay-gateway')?.spec?.minReplicaCount).toBe(12);
  }, 60_000);

  it('KEDA takes over after the autoscalers of the base are deleted, which its admission requires', async () => {
    const autoscalers = () =>
      scaledObjects.map(({ metadata }) => cluster.find('HorizontalPodAutoscaler', metadata.name));
    expect(autoscalers()).not.toContain(undefined);
    await runSentence('## Scale by hand', 'kubectl delete hpa ');
    expect(autoscalers()).toEqual([undefined, undefined]);
    expect(replicas()).toEqual([3, 3]);
  }, 60_000);
});
