/**
 * Promise: the tables of sizes in docs/operations.md equal the output of the model, and the model follows the given
 * rates.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import { type KubernetesObject, containersOf, find, overlays, render } from '../k8s/check/index.mjs';

interface Size {
  daemons: number;
  gateways: number;
  apis: number;
  statementsPerSecond: number;
  redisShards: number;
}

const file = fileURLToPath(new URL('../bench/model.mjs', import.meta.url));
const model = async (...words: string[]) => (await promisify(execFile)(process.execPath, [file, ...words])).stdout;
const sizes = async (...words: string[]) => (JSON.parse(await model('--json', ...words)) as { sizes: Size[] }).sizes;

describe('the sizing model', () => {
  it('prints the tables of docs/operations.md', async () => {
    const page = await readFile(new URL('../docs/operations.md', import.meta.url), 'utf8');
    expect(page).toContain(`<!-- prettier-ignore -->\n${await model()}\n<!-- model: end -->`);
  });

  it('shows the limit of one Redis', async () => {
    const [, redis = ''] = /up to ([\d,]+)/.exec(await model()) ?? [];
    const around = [0.95, 1.05].map((share) => Number(redis.replaceAll(',', '')) * share).join();
    expect((await sizes('--daemons', around)).map(({ redisShards }) => redisShards)).toEqual([1, 2]);
  });

  it('simulates faults with the figures of docs/performance.md, and prints the table of docs/operations.md', async () => {
    const faults = fileURLToPath(new URL('../bench/faults.mjs', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [faults]);
    expect(stdout.trim().split('\n')).toHaveLength(7);
    const page = await readFile(new URL('../docs/operations.md', import.meta.url), 'utf8');
    expect(page).toContain(`<!-- prettier-ignore -->\n${stdout}\n<!-- /faults -->`);
  });

  it('returns larger sizes for higher rates', async () => {
    const usual = await sizes('--daemons', '1000000');
    const busy = await sizes('--daemons', '1000000', '--turns', '4000', '--requests', '1000', '--reports', '800');
    for (const name of ['gateways', 'apis', 'statementsPerSecond', 'redisShards'] as const)
      expect(busy[0]![name]).toBeGreaterThan(usual[0]![name]);
  });

  it('refuses a rate that is not a number', async () => {
    await expect(model('--turns', 'many')).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(/--turns/) });
    expect(await model('--help')).toMatch(/--turns[\s\S]*--json/);
  });
});

describeWith('kubectl', 'pods and autoscalers', () => {
  let page: string;
  let production: KubernetesObject[];
  let keda: KubernetesObject[];
  beforeAll(async () => {
    page = await readFile(new URL('../docs/operations.md', import.meta.url), 'utf8');
    production = await render(overlays[1] ?? '');
    keda = await render(fileURLToPath(new URL('../k8s/check/keda', import.meta.url)));
  });

  const numbersIn = (pattern: RegExp) =>
    (pattern.exec(page) ?? []).slice(1).map((text) => Number(text.replaceAll(',', '')));
  const mebibytes = (quantity: string) =>
    Number.parseInt(quantity) * (quantity.endsWith('Gi') ? 1024 : quantity.endsWith('Mi') ? 1 : Number.NaN);
  const trigger = (name: string, type: string) =>
    (find(keda, 'ScaledObject', name)?.spec.triggers as KubernetesObject[]).find((one) => one.type === type)
      ?.metadata as Record<string, string> | undefined;

  const doors = [
    {
      door: 'gateway',
      formula: /\| gateways \| .*⌈ daemons ÷ ([\d,]+) ⌉/,
      memory:
        /\| memory of a gateway \| [\d,]+ MB \+ daemons × 40 KB \(([\d,]+): ([\d,]+) MB\)(); limit (\d+) GiB, heap (\d+) MiB/,
      limitUnit: 1024,
    },
    {
      door: 'api',
      formula: /\| apis \| .*⌈ apps ÷ ([\d,]+) ⌉/,
      memory:
        /\| memory of an api \| [\d,]+ MB \+ apps × 40 KB \(([\d,]+): ([\d,]+) MB\), and ([\d,]+) MB for bursts; limit (\d+) MiB, heap (\d+) MiB/,
      limitUnit: 1,
    },
  ];

  it.each(doors)(
    'of the $door request the memory and the processor that Sizing plans',
    ({ door, memory, limitUnit }) => {
      const name = `relay-${door}`;
      const [each = NaN, planned = NaN, burst = NaN, limit = NaN, heap = NaN] = numbersIn(memory);
      const [container] = containersOf(find(production, 'Deployment', name) ?? {});
      const { requests, limits } = container?.resources as Record<string, { cpu: string; memory: string }>;
      expect(each).toBe(Number(trigger(name, 'prometheus')?.threshold));
      expect(mebibytes(requests!.memory) * 2 ** 20).toBeGreaterThanOrEqual((planned + burst) * 1e6);
      expect(mebibytes(limits!.memory)).toBe(limit * limitUnit);
      expect(container?.env).toContainEqual({ name: 'NODE_OPTIONS', value: `--max-old-space-size=${heap}` });
      // A target of 100 % of the request: on average, autoscalers let pods use no more than their guaranteed share.
      const autoscaler = find(production, 'HorizontalPodAutoscaler', name)?.spec.metrics as KubernetesObject[];
      const target = autoscaler.find(({ resource }) => resource?.name === 'cpu')?.resource.target.averageUtilization;
      expect([target, Number(trigger(name, 'cpu')?.value)]).toEqual([100, 100]);
    },
  );

  it('scale at the numbers of sockets in Sizing, up to the limits in Scale by hand', () => {
    const [each, gateways, apis, daemons, apps] = [
      ...numbersIn(/the number of gateways follows the daemons and the number of apis the apps, ([\d,]+) each/),
      ...numbersIn(/`maxReplicas` of (\d+) gateways and (\d+) apis are ([\d,]+) daemons and ([\d,]+) apps/),
    ];
    expect([daemons, apps]).toEqual([each! * gateways!, each! * apis!]);
    for (const { door, formula } of doors) {
      const name = `relay-${door}`;
      expect([each, ...numbersIn(formula)]).toEqual(Array(2).fill(Number(trigger(name, 'prometheus')?.threshold)));
      const most = door === 'api' ? apis : gateways;
      expect(find(keda, 'ScaledObject', name)?.spec.maxReplicaCount).toBe(most);
      const autoscaler = find(production, 'HorizontalPodAutoscaler', name)?.spec;
      expect([autoscaler.maxReplicas, autoscaler.minReplicas]).toEqual([most, find(keda, 'ScaledObject', name)?.spec.minReplicaCount]); // prettier-ignore
    }
  });

  it('cost in the tables as much as they request', async () => {
    const text = await readFile(file, 'utf8');
    for (const door of ['gateway', 'api']) {
      const [container] = containersOf(find(production, 'Deployment', `relay-${door}`) ?? {});
      const { requests, limits } = container?.resources as Record<string, { cpu: string; memory: string }>;
      const [cores, gib] = [Number.parseInt(requests!.cpu) / 1000, mebibytes(limits!.memory) / 1024];
      expect(text).toContain(`  ${door}: { cores: ${cores}, gib: ${gib} },`);
    }
  });
});
