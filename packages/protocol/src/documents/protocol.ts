/** The registry → the page `/docs/protocol.html` of a relay: every frame and body with its field table and its golden example. Pure. */
import { type Plane, type Registered, registry } from '../registry.ts';
import { type Route, routes } from '../routes.ts';
import { userFrameKinds } from '../frames/instance.ts';
import type { TSchema } from '../schema.ts';
import { pendingSessionId, sessionId } from '../examples/story.ts';
import { closeCodeTable } from './errors.ts';
import { isNamed } from './json-schema.ts';
import { code, fieldTable, generatedNote, jsonBlock, linkTo, namedWithin, table } from './markdown.ts';

const inPlane = (plane: Plane) => Object.entries(registry).filter(([, entry]) => entry.plane === plane);

/** The heading of an entry: its name without the plane, `event PROGRESS` for an event. */
const titleOf = (name: string) => name.slice(name.indexOf('.') + 1).replace('.', ' ');

const section = (name: string, { schema, description, example }: Registered): string =>
  [
    `### ${titleOf(name)}`,
    description,
    ...(schema.type === 'object' ? [fieldTable(schema)] : []),
    jsonBlock(example),
    `<sub>[examples/${name}.json](../examples/${name}.json)</sub>`,
  ].join('\n\n');

/** Records that frames or bodies contain and that lack a section of their own. */
function recordsOf(schemas: readonly TSchema[], documented: Set<string>): string[] {
  const named = new Map<string, TSchema>();
  for (const schema of schemas) namedWithin(schema, named);
  return [...named]
    .filter(([title]) => !documented.has(title))
    .map(([title, schema]) => {
      documented.add(title);
      return [`### ${title}`, schema.description ?? '', fieldTable(schema)].join('\n\n');
    });
}

function plane(heading: string, introduction: string, planes: Plane[], documented: Set<string>): string[] {
  const entries = planes.flatMap(inPlane);
  for (const [, { schema }] of entries) documented.add(schema.title ?? '');
  return [
    `## ${heading}`,
    introduction,
    ...entries.map(([name, entry]) => section(name, entry)),
    ...recordsOf(
      entries.map(([, { schema }]) => schema),
      documented,
    ),
  ];
}

const bodyName = (schema: TSchema | undefined) => (schema && isNamed(schema) ? linkTo(schema.title) : '');

const routeTable = (): string =>
  table(
    ['Route', 'Meaning', 'Credential', 'Request', 'Success'],
    Object.values<Route>(routes).map((route) => [
      code(`${route.method} ${route.path}`),
      route.summary,
      [route.credential, ...[route.scope ?? []].flat().map(code)].join(', '),
      [
        bodyName(route.body),
        ...Object.keys((route.query?.properties ?? {}) as object).map((name) => code(`?${name}`)),
        ...(route.idempotent ? [code('Idempotency-Key')] : []),
      ]
        .filter((part) => part !== '')
        .join(' '),
      Object.entries(route.success)
        .map(([status, schema]) => `${status} ${bodyName(schema)}`.trim())
        .join(', '),
    ]),
  );

const introduction = `REST and \`/ws/attention\` use camelCase, the daemon protocol uses snake_case. Every WebSocket frame is one text message that contains one JSON object with a string \`type\`.

The protocol changes only by addition. Receivers ignore unknown fields, frame types and event types, and the relay counts unknown types. Enumerations can get new values; existing fields and values never change. The relay drops and counts a known frame in which a required field is missing or has the wrong type. A frame that is not a JSON object with a string \`type\` is malformed: after the third malformed frame within 60 s the relay closes the socket with 4400.

The relay removes U+0000 from texts and replaces half of a surrogate pair with U+FFFD. Times are ISO 8601 in UTC with milliseconds.`;

const sessionIds = `\`<device_id>:<agent_type>:<native_session_id>\`, split on the first two colons only: a native id can contain colons and slashes. Apps URL-encode the id in paths.

${jsonBlock(sessionId)}

Until the daemon names the session, its native id is \`PENDING-\` followed by a ULID. That id stays a permanent alias: every route accepts it and returns the canonical id. A daemon must not report a native id that begins with \`PENDING-\` or is longer than 512 characters.

${jsonBlock(pendingSessionId)}`;

const userFrames = (): string =>
  table(
    ['Letter', 'For'],
    Object.entries(userFrameKinds).map(([letter, whom]) => [code(letter), whom]),
  );

/** The page as Markdown. */
export function protocolMarkdown(): string {
  const documented = new Set<string>();
  // Frames of apps contain records of the REST plane; those have their section there.
  const rest = new Set(inPlane('rest').flatMap(([, { schema }]) => [...namedWithin(schema).keys()]));
  return [
    generatedNote,
    '# Protocol',
    introduction,
    'Errors have [their own page](errors.md). Tools read [openapi.json](openapi.json) and [asyncapi.json](asyncapi.json), which a running relay also serves at `/api/openapi.json` and `/api/asyncapi.json`.',
    '## Session ids',
    sessionIds,
    ...plane(
      'Relay to daemon',
      'The frames that the relay sends on `/ws/daemon`. Daemons ignore types that they do not know.',
      ['to-daemon'],
      documented,
    ),
    ...plane(
      'Daemon to relay',
      'The frames that a daemon sends on `/ws/daemon`, with the event types of the frame `event`. In optional fields, `null` and absence mean the same.',
      ['from-daemon'],
      documented,
    ),
    ...plane(
      'Relay to app',
      'The frames that the relay sends on `/ws/attention`.',
      ['attention'],
      new Set([...documented, ...rest]),
    ),
    ...plane(
      'App to relay',
      'The frames that an app can send on `/ws/attention`. The relay ignores all others.',
      ['from-app'],
      documented,
    ),
    ...plane(
      'Transcripts',
      'The parts of a transcript. A session is one ordered list of items. A daemon with `transcript` sends every change of the list as operations; a reader that applies them in order gets the same list. Names are the same on every plane.',
      ['transcript'],
      new Set([...documented, ...rest]),
    ),
    '## REST',
    'Errors are in [errors.md](errors.md).',
    routeTable(),
    ...plane('REST bodies', 'Requests and responses, by name.', ['rest'], documented),
    ...plane(
      'Between instances',
      'The messages between instances of the relay, versioned (`v`), because two releases run side by side during a rollout. A receiver ignores a `kind` that it does not know. Apps and daemons never receive them.',
      ['instance'],
      new Set([...documented, ...rest]),
    ),
    userFrames(),
    '## Close codes',
    closeCodeTable(),
  ]
    .join('\n\n')
    .concat('\n');
}
