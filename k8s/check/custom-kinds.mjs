// The custom kinds of the manifests, with their permitted fields: Gateway API 1.x (standard channel), Envoy Gateway 1.x
// and the Prometheus operator. A subset: add a new field here, after a look at its reference.
// Notation: see walkCustom in fields.mjs.

const one = (...words) => new Set(words);

const policyTarget = { 'group!': 'string', 'kind!': 'string', 'name!': 'string', sectionName: 'string' };
const routeMatch = {
  path: { type: one('Exact', 'PathPrefix', 'RegularExpression'), value: 'string' },
  headers: [{ type: one('Exact', 'RegularExpression'), 'name!': 'string', 'value!': 'string' }],
  method: 'string',
};
const routeFilter = {
  'type!': one('RequestRedirect', 'RequestHeaderModifier', 'ResponseHeaderModifier', 'ExtensionRef', 'URLRewrite'),
  requestRedirect: { scheme: one('http', 'https'), hostname: 'string', port: 'integer', statusCode: one(301, 302) },
  extensionRef: { 'group!': 'string', 'kind!': 'string', 'name!': 'string' },
};
const labelSelector = {
  matchLabels: { '*': 'string' },
  matchExpressions: [
    { 'key!': 'string', 'operator!': one('In', 'NotIn', 'Exists', 'DoesNotExist'), values: ['string'] },
  ],
};

