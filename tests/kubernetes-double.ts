/**
 * A Kubernetes API server in memory, for Helm and kubectl: discovery, versioned objects, selectors, watches, scale and
 * the four kinds of patch. It admits everything and runs nothing: a Deployment is ready as soon as it is written, and
 * the test decides the outcome of a Job.
 */
import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isDeepStrictEqual } from 'node:util';

/** Kinds without a namespace. */
const clusterWide = new Set(['Namespace', 'PriorityClass', 'GatewayClass', 'ClusterRole', 'ClusterRoleBinding']);
const plurals: Record<string, string> = { NetworkPolicy: 'networkpolicies', PriorityClass: 'priorityclasses', GatewayClass: 'gatewayclasses', Ingress: 'ingresses', BackendTrafficPolicy: 'backendtrafficpolicies', ClientTrafficPolicy: 'clienttrafficpolicies', EnvoyProxy: 'envoyproxies', EnvoyPatchPolicy: 'envoypatchpolicies' }; // prettier-ignore
const pluralOf = (kind: string) => plurals[kind] ?? `${kind.toLowerCase()}s`;

/**
 * The lists that a strategic merge patch merges, with the field that identifies an entry; it replaces all other lists.
 */
const mergeKeys: Record<string, string[]> = {
  containers: ['name'],
  initContainers: ['name'],
  env: ['name'],
  volumes: ['name'],
  imagePullSecrets: ['name'],
  volumeMounts: ['mountPath'],
  ports: ['containerPort', 'port'],
  topologySpreadConstraints: ['topologyKey'],
};

type Json = Record<string, unknown>;
/** An object as clients write it and the double stores it. */
export type Manifest = Json & {
  apiVersion: string;
  kind: string;
  metadata: Json & { name: string; labels?: Record<string, string>; generation?: number };
  spec?: Json;
};
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function patchedList(list: unknown, patch: Json[], key: string): Json[] {
  const merged = [...(Array.isArray(list) ? (list as Json[]) : [])];
  for (const entry of patch) {
    const at = merged.findIndex((other) => other[key] === entry[key]);
    if (entry.$patch === 'delete') merged.splice(at, at < 0 ? 0 : 1);
    else if (at < 0) merged.push(patched({}, entry, true));
    else merged[at] = patched(merged[at]!, entry, true);
  }
  return merged;
}

/** RFC 7386, or the strategic merge of Kubernetes. */
function patched(target: Json, patch: Json, strategic: boolean): Json {
  if (strategic && patch.$patch === 'replace') return Object.fromEntries(Object.entries(patch).filter(([name]) => name !== '$patch')); // prettier-ignore
  const result = { ...target };
  for (const [name, value] of Object.entries(patch)) {
    if (strategic && name.startsWith('$')) continue;
    if (value === null) delete result[name];
    else if (isObject(value)) result[name] = patched(isObject(result[name]) ? result[name] : {}, value, strategic);
    else {
      const entries: unknown[] = Array.isArray(value) ? value : [];
      const key = strategic && entries.every(isObject) ? mergeKeys[name]?.find((field) => entries.some((entry) => field in entry)) : undefined; // prettier-ignore
      result[name] = key === undefined ? value : patchedList(result[name], entries as Json[], key);
    }
  }
  return result;
}

/** RFC 6902, as `kubectl rollout undo` sends it. */
function jsonPatched(target: Json, operations: readonly { op: string; path: string; value?: unknown }[]): Json {
  const result = structuredClone(target);
  for (const { op, path, value } of operations) {
    const names = path.split('/').slice(1).map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~')); // prettier-ignore
    const last = names.pop()!;
    const holder = names.reduce<Json>((object, name) => object[name] as Json, result);
    if (op === 'remove') delete holder[last];
    else holder[last] = value;
  }
  return result;
}

/** Matches labels with a selector like `a=b,c=d`. */
const selects = (selector: string, labels: Record<string, string> = {}) =>
  selector
    .split(',')
    .filter((part) => part !== '')
    .every((part) => {
      const [name = '', value = ''] = part.split('=');
      return labels[name] === value;
    });

/** The fields of a protobuf message by number, only fields of bytes: the double needs no others. */
function fieldsOf(message: Buffer): Map<number, Buffer[]> {
  const fields = new Map<number, Buffer[]>();
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = message[at++]!;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = varint();
    if (tag % 8 === 2) {
      const length = varint();
      fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), message.subarray(at, at + length)]);
      at += length;
    } else if (tag % 8 === 0) varint();
    else throw new Error(`a field of type ${tag % 8}`);
  }
  return fields;
}

