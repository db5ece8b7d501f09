// The checks of the manifests, without a cluster: fields, then errors that Kubernetes would only find at run time, then
// the policies of this project. Used by scripts/check-k8s.mjs and the tests.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { firing, readSeries } from './alerts.mjs';
import { chart, chartObjects, helm } from './chart.mjs';
import { fieldProblems } from './fields.mjs';
import { containersOf, environmentOf, find, ofKind } from './objects.mjs';
import { fleetProblems, podProblems } from './policy-pods.mjs';
import { referenceProblems, silentProblems } from './policy-references.mjs';
import { durationMs } from './promql.mjs';
import { queryProblems, readExposition, readQuery } from './queries.mjs';
import { RenderError, kustomizations, parseObjects, render } from './render.mjs';

export {
  RenderError,
  chart,
  chartObjects,
  containersOf,
  durationMs,
  environmentOf,
  fieldProblems,
  find,
  firing,
  helm,
  kustomizations,
  ofKind,
  parseObjects,
  queryProblems,
  readExposition,
  readQuery,
  readSeries,
  render,
};

/** Made outside of the manifests: by the operator, and by cert-manager. */
export const external = ['Secret/relay-secrets', 'Secret/relay-tls'];

const k8s = fileURLToPath(new URL('..', import.meta.url));
export const overlays = ['local', 'production'].map((name) => join(k8s, 'overlays', name));
/** Things that are in no overlay, each rendered upon the base. */
export const alone = [join(k8s, 'check/ingress'), join(k8s, 'check/keda')];

/** Everything that is wrong with these objects. */
export function objectProblems(objects) {
  return [...fieldProblems(objects), ...policyProblems(objects)];
}

/** Problems of objects whose every field is right. */
export function policyProblems(objects) {
  return [...podProblems(objects), ...fleetProblems(objects), ...referenceProblems(objects, external)];
}

/** Renders a folder and finds everything that is wrong with it. Throws RenderError when it does not render. */
export async function folderProblems(folder) {
  const layers = kustomizations(folder);
  const leaves = layers.filter(({ content }) => content.kind !== 'Component' && !(content.components?.length > 0));
  const [objects, ...below] = await Promise.all(
    [folder, ...leaves.map((layer) => layer.folder)].map((one) => render(one)),
  );
  return { objects, problems: [...objectProblems(objects), ...silentProblems(layers, objects, below.flat())] };
}

/** Problems to mend before this can be deployed for real: placeholders, and secrets that are in git. */
export function placeholders(objects) {
  const text = JSON.stringify(objects);
  const problems = [];
  if (/sha256:0{64}/.test(text))
    problems.push('the image digest is a placeholder: set the one that your build printed');
  if (text.includes('registry.example.com')) problems.push('the image is in registry.example.com: name your registry');
  if (text.includes('relay.example.com'))
    problems.push('the host is relay.example.com: name yours, in PUBLIC_URL and at the edge');
  if (text.includes('git.example.com'))
    problems.push('the links to the runbooks lead to git.example.com: name where yours are');
  if (text.includes('grafana.example.com'))
    problems.push('the links to the dashboard lead to grafana.example.com: name your Grafana');
  for (const { metadata } of ofKind(objects, 'Secret'))
    problems.push(`Secret/${metadata.name} is part of the manifests, and so of git`);
  for (const object of objects)
    for (const { name, image } of containersOf(object))
      if (!image.includes('@sha256:'))
        problems.push(`${name}: the image ${image} is pinned by tag only; a tag can be moved`);
  return problems;
}
