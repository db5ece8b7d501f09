// The places of the chart's values, by kind and name: the same that an overlay would patch. docs/operations.md lists
// them for people.
import { Value, When, inside } from './emit.mjs';

const host = inside('include `relay.host` .');
const door = (name) => `.Values.${name.replace('relay-', '')}`;

function doorPlaces(object) {
  const values = door(object.metadata.name);
  const { template } = object.spec;
  const [container] = template.spec.containers;
  // A changed setting causes a rollout, like the hash in the name with kustomize.
  template.metadata.annotations = { 'checksum/settings': new Value('include "relay.settings" . | sha256sum') };
  container.image = new Value('include "relay.image" .');
  container.resources = new Value(`toJson ${values}.resources`);
  const heap = container.env.find(({ name }) => name === 'NODE_OPTIONS');
  heap.value = inside(`printf \`--max-old-space-size=%d\` (int ${values}.heapMiB)`);
  for (const { configMapRef } of container.envFrom) configMapRef.name = 'relay-config';
  for (const name of ['nodeSelector', 'tolerations', 'affinity'])
    template.spec[name] = new When(`${values}.${name}`, new Value(`toJson ${values}.${name}`));
}

/** Runs before the doors of an installation or an upgrade. Argo CD uses its own annotations, and then ignores these. */
const hook = (weight) => ({
  'helm.sh/hook': 'pre-install,pre-upgrade',
  'helm.sh/hook-weight': String(weight),
  'helm.sh/hook-delete-policy': 'before-hook-creation',
});

const places = {
  Deployment: doorPlaces,
  Job: ({ metadata, spec }) => {
    Object.assign(metadata.annotations, hook(-5));
    spec.template.spec.containers[0].image = new Value('include "relay.image" .');
  },
  ServiceAccount: (object) => {
    // The Job runs first, so its account must exist before it.
    if (object.metadata.name === 'relay-migrate') Object.assign(object.metadata.annotations, hook(-10));
    object.imagePullSecrets = new When('.Values.imagePullSecrets', new Value('toJson .Values.imagePullSecrets'));
  },
  HorizontalPodAutoscaler: ({ metadata, spec }) => {
    spec.minReplicas = new Value(`${door(metadata.name)}.minReplicas`);
    spec.maxReplicas = new Value(`${door(metadata.name)}.maxReplicas`);
  },
  ScaledObject: ({ metadata, spec }) => {
    spec.minReplicaCount = new Value(`${door(metadata.name)}.minReplicas`);
    spec.maxReplicaCount = new Value(`${door(metadata.name)}.maxReplicas`);
    for (const { type, metadata: trigger } of spec.triggers)
      if (type === 'prometheus') trigger.serverAddress = inside('.Values.keda.prometheus');
  },
  ConfigMap: (object) => {
    // Removes the content hash that kustomize appends.
    object.metadata.name = object.metadata.name.replace(/-[a-z0-9]{10}$/, '');
    if (object.metadata.name === 'relay-config') object.data = new Value('include "relay.settings" . | nindent 2');
  },
  NetworkPolicy: ({ metadata, spec }) => {
    if (metadata.name !== 'allow-memory') return;
    spec.egress[0].to = new Value('toJson .Values.memory.to');
    spec.egress[0].ports = new Value('toJson .Values.memory.ports');
  },
  Gateway: ({ spec }) => {
    spec.gatewayClassName = new Value('.Values.edge.gatewayClass');
    for (const listener of spec.listeners) {
      listener.hostname = host;
      for (const reference of listener.tls?.certificateRefs ?? []) reference.name = new Value('.Values.edge.tlsSecret');
    }
  },
  HTTPRoute: ({ spec }) => void (spec.hostnames = [host]),
  Ingress: ({ spec }) => {
    spec.ingressClassName = new Value('.Values.edge.ingressClass');
    for (const tls of spec.tls) Object.assign(tls, { hosts: [host], secretName: new Value('.Values.edge.tlsSecret') });
    for (const rule of spec.rules) rule.host = host;
  },
};

/** An overlay sets this label in one place for all of them. */
const loadedBy = ({ metadata }) => void (metadata.labels.release = new Value('.Values.monitoring.release'));
places.ServiceMonitor = loadedBy;
places.PrometheusRule = (object) => {
  loadedBy(object);
  for (const { annotations } of object.spec.groups.flatMap(({ rules }) => rules))
    annotations.dashboard_url = new When('.Values.monitoring.dashboard', new Value('.Values.monitoring.dashboard'));
};

/** Strings in any place: the URL of the runbooks, and the namespace in the queries of alerts. */
const texts = [
  ['https://git.example.com/relay/blob/main/docs/runbooks', inside('include `relay.runbooks` .')],
  ['namespace="relay"', `namespace="${inside('.Release.Namespace')}"`],
  ['namespace=~"relay|', `namespace=~"${inside('.Release.Namespace')}|`],
];
function textPlaces(value) {
  if (typeof value === 'string') return texts.reduce((text, [from, to]) => text.replaceAll(from, to), value);
  if (value instanceof Value) return value;
  if (value instanceof When) return new When(value.condition, textPlaces(value.content));
  if (Array.isArray(value)) return value.map(textPlaces);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, textPlaces(entry)]));
}

/** An object rendered by kustomize → the same object with placeholders for values. Helm sets the namespace. */
export function withPlaces(object) {
  const copy = structuredClone(object);
  delete copy.metadata.namespace;
  places[copy.kind]?.(copy);
  return textPlaces(copy);
}
