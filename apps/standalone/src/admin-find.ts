/** `relay-admin find`: the case of a person, session, task, device or request, for support. No title, message or answer is in it. */
import { type Case, findRequest, findSubject, readCase } from '@relay/database';
import type { DiagnosticDeps } from './admin-operations.ts';
import { Refused } from './refused.ts';

type Value = string | number | boolean | Date | null;
type Facts = Readonly<Record<string, Value>>;

const shown = (value: Value): string => (value instanceof Date ? value.toISOString() : String(value));

/** One line: `name=value` of all that has a value. */
const lineOf = (facts: Facts): string =>
  Object.entries(facts)
    .filter(([, value]) => value !== null && value !== '' && value !== false)
    .map(([name, value]) => `${name}=${shown(value)}`)
    .join(' ');

const section = (title: string, rows: readonly Facts[]): string[] =>
  rows.length === 0 ? [`${title}: none`] : [`${title}:`, ...rows.map((row) => `  ${lineOf(row)}`)];

const quoted = (word: string) => `'${word.replaceAll("'", String.raw`'\''`)}'`;

/** The commands and queries that show a request, a task or a device in all pods. */
function queriesOf(word: string, traced: boolean): { what: string; query: string }[] {
  const pods = `--namespace relay --selector 'app.kubernetes.io/name in (relay-api, relay-gateway)'`;
  const inBackticks = word.replaceAll('`', '');
  return [
    { what: 'logs', query: `kubectl logs ${pods} --prefix --since=24h --tail=-1 | grep -F ${quoted(word)}` },
    { what: 'Loki', query: `{namespace="relay"} |= \`${inBackticks}\`` },
    ...(traced ? [{ what: 'Tempo', query: `{ span.relay.request_id = ${JSON.stringify(word)} }` }] : []),
  ];
}

function textOf(kind: string, id: string, found: Case): string[] {
  return [
    `${kind} ${id}`,
    ...(found.person ? [`person: ${lineOf(found.person)}`] : ['person: known to another sign-in service']),
    ...(found.session ? [`session: ${lineOf(found.session)}`] : []),
    ...section('devices', found.devices),
    ...section('connections', found.connections),
    ...section('queue', found.queue),
    ...section('schedules', found.schedules),
    ...section('outcomes', found.outcomes),
    ...section('deliveries', found.deliveries),
    ...section('audit', found.audit),
  ];
}

async function requestLines(deps: DiagnosticDeps, word: string, json: boolean): Promise<string[]> {
  if (deps.database instanceof Error) throw deps.database;
  const entries = await findRequest(deps.database, word);
  const traced = deps.config.otelExporterOtlpEndpoint !== undefined;
  const queries = queriesOf(word, traced);
  if (json) return [JSON.stringify({ kind: 'request', id: word, audit: entries, queries })];
  return [
    entries.length === 0
      ? `No person, session, task or device has the id ${word}, and no audit entry of this week has it as its request.`
      : `request ${word}`,
    ...(entries.length === 0 ? [] : section('audit', entries)),
    'Its path, if it is a request:',
    ...queries.map(({ what, query }) => `  ${what}: ${query}`),
    ...(traced ? [] : ['  Traces are off (OTEL_EXPORTER_OTLP_ENDPOINT).']),
  ];
}

/** @throws Refused for an address without an account; the reason why the database does not open */
export async function find(
  deps: DiagnosticDeps,
  word: string,
  { json = false }: { json?: boolean | undefined },
): Promise<string[]> {
  if (deps.database instanceof Error) throw deps.database;
  const subject = await findSubject(deps.database, word);
  if (!subject && word.includes('@'))
    throw new Refused(`No account has the address ${word}. "relay-admin people" lists them.`);
  if (!subject) return requestLines(deps, word, json);
  const found = await readCase(deps.database, subject);
  const { kind, id } = subject;
  const queries = kind === 'person' ? [] : queriesOf(kind === 'session' ? (subject.deviceId ?? id) : id, false);
  if (json) return [JSON.stringify({ kind, id, ...found, queries })];
  return [...textOf(kind, id, found), ...queries.map(({ what, query }) => `${what}: ${query}`)];
}