/** Helm writes its releases as protobuf: four bytes of magic, then an envelope (`runtime.Unknown`). */
function secretOf(body: Buffer): Manifest {
  const secret = fieldsOf(fieldsOf(body.subarray(4)).get(2)![0]!);
  const metadata = fieldsOf(secret.get(1)![0]!);
  const text = (from: Map<number, Buffer[]>, field: number) => from.get(field)?.[0]?.toString() ?? '';
  const map = (entries: Buffer[] = [], encoding: BufferEncoding) =>
    Object.fromEntries(
      entries.map(fieldsOf).map((entry) => [text(entry, 1), entry.get(2)?.[0]?.toString(encoding) ?? '']),
    );
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: text(metadata, 1), labels: map(metadata.get(11), 'utf8') },
    data: map(secret.get(2), 'base64'),
    type: text(secret, 3),
  };
}

/** The body of a write; the double ignores the body of a removal. */
function bodyOf({ method, headers }: IncomingMessage, body: Buffer): Json | Json[] {
  if (body.length === 0 || method === 'DELETE') return {};
  if (headers['content-type']?.includes('protobuf')) return secretOf(body);
  return JSON.parse(body.toString()) as Json | Json[];
}

const patchOf = (found: Json, body: unknown, type: string): Json =>
  type.includes('json-patch')
    ? jsonPatched(found, body as Parameters<typeof jsonPatched>[1])
    : patched(found, body as Json, type.includes('strategic'));

/** A few of the defaults that clients rely on. */
const defaults: Record<string, Json> = {
  Deployment: {
    replicas: 1,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
  },
  Service: { clusterIP: '10.96.0.1' },
};

export interface KubernetesDouble {
  /** The kubeconfig that clients use. */
  readonly kubeconfig: string;
  /** The object of a kind and name, or undefined. */
  find(kind: string, name: string): Manifest | undefined;
  /** All objects, with and without a namespace, except the double's own. */
  all(): Manifest[];
  /** Every write, such as `create Job/relay-migrate`. The test empties the list. */
  readonly writes: string[];
  /**
   * Decides the outcome of a Job, which the pod logs. By default a Job completes if the Secret of the relay and its
   * ServiceAccount exist, because its pod could not start without them.
   */
  jobEnds: (job: Manifest, find: KubernetesDouble['find']) => 'Complete' | 'Failed';
  /** Writes it like `kubectl apply`. */
  put(object: Manifest): void;
  stop(): Promise<void>;
}

