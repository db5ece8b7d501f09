/** `routes` → OpenAPI 3.1. Pure; the api serves the result at `/api/openapi.json`, a copy is in `docs/openapi.json`. */
import { errorCatalogue, type ErrorCode } from '../errors.ts';
import { ErrorResponse } from '../routes/bodies.ts';
import { type Body, exampleOf } from '../routes/body.ts';
import { type Route, routes } from '../routes.ts';
import { limits, type TSchema } from '../schema.ts';
import { type Components, collectComponents, isNamed, type Json, type JsonObject, objectOf } from './json-schema.ts';

const tags = {
  sessions: 'Conversations, their messages and tasks.',
  devices: 'Machines that run a daemon, and their registration.',
  watching: 'Watched sessions and notifications.',
  account: 'The caller, and tickets for the WebSocket.',
  system: 'Health and documents.',
} as const;
type Tag = keyof typeof tags;

const tagOf = ({ path }: Route): Tag => {
  if (/^\/api\/(sessions|tasks)/.test(path)) return 'sessions';
  if (path.startsWith('/api/devices')) return 'devices';
  if (/^\/api\/(watched-sessions|notifications)/.test(path)) return 'watching';
  return /^\/api\/(me|ws-tickets)/.test(path) ? 'account' : 'system';
};

