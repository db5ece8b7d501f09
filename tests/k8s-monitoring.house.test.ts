/**
 * Alerts and dashboard: every query uses metrics that a running relay exports, and a query uses every exported metric.
 */
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { describeWith } from '@relay/testing/needs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type PushReceiver,
  type RelayProcess,
  connectApp,
  connectDaemon,
  freePort,
  startPushReceiver,
  startRelayProcess,
} from '@relay/testing';
import { parse } from 'yaml';
import {
  type Exported,
  type KubernetesObject,
  find,
  ofKind,
  overlays,
  queryProblems,
  readExposition,
  readQuery,
  render,
} from '../k8s/check/index.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const monitoring = join(root, 'k8s/components/monitoring');

interface Rule {
  alert: string;
  expr: string;
  for: string;
  labels: { severity: string };
  annotations: { summary: string; description: string; runbook_url: string; dashboard_url: string };
}
interface Panel {
  title: string;
  type: string;
  targets?: { expr: string; legendFormat: string }[];
}

let rules: Rule[];
/** Alerts about PostgreSQL, Redis and other dependencies, whose metrics come from elsewhere. */
let neighbours: Rule[];
let panels: Panel[];
let dashboardUid: string;

beforeAll(async () => {
  const rulesOf = async (folder: string) => {
    const { spec } = parse(await readFile(join(folder, 'alerts.yaml'), 'utf8')) as {
      spec: { groups: { rules: Rule[] }[] };
    };
    return spec.groups.flatMap((group) => group.rules);
  };
  rules = await rulesOf(monitoring);
  neighbours = await rulesOf(`${monitoring}-neighbours`);
  const dashboard = await readFile(join(monitoring, 'dashboard.json'), 'utf8');
  ({ panels, uid: dashboardUid } = JSON.parse(dashboard) as { panels: Panel[]; uid: string });
});

