/** Promise: every alert of k8s/ fires when it should and is quiet when it should be, by k8s/check/*.cases.yaml. */
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
  ['what it needs', 'components/monitoring-neighbours', ['check/neighbours.cases.yaml'], []],
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

  it('fire at the moments of the cases, with these labels, and at the others do not', () => {
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

  it('are each seen firing, and each seen quiet', () => {
    const moments = cases.flatMap((one) => one.alert_rule_test);
    const names = (fires: boolean) =>
      new Set(moments.flatMap(({ alertname, exp_alerts: alerts }) => (!alerts !== fires ? [alertname] : [])));
    expect([...names(true)].sort()).toEqual([...rules.keys()].sort());
    expect([...names(false)].sort()).toEqual([...rules.keys()].sort());
  });

  it('are compared with values that are really there: without its series none but the one for what is missing fires', () => {
    const fired = [...rules.values()].filter((one) => firing(one, [], durationMs('3h'), everyMs).length > 0);
    expect(fired.map(({ alert }) => alert)).toEqual(ofWhatIsMissing);
  });

  itWith(
    'prometheus',
    'are the same in promtool',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'relay-rules-'));
      try {
        const { spec } = (await read(`${component}/alerts.yaml`)) as { spec: object };
        // Texts for people are not compared here.
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
    ['a counter that began again has not shrunk', 'rate(c[5m]) > 0.7', 'c', '0+60x5 0+60x5', true],
    ['a sample is believed for five minutes', 'g == 1', 'g', '1x5 _x9', true],
    ['and not for longer', 'g == 1', 'g', '1x3 _x9', false],
    ['what is gone is gone at once', 'g == 1', 'g', '1x9 stale', false],
    ['multiplication binds closer than comparison', 'g > 2 * 3', 'g', '7x10', true],
    ['an expression is matched as a whole', 'g{a=~"b|c"} > 0', 'g{a="bc"}', '1x10', false],
    ['a negation lets through what has no such label', 'g{a!="b"} > 0', 'g', '1x10', true],
    ['the past is read with offset', 'g < 0.5 * (g offset 5m)', 'g', '10x5 4x9', true],
  ])('%s', (_, expr, series, values, fires) => {
    expect(at(expr, [series, values])).toHaveLength(fires ? 1 : 0);
  });

  it('refuses what it does not know', () => {
    for (const expr of ['deriv(g[5m]) > 0', 'g[5m]', 'g >', 'sum by (a) g', 'g > 1 2', 'g ? 1'])
      expect(() => at(expr, ['g', '1x10'])).toThrow(SyntaxError);
  });
});
