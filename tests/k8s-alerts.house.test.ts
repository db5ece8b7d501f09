/** Promise: every alert of k8s/ fires exactly when it should, checked against k8s/check/*.cases.yaml. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { itWith } from '@relay/testing/needs';
import { parse } from 'yaml';
import { durationMs, firing, readSeries } from '../k8s/check/index.mjs';

const k8s = fileURLToPath(new URL('../k8s', import.meta.url));
const everyMs = 60_000;

interface Rule {
  alert: string;
  expr: string;
  for: string;
  labels: Record<string, string>;
}
interface Moment {
  eval_time: string;
  alertname: string;
  exp_alerts?: { exp_labels: Record<string, string> }[];
}
interface Case {
  name: string;
  interval: string;
  input_series: { series: string; values: string }[];
  alert_rule_test: Moment[];
}

const read = async (file: string): Promise<unknown> => parse(await readFile(join(k8s, file), 'utf8'));

const sorted = (alerts: Record<string, string>[]) =>
  alerts.map((labels) => JSON.stringify(Object.entries(labels).sort())).sort();
const rule = (expr: string): Rule => ({ alert: 'Any', expr, for: '0m', labels: {} });

describe.each([
  [
    'the relay',
    'components/monitoring',
    ['check/alerts.cases.yaml', 'check/alerts-of-days.cases.yaml'],
    ['RelayDoorMissing'],
  ],
  ['dependencies', 'components/monitoring-neighbours', ['check/neighbours.cases.yaml'], []],
])('the alerts of %s', (_, component, caseFiles, ofWhatIsMissing) => {
  let rules: Map<string, Rule>;
  let cases: (Case & { everyMs: number })[];
  beforeAll(async () => {
    const { spec } = (await read(`${component}/alerts.yaml`)) as { spec: { groups: { rules: Rule[] }[] } };
    rules = new Map(spec.groups.flatMap((group) => group.rules).map((rule) => [rule.alert, rule]));
    const files = (await Promise.all(caseFiles.map(read))) as { evaluation_interval: string; tests: Case[] }[];
    cases = files.flatMap(({ evaluation_interval: every, tests }) =>
      tests.map((one) => ({ ...one, everyMs: durationMs(every) })),
    );
  });

  it('fire at the moments of the cases with these labels, and at no other', () => {
    const wrong = cases.flatMap(({ name, everyMs, interval, input_series: input, alert_rule_test: moments }) => {
      const series = input.map((one) => readSeries(one, durationMs(interval)));
      return moments.flatMap(({ eval_time: at, alertname, exp_alerts: expected = [] }) => {
        const got = sorted(firing(rules.get(alertname)!, series, durationMs(at), everyMs));
        const wanted = sorted(expected.map((alert) => alert.exp_labels));
        return got.join() === wanted.join() ? [] : [`${name}, ${alertname} at ${at}: ${got.join()}`];
      });
    });
    expect(wrong).toEqual([]);
  });

  it('each fire in one case and stay silent in another', () => {
    const moments = cases.flatMap((one) => one.alert_rule_test);
    const names = (fires: boolean) =>
      new Set(moments.flatMap(({ alertname, exp_alerts: alerts }) => (!alerts !== fires ? [alertname] : [])));
    expect([...names(true)].sort()).toEqual([...rules.keys()].sort());
    expect([...names(false)].sort()).toEqual([...rules.keys()].sort());
  });

  it('need their series: without data, only the alert about missing metrics fires', () => {
    const fired = [...rules.values()].filter((one) => firing(one, [], durationMs('3h'), everyMs).length > 0);
    expect(fired.map(({ alert }) => alert)).toEqual(ofWhatIsMissing);
  });

  itWith(
    'prometheus',
    'give the same results in promtool',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'relay-rules-'));
      try {
        const { spec } = (await read(`${component}/alerts.yaml`)) as { spec: object };
        // This test does not compare texts for people.
        const texts = (key: string, value: unknown) => (key === 'annotations' ? undefined : value);
        await writeFile(join(folder, 'rules.yaml'), JSON.stringify(spec, texts));
        // promtool needs minutes for a week of samples.
        for (const file of caseFiles.filter((one) => !one.includes('of-days'))) {
          const text = (await read(file)) as object;
          await writeFile(join(folder, 'cases.yaml'), JSON.stringify({ ...text, rule_files: ['rules.yaml'] }));
          const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', 'cases.yaml'], {
            cwd: folder,
            encoding: 'utf8',
          });
          expect({ file, status, output: status === 0 ? '' : stdout + stderr }).toEqual({
            file,
            status: 0,
            output: '',
          });
        }
      } finally {
        await rm(folder, { recursive: true });
      }
    },
    300_000,
  );
});

describe('the evaluation of queries', () => {
  const at = (expr: string, ...input: [series: string, values: string][]) =>
    firing(
      rule(expr),
      input.map(([series, values]) => readSeries({ series, values }, everyMs)),
      durationMs('10m'),
      everyMs,
    );

  it.each([
    ['a counter that restarted has not decreased', 'rate(c[5m]) > 0.7', 'c', '0+60x5 0+60x5', true],
    ['a sample is valid for five minutes', 'g == 1', 'g', '1x5 _x9', true],
    ['a sample is invalid after five minutes', 'g == 1', 'g', '1x3 _x9', false],
    ['a stale series has no value', 'g == 1', 'g', '1x9 stale', false],
    ['multiplication binds closer than comparison', 'g > 2 * 3', 'g', '7x10', true],
    ['a regular expression must match the whole value', 'g{a=~"b|c"} > 0', 'g{a="bc"}', '1x10', false],
    ['a negation matches a series without that label', 'g{a!="b"} > 0', 'g', '1x10', true],
    ['offset reads an earlier value', 'g < 0.5 * (g offset 5m)', 'g', '10x5 4x9', true],
  ])('%s', (_, expr, series, values, fires) => {
    expect(at(expr, [series, values])).toHaveLength(fires ? 1 : 0);
  });

  it('refuses unknown expressions', () => {
    for (const expr of ['deriv(g[5m]) > 0', 'g[5m]', 'g >', 'sum by (a) g', 'g > 1 2', 'g ? 1'])
      expect(() => at(expr, ['g', '1x10'])).toThrow(SyntaxError);
  });
});
