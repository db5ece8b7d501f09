// Rules for every pod: restricted, bounded, probed, pinned, and given time to shut down.
import { amount, containersOf, environmentOf, ofKind, podOf, titleOf, workloads } from './objects.mjs';

/** Kinds of volumes that restricted Pod Security admits. */
const volumeKinds = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
];
/** After the spread of the closes: the last answers, writes to the database, and the delay of a busy node. */
const marginSeconds = 30;

function* securityOf(object) {
  const { spec } = podOf(object);
  const pod = spec.securityContext ?? {};
  if (spec.automountServiceAccountToken !== false) yield 'automountServiceAccountToken must be false';
  if (spec.enableServiceLinks !== false) yield 'enableServiceLinks must be false';
  for (const field of ['hostNetwork', 'hostPID', 'hostIPC']) if (spec[field]) yield `${field} is not allowed`;
  for (const volume of spec.volumes ?? [])
    for (const kind of Object.keys(volume).filter((key) => key !== 'name'))
      if (!volumeKinds.includes(kind)) yield `volume ${volume.name} is a ${kind}, which restricted pods may not have`;
  for (const container of containersOf(object)) {
    const own = container.securityContext ?? {};
    const say = (text) => `container ${container.name}: ${text}`;
    if ((own.runAsNonRoot ?? pod.runAsNonRoot) !== true) yield say('runAsNonRoot must be true');
    if (!((own.runAsUser ?? pod.runAsUser) > 0)) yield say('runAsUser must be a number above 0');
    if ((own.seccompProfile ?? pod.seccompProfile)?.type !== 'RuntimeDefault')
      yield say('seccompProfile must be RuntimeDefault');
    if (own.allowPrivilegeEscalation !== false) yield say('allowPrivilegeEscalation must be false');
    if (own.readOnlyRootFilesystem !== true) yield say('readOnlyRootFilesystem must be true');
    if (!own.capabilities?.drop?.includes('ALL')) yield say('capabilities must drop ALL');
    if (own.capabilities?.add?.length > 0) yield say('capabilities must not be added');
    if (own.privileged) yield say('privileged is not allowed');
    if ((container.ports ?? []).some(({ hostPort }) => hostPort)) yield say('hostPort is not allowed');
  }
}

function* resourcesOf(object) {
  for (const { name, resources = {} } of containersOf(object)) {
    const { requests = {}, limits = {} } = resources;
    for (const what of ['cpu', 'memory'])
      if (requests[what] === undefined) yield `container ${name}: requests.${what} is missing`;
    if (limits.memory === undefined) yield `container ${name}: limits.memory is missing`;
    for (const [what, limit] of Object.entries(limits))
      if (amount(requests[what] ?? 0) > amount(limit)) yield `container ${name}: requests.${what} is above its limit`;
  }
}

function* probesOf(object) {
  if (object.kind === 'Job') return;
  for (const container of podOf(object).spec.containers) {
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
      if (!container[probe]) yield `container ${container.name}: ${probe} is missing`;
    if (container.livenessProbe?.httpGet?.path === '/ready')
      yield `container ${container.name}: livenessProbe asks /ready, which depends on the database`;
    const names = (container.ports ?? []).map(({ name }) => name);
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
      const port = (container[probe]?.httpGet ?? container[probe]?.tcpSocket)?.port;
      if (typeof port === 'string' && !names.includes(port))
        yield `container ${container.name}: ${probe} asks port ${port}, which it has not`;
    }
  }
}

function* shapeOf(object) {
  const { spec } = podOf(object);
  const volumes = [
    ...(spec.volumes ?? []),
    ...(object.spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata),
  ];
  for (const container of containersOf(object)) {
    const say = (text) => `container ${container.name}: ${text}`;
    const pinned = /@sha256:[0-9a-f]{64}$/.test(container.image) || /:(?!latest$)[\w][\w.-]*$/.test(container.image);
    if (!pinned) yield say(`image ${container.image} is not pinned`);
    if (object.kind === 'Job' && !container.command)
      yield say('a Job needs a command: what the image starts by itself is no promise');
    for (const { name } of container.volumeMounts ?? [])
      if (!volumes.some((volume) => volume.name === name)) yield say(`mounts ${name}, which is no volume of the pod`);
    const ports = container.ports ?? [];
    for (const { containerPort } of ports)
      if (!(containerPort >= 1 && containerPort <= 65535)) yield say(`port ${containerPort} is out of range`);
    for (const key of ['name', 'containerPort'])
      if (new Set(ports.map((port) => port[key])).size < ports.length) yield say(`two ports have the same ${key}`);
    const variables = (container.env ?? []).map(({ name }) => name);
    for (const name of new Set(variables.filter((one, index) => variables.indexOf(one) !== index)))
      yield say(`sets ${name} twice`);
  }
}

