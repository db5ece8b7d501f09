/**
 * Helm installs, upgrades and rolls back the chart: with the commands of docs/operations.md as printed, against an API
 * server in memory.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { type Child, findProgram, freePort, startProgram } from '@relay/testing';
import { describeWith } from '@relay/testing/needs';
import { type KubernetesObject, chartObjects, containersOf } from '../k8s/check/index.mjs';
import { type KubernetesDouble, type Manifest, startKubernetes } from './kubernetes-double.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));

describeWith('helm', 'Helm', () => {
  const values = (digest: string, more: object = {}) => ({
    image: { repository: 'registry.example.com/relay', digest: `sha256:${digest.repeat(64)}` },
    settings: { PUBLIC_URL: 'https://relay.example.com' },
    monitoring: { runbooks: 'https://git.example.com/relay/blob/main/docs/runbooks' },
    ...more,
  });

  let folder: string;
  let cluster: KubernetesDouble;
  let documented: string[];

  /** A command of the document, in a folder with the chart and `my-values.yaml`. */
  const runLine = async (begins: string, { change = (line: string) => line } = {}) => {
    const line = documented.find((text) => text.startsWith(begins)) ?? `false # not in docs/operations.md: ${begins}`;
    const env = { ...process.env, KUBECONFIG: join(folder, 'kubeconfig') };
    const { stdout } = await run('sh', ['-c', change(line)], { cwd: folder, env, timeout: 50_000 });
    return stdout;
  };
  const upgrade = async (of: object) => {
    await writeFile(join(folder, 'my-values.yaml'), JSON.stringify(of));
    return runLine('helm upgrade');
  };
  const images = () =>
    ['relay-api', 'relay-gateway'].map(
      (name) => containersOf(cluster.find('Deployment', name) ?? {})[0]?.image as string,
    );
  const imagesOf = (digest: string) =>
    Array(2).fill(`registry.example.com/relay@sha256:${digest.repeat(64)}`) as string[];
  const jobs = () => cluster.writes.filter((write) => write.endsWith(' Job/relay-migrate'));

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'relay-helm-'));
    await symlink(join(root, 'k8s'), join(folder, 'k8s'));
    documented = [...(await readFile(join(root, 'docs/operations.md'), 'utf8')).matchAll(/^ *(helm .+)$|`(helm [^`]+)`/gm)]
      .map(([, alone, inline]) => alone ?? inline ?? ''); // prettier-ignore
    cluster = await startKubernetes((await chartObjects(values('1'))) as Manifest[]);
    await writeFile(join(folder, 'kubeconfig'), cluster.kubeconfig);
  });
  beforeEach(() => {
    cluster.writes.length = 0;
  });
  afterAll(async () => {
    await cluster.stop();
    await rm(folder, { recursive: true });
  });

  it('deploys nothing when the migration lacks its Secret', async () => {
    await expect(upgrade(values('1'))).rejects.toThrow(/pre-install.*job relay-migrate failed/s);
    expect(cluster.find('Deployment', 'relay-api')).toBeUndefined();
  });

  it('installs everything, the migration first', async () => {
    cluster.put({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'relay-secrets' }, data: {} });
    expect(await upgrade(values('2'))).toContain('STATUS: deployed');
    const order = cluster.writes.filter((write) => /^create (Job|Deployment)\//.test(write));
    expect([order[0], order.length]).toEqual(['create Job/relay-migrate', 3]);
    expect(images()).toEqual(imagesOf('2'));
    const expected = await chartObjects(values('2'));
    const names = (objects: readonly KubernetesObject[]) => objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`).sort(); // prettier-ignore
    expect(names(cluster.all())).toEqual(names(expected));
    for (const { kind, metadata, spec, data } of expected)
      expect(cluster.find(kind as string, metadata.name as string)).toMatchObject(
        JSON.parse(JSON.stringify({ spec, data })) as object,
      );
  });

  it('changes nothing when the migration of an upgrade fails', async () => {
    const { jobEnds } = cluster;
    cluster.jobEnds = () => 'Failed';
    await expect(upgrade(values('3'))).rejects.toThrow(/pre-upgrade.*job relay-migrate failed/s);
    cluster.jobEnds = jobEnds;
    expect(images()).toEqual(imagesOf('2'));
    expect(cluster.writes.filter((write) => / (Deployment|ConfigMap|Service)\//.test(write))).toEqual([]);
  });

  it('upgrades after the migration, and removes disabled objects', async () => {
    expect(cluster.find('Gateway', 'relay')).toBeDefined();
    await upgrade(values('4', { edge: { kind: 'none' }, settings: { PUBLIC_URL: 'https://relay.example.com', LOG_LEVEL: 'debug' } })); // prettier-ignore
    expect(images()).toEqual(imagesOf('4'));
    expect(cluster.find('ConfigMap', 'relay-config')?.data).toMatchObject({ LOG_LEVEL: 'debug' });
    expect(cluster.find('Gateway', 'relay')).toBeUndefined();
    expect(jobs()).toEqual(['delete Job/relay-migrate', 'create Job/relay-migrate']);
  });

  it('rolls back to the previous release, without a migration', async () => {
    const history = await runLine('helm history');
    const superseded = [...history.matchAll(/^(\d+) .*\bsuperseded\b/gm)].at(-1)?.[1] ?? 'none';
    await runLine('helm rollback', { change: (line) => line.replace('REVISION', superseded) });
    expect(images()).toEqual(imagesOf('2'));
    expect(cluster.find('ConfigMap', 'relay-config')?.data).not.toHaveProperty('LOG_LEVEL');
    expect(cluster.find('Gateway', 'relay')).toBeDefined();
    expect(jobs()).toEqual([]);
  });

  it('changes nothing that kubectl created, except with --take-ownership', async () => {
    const made = (await chartObjects(values('1'))) as Manifest[];
    const other = await startKubernetes(made);
    try {
      for (const object of made) other.put(object);
      other.put({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'relay-secrets' }, data: {} });
      await writeFile(join(folder, 'other'), other.kubeconfig);
      await writeFile(join(folder, 'my-values.yaml'), JSON.stringify(values('6')));
      const image = () => containersOf(other.find('Deployment', 'relay-api') ?? {})[0]?.image as string;
      const there = (line: string) => `${line} --kubeconfig other`;
      await expect(runLine('helm upgrade', { change: there })).rejects.toThrow('invalid ownership metadata');
      expect([image(), other.writes.filter((write) => !write.includes(' Secret/'))]).toEqual([imagesOf('1')[0], []]);
      const [option] = /--take-ownership/.exec(await readFile(join(root, 'docs/operations.md'), 'utf8')) ?? [];
      await runLine('helm upgrade', { change: (line) => `${there(line)} ${option}` });
      expect(image()).toBe(imagesOf('6')[0]);
    } finally {
      await other.stop();
    }
  });

  describeWith('docker-registry', 'in a registry', () => {
    let registry: Child;
    let address: string;
    beforeAll(async () => {
      const port = await freePort();
      address = `127.0.0.1:${port}`;
      const config = { version: 0.1, storage: { filesystem: { rootdirectory: join(folder, 'registry') } }, http: { addr: address } }; // prettier-ignore
      await writeFile(join(folder, 'registry.json'), JSON.stringify(config));
      registry = startProgram(findProgram('docker-registry', 'docker-registry'), [
        'serve',
        join(folder, 'registry.json'),
      ]);
      await registry.wrote(/listening on/);
    });
    afterAll(() => registry.end('SIGTERM'));
    /** The registry of the test uses plain HTTP. */
    const here = (line: string) => `${line.replace('registry.example.com', address)} --plain-http`;

    it('renders the same from the registry as from the folder', async () => {
      await runLine('helm package');
      await runLine('helm push', { change: here });
      const [from, there] = ['k8s/chart', `oci://${address}/charts/relay --version 1.0.0 --plain-http`];
      await writeFile(join(folder, 'my-values.yaml'), JSON.stringify(values('5')));
      const rendered = async (chart: string) =>
        runLine('helm upgrade', { change: (line) => line.replace('upgrade --install', 'template').replace(/ --wait.*/, '').replace(from, chart) }); // prettier-ignore
      const local = await rendered(from);
      expect(local).toContain(imagesOf('5')[0]);
      expect(await rendered(there)).toBe(local);
    });
  });
});
