// The manifests of k8s/ → the templates of the chart. Kustomize renders base and components, so the chart repeats
// nothing.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { render } from '../../k8s/check/index.mjs';
import { When, template } from './emit.mjs';
import { merged } from './merge.mjs';
import { withPlaces } from './places.mjs';

export const k8s = fileURLToPath(new URL('../../k8s', import.meta.url));

/** Each component of the chart: its file, its condition, and the components that it builds on. */
const parts = [
  { file: 'gateway-api', condition: 'has .Values.edge.kind (list "envoy" "gateway-api")', upon: [] },
  { file: 'envoy-gateway', condition: 'eq .Values.edge.kind "envoy"', upon: ['gateway-api'] },
  { file: 'ingress-haproxy', condition: 'eq .Values.edge.kind "haproxy"', upon: [] },
  { file: 'monitoring', condition: '.Values.monitoring.enabled', upon: [] },
  { file: 'monitoring-neighbours', condition: '.Values.monitoring.neighbours', upon: ['monitoring'] },
  { file: 'keda', condition: '.Values.keda.enabled', upon: [] },
  { file: 'private-ca', condition: '.Values.privateCa.enabled', upon: [] },
];

/** The objects of the base with these components. */
export async function renderWith(components) {
  const folder = await mkdtemp(join(tmpdir(), 'relay-chart-'));
  const from = (path) => relative(folder, join(k8s, path));
  const content = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    namespace: 'relay',
    resources: [from('base')],
    components: components.map((name) => from(`components/${name}`)),
  };
  try {
    await writeFile(join(folder, 'kustomization.yaml'), stringify(content));
    return await render(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const keyOf = ({ kind, metadata }) => `${kind}/${metadata.name}`;
const byKey = (objects) => new Map(objects.map((object) => [keyOf(object), object]));

/** Replaces values with placeholders, and omits the namespace, which Helm or the operator creates. */
const rendered = async (components) =>
  byKey((await renderWith(components)).filter(({ kind }) => kind !== 'Namespace').map(withPlaces));

/** Puts the objects that `part` adds into its own file, and changes other objects in their own files. */
async function add(files, { file, condition, upon }) {
  const [without, withIt] = await Promise.all([rendered(upon), rendered([...upon, file])]);
  for (const [key, object] of without) {
    const changed = withIt.get(key);
    const home = [...files.values()].find((objects) => objects.has(key));
    if (changed === undefined) home.set(key, new When(`not (${condition})`, object));
    else {
      const now = merged(object, changed, condition);
      if (now !== object) home.set(key, home.get(key) instanceof When ? new When(home.get(key).condition, now) : now);
    }
  }
  files.set(
    file,
    new Map(
      [...withIt].filter(([key]) => !without.has(key)).map(([key, object]) => [key, new When(condition, object)]),
    ),
  );
}

const head = (source) =>
  `{{- /* Made from ${source} by \`npm run chart\`, which has the reasons in its comments. Do not change it here. */ -}}\n`;

/** Resolves with the text of each file by its path from k8s/chart. Throws RenderError if kubectl is missing. */
export async function chartFiles() {
  const files = new Map([['base', await rendered([])]]);
  for (const part of parts) await add(files, part);
  return Object.fromEntries(
    [...files]
      .filter(([, objects]) => objects.size > 0)
      .map(([file, objects]) => {
        const source = file === 'base' ? 'k8s/base' : `k8s/components/${file}`;
        return [`templates/${file}.yaml`, head(source) + template([...objects.values()])];
      }),
  );
}