function* rolloutOf(object, objects) {
  const { spec } = podOf(object);
  if (!object.metadata.name.startsWith('relay-') || object.kind !== 'Deployment') return;
  const { maxUnavailable, maxSurge } = object.spec.strategy?.rollingUpdate ?? {};
  if (maxUnavailable !== 0) yield 'rollingUpdate.maxUnavailable must be 0';
  if (!(maxSurge >= 1) && !/^[1-9]/.test(String(maxSurge))) yield 'rollingUpdate.maxSurge must be at least 1';
  // ADR 56: one at a time, the first new gateways take most of the connections that the old ones lose, and lose them
  // again.
  if (object.metadata.name === 'relay-gateway' && !(/%$/.test(maxSurge) && Number.parseInt(maxSurge) >= 25))
    yield `rollingUpdate.maxSurge must be 25% at least, or a rollout moves most daemons twice; is ${maxSurge}`;
  for (const container of spec.containers) {
    const preStop = container.lifecycle?.preStop?.sleep?.seconds;
    if (!(preStop >= 5)) yield `container ${container.name}: preStop must sleep at least 5 s, for the edge to hear`;
    const drain = Number(environmentOf(objects, container).DRAIN_SECONDS ?? 30);
    const grace = spec.terminationGracePeriodSeconds ?? 30;
    if (grace < (preStop ?? 0) + drain + marginSeconds)
      yield `terminationGracePeriodSeconds ${grace} is less than preStop ${preStop ?? 0} + DRAIN_SECONDS ${drain} + ${marginSeconds}`;
    const heap = /--max-old-space-size=(\d+)/.exec(environmentOf(objects, container).NODE_OPTIONS ?? '')?.[1];
    const limit = amount(container.resources?.limits?.memory ?? Number.NaN);
    if (heap === undefined || !(Number(heap) * 2 ** 20 <= 0.75 * limit))
      yield `container ${container.name}: --max-old-space-size must be set, to at most 3/4 of the memory limit`;
    const keys = (spec.topologySpreadConstraints ?? []).map(({ topologyKey }) => topologyKey);
    for (const key of ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'])
      if (!keys.includes(key)) yield `pods are not spread over ${key}`;
  }
}

function* jobOf(object) {
  if (object.kind !== 'Job') return;
  if (podOf(object).spec.restartPolicy !== 'Never')
    yield 'restartPolicy must be Never, so that the log of a failure stays';
  if (!(object.spec.activeDeadlineSeconds > 0)) yield 'activeDeadlineSeconds is missing';
}

export function podProblems(objects) {
  const rules = [securityOf, resourcesOf, probesOf, shapeOf, rolloutOf, jobOf];
  return workloads(objects).flatMap((object) =>
    rules.flatMap((rule) => [...rule(object, objects)].map((text) => `${titleOf(object)}: ${text}`)),
  );
}

/** A Deployment has an autoscaler or a number, never both; an autoscaler keeps two; a budget lets nodes be drained. */
export function fleetProblems(objects) {
  const problems = [];
  const autoscalers = ofKind(objects, 'HorizontalPodAutoscaler');
  for (const object of ofKind(objects, 'Deployment')) {
    const scaled = [...autoscalers, ...ofKind(objects, 'ScaledObject')].some(
      ({ spec }) => spec.scaleTargetRef?.name === object.metadata.name,
    );
    if (scaled && object.spec.replicas !== undefined)
      problems.push(`${titleOf(object)}: spec.replicas stands against its autoscaler`);
    if (!scaled && object.spec.replicas === undefined)
      problems.push(`${titleOf(object)}: neither spec.replicas nor an autoscaler says how many there are`);
  }
  for (const object of autoscalers) {
    const { minReplicas = 1, maxReplicas, scaleTargetRef, metrics = [] } = object.spec;
    const say = (text) => problems.push(`${titleOf(object)}: ${text}`);
    if (minReplicas < 2) say('minReplicas must be at least 2');
    if (!(maxReplicas > minReplicas)) say('maxReplicas must be above minReplicas');
    if (metrics.length === 0) say('it has no metric');
    if (!objects.some(({ kind, metadata }) => kind === scaleTargetRef.kind && metadata.name === scaleTargetRef.name))
      say(`its target ${scaleTargetRef.kind}/${scaleTargetRef.name} does not exist`);
  }
  for (const object of ofKind(objects, 'PodDisruptionBudget')) {
    const { minAvailable, maxUnavailable } = object.spec;
    const say = (text) => problems.push(`${titleOf(object)}: ${text}`);
    if ((minAvailable === undefined) === (maxUnavailable === undefined))
      say('exactly one of minAvailable and maxUnavailable');
    if (maxUnavailable === 0 || maxUnavailable === '0%' || minAvailable === '100%')
      say('it blocks every drain of a node');
    const name = object.spec.selector?.matchLabels?.['app.kubernetes.io/name'];
    const fewest = autoscalers.find(({ spec }) => spec.scaleTargetRef?.name === name)?.spec.minReplicas;
    if (typeof minAvailable === 'number' && minAvailable >= (fewest ?? 1)) say('it blocks every drain of a node');
  }
  return problems;
}
