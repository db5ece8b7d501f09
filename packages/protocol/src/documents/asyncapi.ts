/**
 * The WebSocket planes → AsyncAPI 3. Pure; the api serves the result at `/api/asyncapi.json`, a copy is in
 * `docs/asyncapi.json`. `send` and `receive` are from the point of view of the relay.
 */
import { describedCloseCodes } from './close-meanings.ts';
import { type Plane, registry } from '../registry.ts';
import { agentTypePattern } from '../schema.ts';
import { collectComponents, type Components, type Json, type JsonObject, objectOf } from './json-schema.ts';

/** `from-daemon.event.PROGRESS` → `event.PROGRESS`: the name of a message inside its channel. */
const messageName = (name: string) => name.slice(name.indexOf('.') + 1);

const namesOf = (...planes: Plane[]) =>
  Object.entries(registry)
    .filter(([, { plane }]) => planes.includes(plane))
    .map(([name]) => name);

function message(name: string, components: Components): JsonObject {
  const entry = registry[name];
  if (!entry) throw new TypeError(`the registry has no ${name}`);
  return {
    name: messageName(name),
    title: messageName(name),
    summary: entry.description,
    contentType: 'application/json',
    ...(name === 'to-daemon.get_messages' || name === 'from-daemon.messages'
      ? { correlationId: { $ref: '#/components/correlationIds/request' } }
      : {}),
    payload: components.refer(entry.schema),
    examples: [{ name: messageName(name), payload: entry.example as Json }],
  };
}

const text = (description: string, more: JsonObject = {}) => ({ type: 'string', description, ...more });

const daemonHeaders = {
  type: 'object',
  required: ['Authorization', 'X-Device-ID'],
  properties: {
    Authorization: text('Bearer <refresh token>'),
    'X-Device-ID': text('Device id'),
    'X-Agent-Type': text('Agent type; must match the registration of the device, otherwise 403', {
      pattern: agentTypePattern,
    }),
    'X-Agents': text(
      'All agents of this daemon, separated by commas: `codex;name=Codex;version=2.6.0`. Names and versions are percent-encoded; at most 16',
    ),
    'X-Daemon-Version': text('Version of the daemon'),
    'X-Daemon-Capabilities': text(
      'Names separated by commas; `transcript` and `prompts` only count if the 101 has them in `X-Relay-Capabilities`',
    ),
  },
};

const appHeaders = {
  type: 'object',
  properties: {
    Authorization: text('Bearer <access token>; one of the four ways to present a credential'),
    'Sec-WebSocket-Protocol': text('relay.v1, bearer.<access token>: the second way'),
    Origin: text('If present, it must be an allowed origin'),
  },
};

const appQuery = {
  type: 'object',
  properties: {
    ticket: text('From POST /api/ws-tickets; one use, 30 s: the third way'),
    access_token: text('Access token: the fourth way'),
    token: text('Alias of `access_token`'),
    since: text('Resume after this offset; empty = "I understand offsets"'),
    events: text(
      '`output` requests `task_output` frames, `transcript` requests `transcript` frames; separate both with a comma',
    ),
  },
};

const binding = (headers: JsonObject, query?: JsonObject) => ({
  ws: { method: 'GET', headers, ...(query ? { query } : {}), bindingVersion: '0.1.0' },
});

function channel(address: string, description: string, names: string[], bindings: JsonObject): JsonObject {
  return {
    address,
    description,
    messages: objectOf(names.map((name) => [messageName(name), { $ref: `#/components/messages/${name}` }])),
    bindings,
    'x-close-codes': describedCloseCodes.map(({ code, reason, comeBack, meaning }) => ({
      code,
      reason,
      comeBack,
      meaning,
    })),
  };
}

const inChannel = (where: string, names: string[]) =>
  names.map((name) => ({ $ref: `#/channels/${where}/messages/${messageName(name)}` }));