export const customKinds = {
  'gateway.networking.k8s.io/v1 Gateway': {
    'spec!': {
      'gatewayClassName!': 'string',
      infrastructure: { parametersRef: { 'group!': 'string', 'kind!': 'string', 'name!': 'string' } },
      'listeners!': [
        {
          'name!': 'string',
          hostname: 'string',
          'port!': 'integer',
          'protocol!': one('HTTP', 'HTTPS', 'TLS', 'TCP', 'UDP'),
          tls: {
            mode: one('Terminate', 'Passthrough'),
            certificateRefs: [{ group: 'string', kind: 'string', 'name!': 'string', namespace: 'string' }],
          },
          allowedRoutes: { namespaces: { from: one('All', 'Selector', 'Same'), selector: labelSelector } },
        },
      ],
    },
  },
  'gateway.networking.k8s.io/v1 HTTPRoute': {
    'spec!': {
      parentRefs: [{ 'name!': 'string', namespace: 'string', sectionName: 'string', port: 'integer' }],
      hostnames: ['string'],
      rules: [
        {
          name: 'string',
          matches: [routeMatch],
          filters: [routeFilter],
          backendRefs: [{ 'name!': 'string', kind: 'string', namespace: 'string', port: 'integer', weight: 'integer' }],
          timeouts: { request: 'duration', backendRequest: 'duration' },
        },
      ],
    },
  },
  'gateway.envoyproxy.io/v1alpha1 HTTPRouteFilter': {
    'spec!': {
      directResponse: {
        contentType: 'string',
        statusCode: 'integer',
        body: { 'type!': one('Inline'), inline: 'string' },
      },
    },
  },
  'gateway.envoyproxy.io/v1alpha1 ClientTrafficPolicy': {
    'spec!': {
      'targetRefs!': [policyTarget],
      tls: { minVersion: one('1.2', '1.3'), alpnProtocols: ['string'] },
      connection: { connectionLimit: { 'value!': 'integer' } },
      tcpKeepalive: { idleTime: 'duration', interval: 'duration', probes: 'integer' },
      clientIPDetection: { xForwardedFor: { numTrustedHops: 'integer' } },
      timeout: {
        tcp: { idleTimeout: 'duration' },
        http: { requestReceivedTimeout: 'duration', idleTimeout: 'duration', streamIdleTimeout: 'duration' },
      },
    },
  },
  'gateway.envoyproxy.io/v1alpha1 BackendTrafficPolicy': {
    'spec!': {
      'targetRefs!': [policyTarget],
      loadBalancer: {
        'type!': one('ConsistentHash', 'LeastRequest', 'Random', 'RoundRobin'),
        consistentHash: { 'type!': one('SourceIP', 'Header', 'Cookie'), header: { 'name!': 'string' } },
      },
      circuitBreaker: {
        maxConnections: 'integer',
        maxPendingRequests: 'integer',
        maxParallelRequests: 'integer',
        maxParallelRetries: 'integer',
      },
      retry: {
        numRetries: 'integer',
        retryOn: {
          triggers: [one('connect-failure', 'reset', 'retriable-status-codes')],
          httpStatusCodes: ['integer'],
        },
      },
      timeout: {
        tcp: { connectTimeout: 'duration' },
        http: { connectionIdleTimeout: 'duration', maxConnectionDuration: 'duration', requestTimeout: 'duration' },
      },
      responseOverride: [
        {
          'match!': { 'statusCodes!': [{ 'type!': one('Value'), value: 'integer' }] },
          source: one('All', 'Backend', 'Local'),
          response: {
            contentType: 'string',
            statusCode: 'integer',
            body: { 'type!': one('Inline'), inline: 'string' },
          },
        },
      ],
    },
  },
  'gateway.envoyproxy.io/v1alpha1 EnvoyProxy': {
    'spec!': {
      'provider!': {
        'type!': one('Kubernetes'),
        kubernetes: {
          envoyDeployment: {
            strategy: {
              'type!': one('RollingUpdate', 'Recreate'),
              rollingUpdate: { maxUnavailable: 'integer', maxSurge: 'integer' },
            },
            pod: {
              topologySpreadConstraints: [
                {
                  'maxSkew!': 'integer',
                  'topologyKey!': 'string',
                  'whenUnsatisfiable!': one('ScheduleAnyway', 'DoNotSchedule'),
                  'labelSelector!': labelSelector,
                },
              ],
            },
            container: { resources: { requests: { '*': 'string' }, limits: { '*': 'string' } } },
          },
          envoyHpa: {
            minReplicas: 'integer',
            'maxReplicas!': 'integer',
            metrics: [
              {
                'type!': one('Resource'),
                resource: {
                  'name!': one('cpu', 'memory'),
                  'target!': { 'type!': one('Utilization'), 'averageUtilization!': 'integer' },
                },
              },
            ],
          },
          envoyPDB: { minAvailable: 'integer', maxUnavailable: 'integer' },
        },
      },
      shutdown: { drainTimeout: 'duration', minDrainDuration: 'duration' },
    },
  },
  'keda.sh/v1alpha1 ScaledObject': {
    'spec!': {
      'scaleTargetRef!': { 'name!': 'string' },
      'minReplicaCount!': 'integer',
      'maxReplicaCount!': 'integer',
      advanced: {
        horizontalPodAutoscalerConfig: {
          behavior: {
            scaleUp: {
              stabilizationWindowSeconds: 'integer',
              policies: [{ 'type!': one('Percent', 'Pods'), 'value!': 'integer', 'periodSeconds!': 'integer' }],
            },
            scaleDown: {
              stabilizationWindowSeconds: 'integer',
              policies: [{ 'type!': one('Percent', 'Pods'), 'value!': 'integer', 'periodSeconds!': 'integer' }],
            },
          },
        },
      },
      'triggers!': [
        {
          'type!': one('prometheus', 'cpu'),
          metricType: one('AverageValue', 'Utilization'),
          'metadata!': { '*': 'string' },
        },
      ],
    },
  },
  'monitoring.coreos.com/v1 ServiceMonitor': {
    'spec!': {
      jobLabel: 'string',
      'selector!': labelSelector,
      'endpoints!': [
        { port: 'string', path: 'string', interval: 'duration', scrapeTimeout: 'duration', honorLabels: 'boolean' },
      ],
    },
  },
  'monitoring.coreos.com/v1 PrometheusRule': {
    'spec!': {
      'groups!': [
        {
          'name!': 'string',
          interval: 'duration',
          'rules!': [
            {
              alert: 'string',
              record: 'string',
              'expr!': 'string',
              for: 'duration',
              labels: { '*': 'string' },
              annotations: { '*': 'string' },
            },
          ],
        },
      ],
    },
  },
};
