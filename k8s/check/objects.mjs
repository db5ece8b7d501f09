// Queries of the policies over a list of rendered objects: the pods of a workload, the pods a selector matches, the source of a setting.
import { titleOf } from './fields.mjs';

export { titleOf };

/** The pod template of anything that makes pods; undefined for the others. */
export const podOf = (object) =>
  ['Deployment', 'StatefulSet', 'DaemonSet', 'Job'].includes(object.kind) ? object.spec?.template : undefined;
export const workloads = (objects) => objects.filter((object) => podOf(object) !== undefined);
export const containersOf = (object) => {
  const { initContainers = [], containers = [] } = podOf(object)?.spec ?? {};
  return [...initContainers, ...containers];
};
export const ofKind = (objects, ...kinds) => objects.filter(({ kind }) => kinds.includes(kind));
export const find = (objects, kind, name) =>
  objects.find((object) => object.kind === kind && object.metadata?.name === name);

/** Labels match a selector of the form matchLabels and matchExpressions; an empty selector matches everything. */
export function matches(labels = {}, selector = {}) {
  const all = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
  return (
    all &&
    (selector.matchExpressions ?? []).every(({ key, operator, values = [] }) => {
      if (operator === 'In') return values.includes(labels[key]);
      if (operator === 'NotIn') return !values.includes(labels[key]);
      return operator === 'Exists' ? key in labels : !(key in labels);
    })
  );
}

/** Workloads whose pods a selector finds. */
export const selected = (objects, selector) =>
  workloads(objects).filter((object) => matches(podOf(object).metadata?.labels, selector));

/**
 * The environment of a container as the process will see it. The content of a Secret outside of these objects is `given` by its
 * key; keys of optional references that are not there are absent.
 */
export function environmentOf(objects, container, given = {}) {
  const secretOf = (name) => {
    const { data = {}, stringData = {} } = find(objects, 'Secret', name) ?? { stringData: given };
    const decoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]);
    return { ...Object.fromEntries(decoded), ...stringData };
  };
  const from = (container.envFrom ?? []).flatMap(({ configMapRef, secretRef }) =>
    Object.entries(
      configMapRef ? (find(objects, 'ConfigMap', configMapRef.name)?.data ?? {}) : secretOf(secretRef.name),
    ),
  );
  const own = (container.env ?? []).map(({ name, value, valueFrom }) => {
    if (valueFrom?.secretKeyRef) return [name, secretOf(valueFrom.secretKeyRef.name)[valueFrom.secretKeyRef.key]];
    if (valueFrom?.fieldRef) return [name, `from-${valueFrom.fieldRef.fieldPath}`];
    return [name, value];
  });
  return Object.fromEntries([...from, ...own].filter(([, value]) => value !== undefined));
}

const units = { m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 };

/** A quantity as a number: bytes, or cores. */
export function amount(quantity) {
  const [, number, unit = ''] = /^([\d.]+)([a-zA-Z]*)$/.exec(String(quantity)) ?? [];
  return Number(number) * (unit === '' ? 1 : (units[unit] ?? Number.NaN));
}