describeWith('kubectl', 'the queries', () => {
  let relay: RelayProcess;
  let receiver: PushReceiver;
  let exported: Exported;
  let metricsPort: number;
  let folder: string;

  const read = async () => readExposition(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text());

  beforeAll(async () => {
    metricsPort = await freePort();
    receiver = await startPushReceiver();
    folder = await mkdtemp(join(tmpdir(), 'relay-authority-'));
    await writeFile(join(folder, 'ca.crt'), rootCertificates[0] ?? '');
    relay = await startRelayProcess({
      env: {
        METRICS_PORT: String(metricsPort),
        PING_INTERVAL_MS: '200',
        DRAIN_SECONDS: '0',
        PUSH_ALLOWED_HOSTS: receiver.host,
        NODE_EXTRA_CA_CERTS: join(folder, 'ca.crt'),
        // This collector does not exist: the relay counts the lost spans.
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      },
    });
    // A metric with labels appears only after its first event.
    await fetch(`${relay.url}/ready`);
    await relay.call('readSession', { params: { id: 'nobody' } });
    await expect(connectDaemon(relay, { headers: { Authorization: 'Bearer no' } })).rejects.toThrow();
    await expect(connectApp(relay, { token: 'no' })).rejects.toThrow();
    const tool = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_sessions', arguments: { status: 1 } } }; // prettier-ignore
    const asAgent = {
      Accept: 'application/json, text/event-stream',
      Authorization: `Bearer ${relay.token('alice', { scopes: ['agents:drive'] })}`,
    };
    await relay.call('POST', '/mcp', { user: null, headers: asAgent, body: tool });
    const app = await connectApp(relay, { since: '' });
    const daemon = await connectDaemon(relay);
    daemon.send({ type: 'unheard_of' });
    const { body } = await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'hello' } });
    const start = await daemon.next('task_start');
    daemon.event(start.task_id as string, 'SESSION_STARTED', { session_id: 'native' });
    daemon.event(start.task_id as string, 'TASK_COMPLETE', { result: 'done' });
    await app.next('new_message', (frame) => (frame.message as { role: string }).role === 'AGENT');
    const history = relay.call('readMessages', { params: { id: body.id } });
    const asked = await daemon.next('get_messages');
    daemon.send({
      type: 'messages',
      request_id: asked.request_id,
      session_id: 'native',
      messages: [],
      has_more: false,
    });
    await history;
    const address = { kind: 'ntfy', topic: 'monitoring', url: receiver.url } as const;
    const { subscription } = (await relay.call('addSubscription', { body: address })).body;
    await relay.call('testSubscription', { params: { id: subscription.id } });
    await app.close();
    await daemon.close();
    const seen = async (name: string, label: string) => (await read()).get(name)?.has(label) === true;
    const deadline = Date.now() + 20_000;
    const late = [
      ['relay_push_deliveries_total', 'kind'],
      ['relay_push_seconds_bucket', 'kind'],
      ['relay_push_subscriptions', 'kind'],
      ['relay_daemon_closes_total', 'code'],
      ['relay_devices', 'state'],
      ['relay_app_closes_total', 'code'],
      ['nodejs_gc_duration_seconds', 'kind'],
    ] as const;
    for (const [name, label] of late)
      while (!(await seen(name, label)) && Date.now() < deadline)
        await new Promise((resolve) => setTimeout(resolve, 50));
    exported = await read();
    // These appear only with a TLS address, and only with several instances: certificate.machine.test.ts and
    // installation.machine.test.ts cover them.
    for (const name of ['relay_certificate_ends_timestamp_seconds', 'relay_redis_foreign'])
      exported.set(name, new Set(['instance']));
  }, 180_000);
  afterAll(async () => {
    await relay.end('SIGTERM');
    await receiver.close();
    await rm(folder, { recursive: true });
  });

  it('of every alert use exported metrics', () => {
    expect(rules.length).toBeGreaterThan(15);
    expect(rules.flatMap(({ expr }) => queryProblems(expr, exported))).toEqual([]);
  });

  it('of every panel use exported metrics, and their legends use labels that remain', () => {
    const targets = panels.flatMap((panel) => panel.targets ?? []);
    expect(targets.length).toBeGreaterThan(40);
    expect(targets.flatMap(({ expr }) => queryProblems(expr, exported))).toEqual([]);
    const unknown = targets.filter(({ expr, legendFormat }) => {
      const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
      const { metrics, grouped } = readQuery(expr, exported);
      const aggregated = /^(sum|count|min|max|histogram_quantile)\b/.test(expr);
      const left = aggregated ? grouped : ['pod', ...metrics.flatMap(({ name }) => [...(exported.get(name) ?? [])])];
      return shown.some((label) => !left.includes(label));
    });
    expect(unknown).toEqual([]);
  });

  it('of KEDA use exported metrics: the sockets of each door', async () => {
    const asked = ofKind(await render(join(root, 'k8s/check/keda')), 'ScaledObject').map(({ spec }) => [
      spec.scaleTargetRef.name as string,
      spec.triggers[0].metadata.query as string,
    ]);
    expect(asked).toEqual([
      ['relay-api', 'sum(relay_app_connections{job="relay"})'],
      ['relay-gateway', 'sum(relay_daemon_connections{job="relay"})'],
    ]);
    expect(asked.flatMap(([, query = '']) => queryProblems(query, exported))).toEqual([]);
  });

  it('fail this check with unknown metrics or labels', () => {
    expect(queryProblems('sum(relay_daemon_conections)', exported)).toHaveLength(1);
    expect(queryProblems('rate(relay_app_closes_total{reason="x"}[5m])', exported)).toHaveLength(1);
    expect(queryProblems('sum by (reason) (relay_app_closes_total)', exported)).toHaveLength(1);
    expect(queryProblems('relay_http_request_seconds_bucket{le="1",path="/"} > 1', exported)).toHaveLength(1);
    expect(queryProblems('1 > bool 0', exported)).toHaveLength(1);
    expect(
      queryProblems('sum by (le) (rate(relay_http_request_seconds_bucket{route="/"}[5m] offset 1h))', exported),
    ).toEqual([]);
  });

  it('use every metric that the relay exports', () => {
    const queries = [
      ...rules.map(({ expr }) => expr),
      ...panels.flatMap((panel) => panel.targets ?? []).map(({ expr }) => expr),
    ];
    const asked = new Set(queries.flatMap((query) => readQuery(query, exported).metrics.map(({ name }) => name)));
    expect([...exported.keys()].filter((name) => name.startsWith('relay_') && !asked.has(name))).toEqual([]);
  });
});