/** Serves the kinds of these objects, and the kinds that Helm itself needs. */
export async function startKubernetes(objects: readonly Manifest[]): Promise<KubernetesDouble> {
  const store = new Map<string, Manifest>();
  const watchers = new Set<{ kind: string; name: string; response: ServerResponse }>();
  const writes: string[] = [];
  let version = 0;
  const own = [
    ['v1', 'Secret'],
    ['v1', 'Pod'],
    ['apps/v1', 'ReplicaSet'],
  ] as const;
  const kinds = new Map([...own.map(([group, kind]) => [kind as string, group as string] as const), ...objects.map((object) => [object.kind, object.apiVersion] as const)]); // prettier-ignore
  const keyOf = (kind: string, name: string) => `${kind}/${name}`;
  const find = (kind: string, name: string) => store.get(keyOf(kind, name));

  const tell = (type: string, object: Manifest) => {
    for (const { kind, name, response } of watchers)
      if (kind === object.kind && (name === '' || name === object.metadata.name))
        response.write(`${JSON.stringify({ type, object })}\n`);
  };

  const put = (object: Manifest): Manifest => {
    const { kind, metadata } = object;
    const before = find(kind, metadata.name);
    const changed = !isDeepStrictEqual(before?.spec, object.spec);
    version += 1;
    const written: Manifest = {
      ...object,
      metadata: {
        creationTimestamp: new Date().toISOString(),
        uid: randomUUID(),
        ...(clusterWide.has(kind) ? {} : { namespace: 'relay' }),
        ...before?.metadata,
        ...metadata,
        resourceVersion: `${version}`,
        generation: (before?.metadata.generation ?? 0) + (changed ? 1 : 0),
      },
    };
    store.set(keyOf(kind, metadata.name), written);
    tell(before ? 'MODIFIED' : 'ADDED', written);
    return written;
  };

  /** Sets the status that controllers would set, without pods. */
  const reconcile = (object: Manifest) => {
    if (object.kind === 'Deployment') {
      const { name, uid, generation = 0 } = object.metadata;
      const { selector, template, replicas } = object.spec as Json & { template: Manifest };
      const status = { replicas, readyReplicas: replicas, updatedReplicas: replicas, availableReplicas: replicas };
      put({ ...object, status: { ...status, observedGeneration: generation } });
      const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name, uid, controller: true };
      const annotations = { 'deployment.kubernetes.io/revision': `${generation}` };
      const metadata = { name: `${name}-${generation}`, labels: template.metadata.labels, annotations, ownerReferences: [owner] }; // prettier-ignore
      const set = put({ apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata, spec: { replicas, selector, template } });
      put({ ...set, status: { ...status, observedGeneration: set.metadata.generation } });
    }
    if (object.kind !== 'Job') return;
    const labels = { 'batch.kubernetes.io/controller-uid': object.metadata.uid as string };
    const job = { ...object, spec: { ...object.spec, selector: { matchLabels: labels } } };
    put(job);
    const { spec } = (job.spec as unknown as { template: Manifest }).template;
    const pod = put({ apiVersion: 'v1', kind: 'Pod', metadata: { name: `${object.metadata.name}-1`, labels }, spec: spec ?? {} }); // prettier-ignore
    // Runs after the response, because Helm lists the Job first and then watches it.
    setTimeout(() => {
      const type = double.jobEnds(object, find);
      const conditions = [{ type, status: 'True', reason: type === 'Failed' ? 'BackoffLimitExceeded' : 'Completed' }];
      put({ ...job, status: { conditions, [type === 'Failed' ? 'failed' : 'succeeded']: 1 } });
      put({ ...pod, status: { phase: type === 'Failed' ? 'Failed' : 'Succeeded' } });
    }, 100);
  };

  const write = (verb: string, object: Manifest) => {
    writes.push(`${verb} ${object.kind}/${object.metadata.name}`);
    const spec = patched(defaults[object.kind] ?? {}, object.spec ?? {}, false);
    const written = put({ ...object, ...(object.spec === undefined ? {} : { spec }) });
    reconcile(written);
    return find(written.kind, written.metadata.name) ?? written;
  };

  const remove = (object: Manifest) => {
    writes.push(`delete ${object.kind}/${object.metadata.name}`);
    store.delete(keyOf(object.kind, object.metadata.name));
    tell('DELETED', object);
  };

  const discovery = (path: string): Json | undefined => {
    const groups = [...new Set(kinds.values())];
    if (path === '/version') return { major: '1', minor: '31', gitVersion: 'v1.31.0' };
    if (path === '/api') return { kind: 'APIVersions', versions: ['v1'] };
    if (path === '/apis')
      return {
        kind: 'APIGroupList',
        apiVersion: 'v1',
        groups: groups
          .filter((groupVersion) => groupVersion.includes('/'))
          .map((groupVersion) => {
            const [name, version] = groupVersion.split('/');
            const only = { groupVersion, version };
            return { name, versions: [only], preferredVersion: only };
          }),
      };
    const groupVersion = groups.find((group) => path === (group === 'v1' ? '/api/v1' : `/apis/${group}`));
    if (groupVersion === undefined) return undefined;
    const verbs = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];
    const resources: Json[] = [...kinds]
      .filter(([, group]) => group === groupVersion)
      .map(([kind]) => ({ name: pluralOf(kind), singularName: kind.toLowerCase(), shortNames: kind === 'HorizontalPodAutoscaler' ? ['hpa'] : [], namespaced: !clusterWide.has(kind), kind, verbs })); // prettier-ignore
    if (groupVersion === 'apps/v1')
      resources.push({ name: 'deployments/scale', singularName: '', namespaced: true, group: 'autoscaling', version: 'v1', kind: 'Scale', verbs }); // prettier-ignore
    return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources };
  };

  const failed = (code: number, reason: string, message: string) => ({
    code,
    body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message },
  });

  const list = (kind: string, query: URLSearchParams) => {
    const [, named = ''] = /metadata\.name=(.+)/.exec(query.get('fieldSelector') ?? '') ?? [];
    const items = [...store.values()].filter(
      ({ kind: other, metadata }) =>
        other === kind &&
        (named === '' || metadata.name === named) &&
        selects(query.get('labelSelector') ?? '', metadata.labels),
    );
    return { named, body: { kind: `${kind}List`, apiVersion: kinds.get(kind), metadata: { resourceVersion: `${version}` }, items } }; // prettier-ignore
  };

  const change = (method: string, found: Manifest, body: unknown, type: string) => {
    if (method === 'DELETE') {
      remove(found);
      return { kind: 'Status', apiVersion: 'v1', status: 'Success' };
    }
    if (method === 'PUT') return write('replace', body as Manifest);
    return write('patch', patchOf(found, body, type) as Manifest);
  };

  /** The scale subresource, with the number of replicas alone. */
  const scale = (method: string, found: Manifest, body: unknown, type: string) => {
    const { name } = found.metadata;
    const of = ({ spec }: Manifest) => ({ apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name, namespace: 'relay' }, spec: { replicas: spec?.replicas } }); // prettier-ignore
    if (method === 'GET') return of(found);
    const { spec } = method === 'PUT' ? (body as Manifest) : (patchOf(of(found), body, type) as Manifest);
    return of(write('scale', { ...found, spec: { ...found.spec, replicas: spec?.replicas } }));
  };

  const answer = (
    request: IncomingMessage,
    body: Json | Json[],
    response: ServerResponse,
  ): { code: number; body: object } | undefined => {
    const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://double');
    const { method = 'GET' } = request;
    const found = discovery(pathname);
    if (found) return { code: 200, body: found };
    const path =
      /^\/apis?\/(.+?)(?:\/namespaces\/relay)?\/([a-z]+)(?:\/([^/]+))?(\/scale|\/log)?$/.exec(pathname) ?? [];
    const [, group = '', plural = '', name, part] = path;
    const kind = [...kinds].find(([other, of]) => of === group && pluralOf(other) === plural)?.[0];
    if (kind === undefined) return failed(404, 'NotFound', `no ${pathname} here`);
    if (name === undefined && method === 'POST') {
      const { metadata } = body as unknown as Manifest;
      if (find(kind, metadata.name)) return failed(409, 'AlreadyExists', `${plural} "${metadata.name}" already exists`); // prettier-ignore
      return { code: 201, body: write('create', { apiVersion: group, kind, ...body } as Manifest) };
    }
    if (name === undefined) {
      const listed = list(kind, query);
      if (query.get('watch') === null) return { code: 200, body: listed.body };
      response.writeHead(200, { 'Content-Type': 'application/json' }).flushHeaders();
      // Sends changes since the list at once.
      if (query.get('resourceVersion') !== `${version}`)
        for (const object of listed.body.items) response.write(`${JSON.stringify({ type: 'ADDED', object })}\n`);
      const watcher = { kind, name: listed.named, response };
      watchers.add(watcher);
      response.on('close', () => watchers.delete(watcher));
      return undefined;
    }
    const object = find(kind, name);
    if (!object) return failed(404, 'NotFound', `${plural} "${name}" not found`);
    if (part === '/log') {
      response.end(`${String((object.status as Json | undefined)?.phase)}\n`);
      return undefined;
    }
    if (part === '/scale') return { code: 200, body: scale(method, object, body, request.headers['content-type'] ?? '') }; // prettier-ignore
    if (method === 'GET') return { code: 200, body: object };
    return { code: 200, body: change(method, object, body, request.headers['content-type'] ?? '') };
  };

  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      // An empty description of the types in protobuf: clients skip their validation.
      if (request.url?.startsWith('/openapi/v2')) {
        response.writeHead(200, { 'Content-Type': 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf' }).end();
        return;
      }
      const said = answer(request, bodyOf(request, Buffer.concat(parts)), response);
      if (said) response.writeHead(said.code, { 'Content-Type': 'application/json' }).end(JSON.stringify(said.body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  const double: KubernetesDouble = {
    kubeconfig: JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}` } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      users: [{ name: 'u', user: {} }],
      'current-context': 'c',
    }),
    find,
    all: () => [...store.values()].filter(({ kind }) => !own.some(([, other]) => other === kind)),
    writes,
    jobEnds: ({ spec }, find) => {
      const { serviceAccountName } = (spec as { template: { spec: { serviceAccountName: string } } }).template.spec;
      return find('Secret', 'relay-secrets') && find('ServiceAccount', serviceAccountName) ? 'Complete' : 'Failed';
    },
    put,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return double;
}