function operation(
  action: 'send' | 'receive',
  where: 'daemon' | 'attention',
  summary: string,
  names: string[],
  reply: string[] = [],
): JsonObject {
  return {
    action,
    summary,
    channel: { $ref: `#/channels/${where}` },
    messages: inChannel(where, names),
    security: (where === 'daemon' ? ['deviceToken'] : ['userToken', 'ticket', 'queryToken']).map((scheme) => ({
      $ref: `#/components/securitySchemes/${scheme}`,
    })),
    ...(reply.length > 0
      ? { reply: { channel: { $ref: `#/channels/${where}` }, messages: inChannel(where, reply) } }
      : {}),
  };
}

/** The two halves of a frame conversation, without the frames that have an operation of their own. */
const except = (names: string[], ...own: string[]) => names.filter((name) => !own.includes(name));

function operations(): JsonObject {
  const toDaemon = namesOf('to-daemon');
  const fromDaemon = namesOf('from-daemon');
  const attention = namesOf('attention');
  return {
    keepDaemonAlive: operation('send', 'daemon', 'Every 30 s.', ['to-daemon.ping'], ['from-daemon.pong']),
    readHistory: operation(
      'send',
      'daemon',
      'Request a page of history; the daemon has 10 s to answer.',
      ['to-daemon.get_messages'],
      ['from-daemon.messages'],
    ),
    instructDaemon: operation(
      'send',
      'daemon',
      'Tasks, watching and the version policy.',
      except(toDaemon, 'to-daemon.ping', 'to-daemon.get_messages'),
    ),
    hearDaemon: operation(
      'receive',
      'daemon',
      'Reports of the daemon and its agent.',
      except(fromDaemon, 'from-daemon.pong', 'from-daemon.messages'),
    ),
    updateApp: operation(
      'send',
      'attention',
      'Events of sessions and devices.',
      except(attention, 'attention.auth_ok'),
    ),
    renewCredential: operation(
      'receive',
      'attention',
      'Renew the credential without reconnecting.',
      ['from-app.auth'],
      ['attention.auth_ok'],
    ),
    showSession: operation('receive', 'attention', 'The session that the app shows to its person.', ['from-app.focus']),
  };
}

/** The AsyncAPI 3 document of the relay at `wsUrl`, like `wss://relay.example.com` (a path in front of `/ws` is kept). */
export function asyncApiDocument({ wsUrl, version }: { wsUrl: string; version: string }): JsonObject {
  const { protocol, host, pathname } = new URL(wsUrl);
  const components = collectComponents();
  const planes = namesOf('to-daemon', 'from-daemon', 'attention', 'from-app');
  for (const name of namesOf('transcript')) components.refer(registry[name]!.schema);
  const messages = objectOf(planes.map((name) => [name, message(name, components)]));
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Agent session relay: WebSocket planes',
      version,
      description:
        'Every frame is one text message that contains one JSON object with a string `type`. Receivers ignore unknown fields, unknown types and unknown ' +
        'event types.',
    },
    defaultContentType: 'application/json',
    servers: {
      relay: {
        host,
        protocol: protocol.replace(/:$/, ''),
        ...(pathname === '/' ? {} : { pathname: pathname.replace(/\/$/, '') }),
      },
    },
    channels: {
      daemon: channel(
        '/ws/daemon',
        'For daemons. After the upgrade the daemon sends `status`, then `report_sessions`.',
        namesOf('to-daemon', 'from-daemon'),
        binding(daemonHeaders),
      ),
      attention: channel(
        '/ws/attention',
        'For apps of users. Requires exactly one credential. The relay closes the socket with 4401 when the credential expires, unless `auth` renews it.',
        namesOf('attention', 'from-app'),
        binding(appHeaders, appQuery),
      ),
    },
    operations: operations(),
    components: {
      messages,
      schemas: components.schemas(),
      correlationIds: { request: { location: '$message.payload#/request_id' } },
      securitySchemes: {
        deviceToken: { type: 'http', scheme: 'bearer', description: 'Refresh token of the device.' },
        userToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'Access token with the scope sessions:read.',
        },
        ticket: { type: 'httpApiKey', in: 'query', name: 'ticket', description: 'Single-use ticket.' },
        queryToken: { type: 'httpApiKey', in: 'query', name: 'access_token', description: 'Access token.' },
      },
    },
  };
}
