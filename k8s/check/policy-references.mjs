// Every reference of an object must resolve: selectors find pods, references lead somewhere, ports exist, patches
// match.
import { containersOf, find, matches, ofKind, podOf, selected, titleOf, workloads } from './objects.mjs';

const clusterWide = ['Namespace', 'PriorityClass'];
/** Names of objects that are files in a URL one day. */
const objectName = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;
const serviceName = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
const labelValue = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
const labelKey = /^([a-z0-9.-]{1,253}\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

function nameProblems(objects) {
  const problems = [];
  const seen = new Set();
  const namespaces = ofKind(objects, 'Namespace').map(({ metadata }) => metadata.name);
  for (const object of objects) {
    const say = (text) => problems.push(`${titleOf(object)}: ${text}`);
    const { name, namespace, labels = {} } = object.metadata;
    if (!(object.kind === 'Service' ? serviceName : objectName).test(name)) say('its name is not allowed');
    for (const [key, value] of Object.entries({ ...labels, ...podOf(object)?.metadata?.labels }))
      if (!labelKey.test(key) || !labelValue.test(value)) say(`the label ${key}=${value} is not allowed`);
    if (!clusterWide.includes(object.kind) && !namespaces.includes(namespace))
      say(`its namespace ${namespace} is not among the objects`);
    const title = `${object.apiVersion} ${titleOf(object)} ${namespace}`;
    if (seen.has(title)) say('it is there twice');
    seen.add(title);
  }
  for (const object of ofKind(objects, 'Namespace'))
    if (object.metadata.labels?.['pod-security.kubernetes.io/enforce'] !== 'restricted')
      problems.push(`${titleOf(object)}: it must enforce restricted Pod Security`);
  return problems;
}

function* namedBy(object) {
  const { spec } = podOf(object);
  for (const container of containersOf(object)) {
    for (const { configMapRef, secretRef } of container.envFrom ?? []) {
      if (configMapRef) yield ['ConfigMap', configMapRef.name, configMapRef.optional];
      if (secretRef) yield ['Secret', secretRef.name, secretRef.optional];
    }
    for (const { valueFrom } of container.env ?? []) {
      const key = valueFrom?.configMapKeyRef ?? valueFrom?.secretKeyRef;
      if (key) yield [valueFrom.configMapKeyRef ? 'ConfigMap' : 'Secret', key.name, key.optional, key.key];
    }
  }
  for (const { configMap, secret, persistentVolumeClaim } of spec.volumes ?? []) {
    if (configMap) yield ['ConfigMap', configMap.name, configMap.optional];
    if (secret) yield ['Secret', secret.secretName, secret.optional];
    if (persistentVolumeClaim) yield ['PersistentVolumeClaim', persistentVolumeClaim.claimName];
  }
  if (spec.serviceAccountName) yield ['ServiceAccount', spec.serviceAccountName];
}

function workloadProblems(objects, external) {
  return workloads(objects).flatMap((object) => {
    const problems = [];
    const labels = podOf(object).metadata?.labels ?? {};
    if (object.spec.selector && !matches(labels, object.spec.selector))
      problems.push('its selector does not find its own pods');
    for (const [kind, name, optional, key] of namedBy(object)) {
      const found = find(objects, kind, name);
      const outside = external.includes(`${kind}/${name}`);
      if (!found && !outside && !optional) problems.push(`names ${kind}/${name}, which does not exist`);
      if (found && key !== undefined && !optional && !(key in { ...found.data, ...found.stringData }))
        problems.push(`names ${key} of ${kind}/${name}, which has no such key`);
    }
    return problems.map((text) => `${titleOf(object)}: ${text}`);
  });
}

const portsOf = (object) => containersOf(object).flatMap(({ ports = [] }) => ports);
const hasPort = (object, port) =>
  portsOf(object).some(({ name, containerPort }) => port === name || port === containerPort);

function serviceProblems(objects) {
  return ofKind(objects, 'Service').flatMap((object) => {
    const behind = selected(objects, { matchLabels: object.spec.selector ?? {} });
    const problems = behind.length === 0 || !object.spec.selector ? ['its selector finds no pods'] : [];
    for (const { port, targetPort = port, name } of object.spec.ports ?? [])
      if (!behind.every((workload) => hasPort(workload, targetPort)))
        problems.push(`its port ${name ?? port} leads to ${targetPort}, which the pods have not`);
    if (['LoadBalancer', 'NodePort'].includes(object.spec.type))
      problems.push('it is open to the world; that is the business of the edge');
    return problems.map((text) => `${titleOf(object)}: ${text}`);
  });
}

/** `[service, port]` pairs that a route sends to. */
function backendsOf(object) {
  if (object.kind === 'HTTPRoute')
    return (object.spec.rules ?? []).flatMap(({ backendRefs = [] }) =>
      backendRefs.map(({ name, port }) => [name, port]),
    );
  const paths = (object.spec.rules ?? []).flatMap(({ http }) => http?.paths ?? []);
  return [...paths.map(({ backend }) => backend), object.spec.defaultBackend]
    .filter((backend) => backend?.service)
    .map(({ service }) => [service.name, service.port?.number ?? service.port?.name]);
}

function routeProblems(objects, external) {
  const problems = [];
  const exists = (kind, name) => find(objects, kind, name) || external.includes(`${kind}/${name}`);
  for (const object of ofKind(objects, 'HTTPRoute', 'Ingress')) {
    const say = (text) => problems.push(`${titleOf(object)}: ${text}`);
    for (const [name, port] of backendsOf(object)) {
      const service = find(objects, 'Service', name);
      const ports = service?.spec.ports ?? [];
      if (!service) say(`sends to Service/${name}, which does not exist`);
      else if (!ports.some((one) => one.port === port || one.name === port))
        say(`sends to port ${port} of Service/${name}, which it has not`);
      else if (ports.some(({ targetPort }) => targetPort === 'metrics' || targetPort === 9464))
        say('sends to a Service that also serves metrics');
    }
    for (const { secretName } of object.spec.tls ?? [])
      if (!exists('Secret', secretName)) say(`names Secret/${secretName}, which does not exist`);
    for (const { name, sectionName } of object.spec.parentRefs ?? []) {
      const gateway = find(objects, 'Gateway', name);
      const listener = gateway?.spec.listeners.find((one) => sectionName === undefined || one.name === sectionName);
      if (!listener) say(`belongs to Gateway/${name} ${sectionName ?? ''}, which does not exist`);
      else if (!(object.spec.hostnames ?? []).includes(listener.hostname))
        say(`its host is not that of Gateway/${name}`);
    }
    for (const { filters = [] } of object.kind === 'HTTPRoute' ? object.spec.rules : [])
      for (const { extensionRef } of filters)
        if (extensionRef && !find(objects, extensionRef.kind, extensionRef.name))
          say(`names ${extensionRef.kind}/${extensionRef.name}, which does not exist`);
  }
  for (const object of ofKind(objects, 'Gateway'))
    for (const { name, tls } of object.spec.listeners)
      for (const ref of tls?.certificateRefs ?? [])
        if (!exists('Secret', ref.name))
          problems.push(`${titleOf(object)}: listener ${name} names Secret/${ref.name}, which does not exist`);
  for (const object of ofKind(objects, 'ClientTrafficPolicy', 'BackendTrafficPolicy'))
    for (const { kind, name } of object.spec.targetRefs)
      if (!find(objects, kind, name))
        problems.push(`${titleOf(object)}: applies to ${kind}/${name}, which does not exist`);
  return problems;
}

function selectorProblems(objects) {
  const problems = [];
  const say = (object, text) => problems.push(`${titleOf(object)}: ${text}`);
  for (const object of ofKind(objects, 'PodDisruptionBudget'))
    if (selected(objects, object.spec.selector).length !== 1)
      say(object, 'its selector must find the pods of one workload');
  for (const object of ofKind(objects, 'NetworkPolicy')) {
    const pods = selected(objects, object.spec.podSelector);
    if (pods.length === 0) say(object, 'its selector finds no pods');
    for (const { ports = [] } of object.spec.ingress ?? [])
      for (const { port } of ports)
        if (typeof port === 'string' && !pods.some((workload) => hasPort(workload, port)))
          say(object, `its port ${port} is no port of the pods`);
    for (const { to = [], ports = [] } of object.spec.egress ?? [])
      for (const { podSelector, namespaceSelector } of to) {
        if (!podSelector || namespaceSelector) continue;
        const peers = selected(objects, podSelector);
        if (peers.length === 0) say(object, 'leads to pods that do not exist');
        for (const { port } of ports)
          if (!peers.some((workload) => hasPort(workload, port)))
            say(object, `leads to port ${port}, which no container has`);
      }
  }
  const policies = ofKind(objects, 'NetworkPolicy');
  const isDeny = ({ spec }, type) =>
    Object.keys(spec.podSelector ?? {}).length === 0 &&
    spec.policyTypes?.includes(type) &&
    !(type === 'Ingress' ? spec.ingress : spec.egress);
  for (const type of ['Ingress', 'Egress'])
    if (!policies.some((policy) => isDeny(policy, type))) problems.push(`nothing denies ${type} by default`);
  const asksNames = ({ spec }) =>
    spec.egress?.some(({ ports = [] }) => ports.some(({ port, protocol }) => port === 53 && protocol === 'UDP'));
  if (!policies.some((policy) => Object.keys(policy.spec.podSelector).length === 0 && asksNames(policy)))
    problems.push('no pod may ask for names (DNS)');
  for (const object of ofKind(objects, 'ServiceMonitor')) {
    const services = ofKind(objects, 'Service').filter(({ metadata }) =>
      matches(metadata.labels, object.spec.selector),
    );
    if (services.length === 0) say(object, 'its selector finds no Service');
    for (const { port } of object.spec.endpoints)
      if (!services.every(({ spec }) => spec.ports.some(({ name }) => name === port)))
        say(object, `asks port ${port}, which a Service has not`);
  }
  return problems;
}

/** `external`: objects that are made elsewhere, such as `Secret/relay-secrets`. */
export function referenceProblems(objects, external = []) {
  return [
    ...nameProblems(objects),
    ...workloadProblems(objects, external),
    ...serviceProblems(objects),
    ...routeProblems(objects, external),
    ...selectorProblems(objects),
  ];
}

/**
 * `kubectl kustomize` silently drops a patch whose target matches nothing, and also `images` and `replicas`.
 * `layers` are the kustomizations of a folder, `rendered` is the result, `below` the result without deletions.
 */
export function silentProblems(layers, rendered, below) {
  const problems = [];
  const all = [...rendered, ...below];
  const isHit = ({ group, version, kind, name, labelSelector }, { apiVersion, kind: itsKind, metadata }) =>
    [
      [group, apiVersion.includes('/') ? apiVersion.split('/')[0] : ''],
      [version, apiVersion.split('/').at(-1)],
      [kind, itsKind],
      [name, metadata.name],
    ].every(([wanted, is]) => wanted === undefined || new RegExp(`^(?:${wanted})$`).test(is)) &&
    isLabelled(labelSelector, metadata.labels);
  for (const { folder, content } of layers) {
    for (const { target, patch } of content.patches ?? [])
      if (target && !all.some((object) => isHit(target, object)))
        problems.push(`${folder}: a patch for ${JSON.stringify(target)} matches nothing`);
      else if (!target && !patch) problems.push(`${folder}: a patch without target and text`);
    for (const { name, newName = name, newTag, digest } of content.images ?? []) {
      const image = `${newName}${newTag ? `:${newTag}` : ''}${digest ? `@${digest}` : ''}`;
      if (!rendered.some((object) => containersOf(object).some((container) => container.image === image)))
        problems.push(`${folder}: nothing runs the image ${image}`);
    }
    for (const { name, count } of content.replicas ?? [])
      if (!rendered.some(({ metadata, spec }) => metadata.name === name && spec?.replicas === count))
        problems.push(`${folder}: replicas of ${name} are not ${count}`);
  }
  return problems;
}

/** The forms that are used here: `a=b`, `a in (b, c)`. */
function isLabelled(selector, labels = {}) {
  if (selector === undefined) return true;
  const list = /^(\S+) in \((.*)\)$/.exec(selector);
  if (list) return list[2].split(',').some((value) => labels[list[1]] === value.trim());
  return selector.split(',').every((part) => labels[part.split('=')[0].trim()] === part.split('=').at(-1).trim());
}