describe('the metrics of the relay', () => {
  /** The names in the code; `${…}` stands for any word. */
  async function registered(): Promise<string[]> {
    const names: string[] = [];
    for (const kind of ['apps', 'packages'])
      for (const room of await readdir(join(root, kind)))
        for (const file of await readdir(join(root, kind, room, 'src'), { recursive: true }).catch(() => [])) {
          if (!file.endsWith('.ts')) continue;
          const code = await readFile(join(root, kind, room, 'src', file), 'utf8');
          for (const [, name = ''] of code.matchAll(
            /(?:\.(?:counter|gauge|histogram)\(|\bname:)\s*['`](relay_[^'`]+)/g,
          ))
            names.push(name);
        }
    return names;
  }

  it('are each in a panel or an alert, including metrics that need an event first', async () => {
    const asked = [...rules, ...panels.flatMap((panel) => panel.targets ?? [])].map(({ expr }) => expr).join('\n');
    const names = await registered();
    expect(names).toEqual(expect.arrayContaining(['relay_trace_spans_lost_total', 'relay_${name}_closes_total']));
    expect(names.length).toBeGreaterThan(40);
    const isAsked = (name: string) =>
      new RegExp(`\\b${name.replace(/\$\{\w+\}/, '[a-z]+')}(?:_bucket|_sum|_count)?\\b`).test(asked);
    expect(names.filter((name) => !isAsked(name))).toEqual([]);
  });
});

describeWith('kubectl', 'every alert', () => {
  it('has a summary, a severity, a duration and a link to its runbook', () => {
    for (const { alert, labels, annotations, for: lasting } of [...rules, ...neighbours]) {
      expect(alert).toMatch(/^Relay[A-Z]/);
      expect(labels.severity).toMatch(alert === 'RelayWatchdog' ? /^none$/ : /^(critical|warning)$/);
      expect(lasting).toMatch(/^\d+[mh]$/);
      expect(annotations.summary.length).toBeGreaterThan(10);
      expect(annotations.description.length).toBeGreaterThan(10);
      expect(annotations.runbook_url).toMatch(new RegExp(`/docs/runbooks/${alert}\\.md$`));
      expect(annotations.dashboard_url).toBe(`https://grafana.example.com/d/${dashboardUid}`);
    }
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  });

  it('has a runbook, and every runbook an alert', async () => {
    const folder = join(root, 'docs/runbooks');
    const pages = (await readdir(folder)).filter((name) => name.startsWith('Relay'));
    expect(pages.sort()).toEqual([...rules, ...neighbours].map(({ alert }) => `${alert}.md`).sort());
    for (const page of pages) {
      const text = await readFile(join(folder, page), 'utf8');
      expect(text).toMatch(new RegExp(`^# ${page.replace('.md', '')}\n`));
      for (const heading of ['## What it means', '## Look', '## Do']) expect(text).toContain(heading);
      expect({ page, isOver: /^- It is over when /m.test(text) }).toEqual({ page, isOver: true });
    }
    const index = await readFile(join(folder, 'README.md'), 'utf8');
    for (const page of pages) expect(index).toContain(`(${page})`);
  });

  it('has a runbook that uses the titles of dashboard panels', async () => {
    const folder = join(root, 'docs/runbooks');
    const titles = new Set(['Relay', ...panels.map(({ title }) => title)]);
    for (const page of await readdir(folder)) {
      const paragraphs = (await readFile(join(folder, page), 'utf8'))
        .replace(/`[^`]*`/g, '')
        .split(/\n(?=\n|- |\d\. )/);
      const named = paragraphs
        .filter((paragraph) => /dashboard|It is over when/.test(paragraph))
        .flatMap((paragraph) =>
          [...paragraph.matchAll(/"([A-Z][^"]+)"/g)].map(([, title = '']) => title.replace(/\s+/g, ' ')),
        );
      expect({ page, unknown: named.filter((title) => !titles.has(title)) }).toEqual({ page, unknown: [] });
    }
  });
});

describeWith('kubectl', 'monitoring', () => {
  let rendered: Record<string, KubernetesObject[]>;
  beforeAll(async () => {
    const [production, keda] = await Promise.all([render(overlays[1] ?? ''), render(join(root, 'k8s/check/keda'))]);
    rendered = { production, keda };
  });

  it('has the label of kube-prometheus-stack on every object, and only the overlay changes it', async () => {
    const loaded = Object.values(rendered).flatMap((objects) => ofKind(objects, 'ServiceMonitor', 'PodMonitor', 'PrometheusRule')); // prettier-ignore
    expect(loaded.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort()).toEqual(['PrometheusRule relay', 'PrometheusRule relay-neighbours', 'ServiceMonitor relay']); // prettier-ignore
    const values = parse(await readFile(join(root, 'k8s/chart/values.yaml'), 'utf8')) as { monitoring: { release: string } }; // prettier-ignore
    for (const { metadata } of loaded) expect(metadata.labels.release).toBe(values.monitoring.release);
    const files = (await readdir(join(root, 'k8s'), { recursive: true })).filter((path) => /^(base|components|overlays)\/.*\.yaml$/.test(path)); // prettier-ignore
    const texts = await Promise.all(files.map(async (path) => [path, await readFile(join(root, 'k8s', path), 'utf8')] as const)); // prettier-ignore
    const naming = texts.filter(([, text]) => text.includes('path: /metadata/labels/release'));
    expect(naming.map(([path]) => path)).toEqual(['overlays/production/kustomization.yaml']);
    expect(naming[0]?.[1]).toMatch(/# CHANGE: the label by which [^]{0,300}- target: \{ group: monitoring/);
  });

  it("has the label that Grafana's sidecar looks for", () => {
    const [dashboard] = ofKind(rendered.production ?? [], 'ConfigMap').filter(({ data }) => data?.['relay.json']);
    expect(dashboard?.metadata.labels).toMatchObject({ grafana_dashboard: '1' });
  });

  it('is checked in a step of the installation, and by an alert that always fires', async () => {
    const page = await readFile(join(root, 'docs/operations.md'), 'utf8');
    const step = /^8\. Prometheus has loaded[^]*?\n\n/m.exec(page)?.[0] ?? '';
    const [, group = ''] = /\*\*Status › Rules\*\* shows `([^`]+)`/.exec(step) ?? [];
    const [rule] = ofKind(rendered.production ?? [], 'PrometheusRule');
    const groups = rule?.spec.groups as { name: string }[];
    expect(groups.map(({ name }) => name)).toContain(group);
    expect(step).toContain(`\`release: ${rule?.metadata.labels.release}\``);
    expect(step).toMatch(/`grafana_dashboard`[^]*`searchNamespace`[^]*\[RelayWatchdog\]/);
    expect(rules.find(({ alert }) => alert === 'RelayWatchdog')?.expr).toMatch(/^count\(relay_build_info/);
  });
});

describeWith('kubectl', 'numbers in two places', () => {
  let production: KubernetesObject[];
  beforeAll(async () => {
    production = await render(overlays[1] ?? '');
  });

  const expression = (name: string) => [...rules, ...neighbours].find(({ alert }) => alert === name)?.expr ?? '';

  it('agree: the memory alert reads the limit from the pods, so no overlay can contradict it', () => {
    expect(expression('RelayMemoryHigh')).toMatch(/process_resident_memory_bytes.* \/ relay_memory_limit_bytes/);
  });

  it('agree: the alert of full gateways is above the target of the autoscaler', () => {
    const [pods] = find(production, 'HorizontalPodAutoscaler', 'relay-gateway')?.spec.metrics as KubernetesObject[];
    expect(pods?.pods.metric.name).toBe('relay_daemon_connections');
    const settings = ofKind(production, 'ConfigMap').find(({ data }) => data?.MAX_CONNECTIONS !== undefined);
    const [, share = ''] = /> (0\.\d+)/.exec(expression('RelayGatewaysFull')) ?? [];
    expect(Number(share) * Number(settings?.data.MAX_CONNECTIONS)).toBeGreaterThan(
      1.2 * pods?.pods.target.averageValue,
    );
  });

  it('agree: the alert of a full edge uses the connection limit of an Envoy', () => {
    const [policy] = ofKind(production, 'ClientTrafficPolicy');
    const [, most] = /envoy_listener_downstream_cx_active\S* \/ (\d+)/.exec(expression('RelayEdgeFull')) ?? [];
    expect(Number(most)).toBe(policy?.spec.connection.connectionLimit.value);
  });

  it('agree: Prometheus scrapes the job "relay", which the queries select', () => {
    const [monitor] = ofKind(production, 'ServiceMonitor');
    const service = find(production, 'Service', 'relay-metrics');
    // Keeps our label `instance`; otherwise each series would have a second label, `exported_instance`.
    expect(monitor?.spec.endpoints).toMatchObject([{ honorLabels: true }]);
    expect(service?.metadata.labels[monitor?.spec.jobLabel as string]).toBe('relay');
    for (const { expr } of rules)
      for (const [selector] of expr.matchAll(/\{[^}]*\}/g)) expect(selector).toContain('job="relay"');
  });
});