const integer = { type: 'integer' };
const binary = { type: 'string', format: 'binary' };
const header = (description: string, schema: JsonObject): JsonObject => ({ description, schema });
const headers = {
  'X-Request-Id': header('Names this request in the logs of the relay.', { type: 'string' }),
  'X-RateLimit-Limit': header('Requests allowed in the window of 60 s.', integer),
  'X-RateLimit-Remaining': header('Requests left in the window.', integer),
  'X-RateLimit-Reset': header('End of the window, as a Unix time in seconds.', integer),
  'Retry-After': header('Seconds until a retry makes sense.', integer),
  'WWW-Authenticate': header('RFC 6750 challenge; names the missing scope.', { type: 'string' }),
  'Idempotent-Replay': header('`true` if this is the stored answer to an earlier request.', { type: 'string' }),
  Location: header('Address of the new resource.', { type: 'string' }),
} as const;
const refer = (...names: (keyof typeof headers)[]) =>
  objectOf(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const everyAnswer = (route: Route) =>
  refer(
    'X-Request-Id',
    ...(isRateLimited(route) ? (['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] as const) : []),
  );

const content = (body: Body, components: Components): JsonObject => ({
  'application/json': {
    schema: components.refer(body),
    ...(isNamed(body) && { example: exampleOf(body) as Json }),
  },
});

function successes(route: Route, components: Components): [string, JsonObject][] {
  return Object.entries(route.success).map(([status, schema]) => [
    status,
    {
      description: schema?.description ?? (schema ? 'The document.' : 'Done; no body.'),
      headers: {
        ...everyAnswer(route),
        ...(route.idempotent ? refer('Idempotent-Replay') : {}),
        ...(status === '201' && route.path === '/api/sessions' ? refer('Location') : {}),
      },
      ...(schema ? { content: content(schema, components) } : {}),
    },
  ]);
}

/** One error body per code of the catalogue. */
const errorExamples = (): JsonObject =>
  objectOf(
    Object.entries(errorCatalogue).map(([code, { status, sentence }]) => [
      code,
      { value: { error: sentence, code, status, ...(code === 'RATE_LIMITED' ? { retryAfter: 17 } : {}) } },
    ]),
  );

function refusals(route: Route, components: Components): [string, JsonObject][] {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorsOf(route)) {
    const { status } = errorCatalogue[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return [...byStatus].map(([status, codes]) => {
    const own = route.refusals?.[status];
    const shared = components.refer(ErrorResponse);
    return [
      String(status),
      {
        description: [...(own?.description ? [own.description] : []), ...codes.map((code) => `\`${code}\``)].join(' '),
        headers: {
          ...everyAnswer(route),
          ...(status === 401 || status === 403 ? refer('WWW-Authenticate') : {}),
          ...(status === 429 || status === 503 ? refer('Retry-After') : {}),
        },
        content: {
          'application/json': {
            schema: own ? { anyOf: [components.refer(own), shared] } : shared,
            examples: objectOf(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
          },
        },
      },
    ];
  });
}

function parameters(route: Route, components: Components): JsonObject[] {
  const required = new Set<string>((route.query?.required as string[] | undefined) ?? []);
  const query = Object.entries((route.query?.properties ?? {}) as Record<string, TSchema>);
  return [
    ...pathParameters(route).map((name) => ({
      name,
      in: 'path',
      required: true,
      description: name === 'userCode' ? '`XXXX-XXXX`; case and dash are ignored' : 'URL-encoded',
      schema: { type: 'string', minLength: 1 },
    })),
    ...query.map(([name, schema]) => ({
      name,
      in: 'query',
      required: required.has(name),
      description: schema.description ?? '',
      schema: components.refer(schema),
    })),
    ...(route.idempotent ? [{ $ref: '#/components/parameters/Idempotency-Key' }] : []),
  ];
}

function security({ credential, scope }: Route): JsonObject[] {
  const user = { userToken: [scope ?? []].flat() };
  if (credential === 'none') return [];
  if (credential === 'optional') return [{}, user];
  if (credential === 'answer') return [{ answerToken: [] }];
  return credential === 'user' ? [user] : [user, { deviceToken: [] }];
}

function operation(name: string, route: Route, components: Components): JsonObject {
  const inputs = parameters(route, components);
  return {
    operationId: name,
    summary: route.summary,
    tags: [tagOf(route)],
    security: security(route),
    ...(inputs.length > 0 ? { parameters: inputs } : {}),
    ...(route.body
      ? { requestBody: { required: route.method !== 'DELETE', content: content(route.body, components) } }
      : {}),
    ...(route.binary
      ? { requestBody: { required: true, content: { 'application/octet-stream': { schema: binary } } } }
      : {}),
    responses: objectOf([...successes(route, components), ...refusals(route, components)].sort(byName)),
  };
}

const byName = ([a]: [string, unknown], [b]: [string, unknown]) => a.localeCompare(b);

/**
 * The OpenAPI 3.1 document of the relay at `baseUrl` (without a trailing slash). One path item per path of `routes`, one
 * operation per route, `operationId` = the name of the route.
 */
export function openApiDocument({ baseUrl, version }: { baseUrl: string; version: string }): JsonObject {
  const components = collectComponents();
  const paths: Record<string, JsonObject> = {};
  for (const [name, route] of Object.entries<Route>(routes)) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(name, route, components) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Agent session relay',
      version,
      description:
        'Talk to the AI agents on your own machines from anywhere. Both sides ignore unknown fields; errors are ' +
        '`{error, code, status}` and clients branch on `code`. A route that exists answers other methods with 405 ' +
        '`METHOD_NOT_ALLOWED`, a route that does not exist answers 404 `NOT_FOUND`.',
    },
    servers: [{ url: baseUrl }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: components.schemas(),
      headers,
      examples: errorExamples(),
      parameters: {
        'Idempotency-Key': {
          name: 'Idempotency-Key',
          in: 'header',
          required: false,
          description:
            'The same key and body within 24 h return the same result and create nothing; another body returns 409 `IDEMPOTENCY_CONFLICT`.',
          schema: { type: 'string', minLength: 1, maxLength: limits.idempotencyKeyCharacters },
        },
      },
      securitySchemes: {
        userToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'Access token of a user. The names listed with a route are its required scopes.',
        },
        answerToken: {
          type: 'http',
          scheme: 'bearer',
          description: 'One-use token of a notification: it answers one question with one option, or with a text.',
        },
        deviceToken: { type: 'http', scheme: 'bearer', description: 'Refresh token of the device itself.' },
      },
    },
  };
}

/** Names in the path, in order: `/api/sessions/:id` → `['id']`. */
const pathParameters = ({ path }: Route): string[] => [...path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '');

/** GET /health and GET /ready are not limited (rules, 6.5). */
const isRateLimited = ({ path }: Route): boolean => path.startsWith('/api/');

/**
 * The codes of a route, its own and those from its credential and inputs, in catalogue order.
 * Excludes NOT_FOUND and METHOD_NOT_ALLOWED, which answer requests without a route.
 */
function errorsOf(route: Route): ErrorCode[] {
  const codes = new Set<ErrorCode>(route.errors);
  const add = (...more: ErrorCode[]) => more.forEach((code) => codes.add(code));
  const { credential } = route;
  if (credential !== 'none') add('INVALID_TOKEN', 'TOKEN_EXPIRED', 'TOKEN_REVOKED', 'SERVICE_UNAVAILABLE');
  if (credential === 'user' || credential === 'user-or-device' || credential === 'answer') add('UNAUTHORIZED');
  if (credential === 'user') add('DEVICE_TOKEN_NOT_ALLOWED');
  if (route.scope) add('INSUFFICIENT_SCOPE');
  if (route.query || route.body || route.idempotent || pathParameters(route).length > 0) add('INVALID_REQUEST');
  if (route.body) add('PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE');
  if (isRateLimited(route)) add('RATE_LIMITED');
  add('INTERNAL_ERROR');
  return (Object.keys(errorCatalogue) as ErrorCode[]).filter((code) => codes.has(code));
}
