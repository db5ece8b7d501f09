/**
 * Text → frame, at the door of a gateway or an api; nobody deeper checks again (contract §5, §9).
 * Malformed = not a JSON object with a text `type`. Unknown types and unknown event types pass as `unknown`, to be counted.
 * A known type with wrong fields is `invalid`, with a reason that names the field.
 */
import type { TSchema } from '@sinclair/typebox';
import { Auth, type AuthFrame } from './frames/attention.ts';
import {
  type FromDaemonFrame,
  type ReportEntry,
  ReportEntry as ReportEntrySchema,
  type SlashCommand,
  SlashCommand as SlashCommandSchema,
  daemonEvents,
  fromDaemonFrames,
} from './frames/from-daemon.ts';
import { toDaemonFrames, type ToDaemonFrame } from './frames/to-daemon.ts';
import { commands, controls, replies, type Command, type Control, type Reply } from './frames/instance.ts';
import { limits } from './schema.ts';
import { isNativeId } from './session-id.ts';
import { type Validator, parseJson, predicate, validator } from './validate.ts';

export type Decoded<F> =
  | { kind: 'frame'; frame: F; /** One reason per report entry that was left out */ dropped: readonly string[] }
  | { kind: 'malformed' | 'invalid' | 'unknown'; reason: string };

const compile = <K extends string>(schemas: Readonly<Record<K, TSchema>>) => {
  const table = new Map<string, Validator<unknown>>();
  for (const [name, schema] of Object.entries<TSchema>(schemas)) table.set(name, validator(schema));
  return table;
};

const fromDaemon = compile(fromDaemonFrames);
const events = compile(daemonEvents);
const toDaemon = compile(toDaemonFrames);
const entry = validator(ReportEntrySchema);
const isEntry = predicate(ReportEntrySchema);
const slashCommand = validator(SlashCommandSchema);
/** How many wrong entries of one report are explained; the others are only counted. */
const reasonsGiven = 100;
const auth = validator(Auth);
const none: readonly string[] = [];

function object(text: string): Record<string, unknown> | undefined {
  try {
    const value = parseJson(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** A name that a peer made up, fit for a log line: frames may be 16 MiB. */
const named = (name: string) => (name.length <= 64 ? name : `${name.slice(0, 64)}…`);

function typed(text: string): { type: string; value: Record<string, unknown> } | undefined {
  const value = object(text);
  return value && typeof value.type === 'string' ? { type: value.type, value } : undefined;
}

const malformed = { kind: 'malformed', reason: 'not a JSON object with a text "type"' } as const;

/** A frame that a daemon sent. `report_sessions` and `report_slash_commands` keep their good entries; the reasons of the others are in `dropped`. Unknown fields stay. */
export function decodeDaemonFrame(text: string): Decoded<FromDaemonFrame> {
  const raw = typed(text);
  if (!raw) return malformed;
  const { type, value } = raw;
  if (type === 'event') return decodeEvent(value);
  if (type === 'report_sessions') return decodeReport(value);
  if (type === 'report_slash_commands') return decodeCommands(value);
  const check = fromDaemon.get(type);
  if (!check) return { kind: 'unknown', reason: named(type) };
  const checked = check(value);
  return checked.ok
    ? { kind: 'frame', frame: checked.value as FromDaemonFrame, dropped: none }
    : { kind: 'invalid', reason: `${type}: ${checked.reason}` };
}

function decodeEvent(value: Record<string, unknown>): Decoded<FromDaemonFrame> {
  const eventType = value.event_type;
  if (typeof eventType !== 'string') return { kind: 'invalid', reason: 'event: "event_type" is required' };
  const check = events.get(eventType);
  if (!check) return { kind: 'unknown', reason: `event ${named(eventType)}` };
  const checked = check(value);
  return checked.ok
    ? { kind: 'frame', frame: checked.value as FromDaemonFrame, dropped: none }
    : { kind: 'invalid', reason: `event ${eventType}: ${checked.reason}` };
}

function decodeReport(value: Record<string, unknown>): Decoded<FromDaemonFrame> {
  if (!Array.isArray(value.sessions))
    return { kind: 'invalid', reason: 'report_sessions: "sessions" must be an array' };
  const sessions: ReportEntry[] = [];
  const dropped: string[] = [];
  for (const candidate of value.sessions as unknown[]) {
    const reason = takeEntry(modern(candidate), sessions, dropped.length < reasonsGiven);
    if (reason !== undefined) dropped.push(reason);
  }
  return { kind: 'frame', frame: { ...value, type: 'report_sessions', sessions }, dropped };
}

/** Puts a good entry into `sessions`; returns why it did not. Explaining costs more than checking, so it ends at a bound. */
function takeEntry(candidate: unknown, sessions: ReportEntry[], explain: boolean): string | undefined {
  if (!isEntry(candidate)) {
    const checked = explain ? entry(candidate) : undefined;
    return checked?.ok === false ? checked.reason : 'as before';
  }
  if (!isNativeId(candidate.session_id)) return '"session_id" may not begin with PENDING-';
  sessions.push(candidate);
  return undefined;
}

/** Older daemons write `id` and `project_path`. Filled in in place: the entry was parsed a moment ago and is ours alone. */
function modern(candidate: unknown): unknown {
  if (typeof candidate !== 'object' || candidate === null) return candidate;
  const fields = candidate as Record<string, unknown>;
  if (missing(fields.session_id) && !missing(fields.id)) fields.session_id = fields.id;
  if (missing(fields.project) && !missing(fields.project_path)) fields.project = fields.project_path;
  return fields;
}

const missing = (value: unknown) => value === undefined || value === null;

function decodeCommands(value: Record<string, unknown>): Decoded<FromDaemonFrame> {
  const { session_id: sessionId, commands } = value;
  if (!Array.isArray(commands))
    return { kind: 'invalid', reason: 'report_slash_commands: "commands" must be an array' };
  if (!missing(sessionId) && typeof sessionId !== 'string')
    return { kind: 'invalid', reason: 'report_slash_commands: "session_id" must be string' };
  const good: SlashCommand[] = [];
  const dropped: string[] = [];
  for (const candidate of (commands as unknown[]).slice(0, limits.slashCommands)) {
    const checked = slashCommand(typeof candidate === 'string' ? { name: candidate } : candidate);
    if (checked.ok) good.push(checked.value);
    else if (dropped.length < reasonsGiven) dropped.push(checked.reason);
  }
  if (commands.length > limits.slashCommands) dropped.push(`more than ${limits.slashCommands} commands`);
  return { kind: 'frame', frame: { ...value, type: 'report_slash_commands', commands: good }, dropped };
}

/** A frame that the relay sent: for daemons. */
export function decodeRelayFrame(text: string): Decoded<ToDaemonFrame> {
  const raw = typed(text);
  if (!raw) return malformed;
  const check = toDaemon.get(raw.type);
  if (!check) return { kind: 'unknown', reason: named(raw.type) };
  const checked = check(raw.value);
  return checked.ok
    ? { kind: 'frame', frame: checked.value as ToDaemonFrame, dropped: none }
    : { kind: 'invalid', reason: `${raw.type}: ${checked.reason}` };
}

/** What an app sent on `/ws/attention`: an `auth` frame, or something to be ignored. */
export function decodeAppFrame(text: string): AuthFrame | undefined {
  const raw = typed(text);
  if (raw?.type !== 'auth') return undefined;
  const checked = auth(raw.value);
  return checked.ok ? checked.value : undefined;
}

const instanceDecoder = <F>(schemas: Readonly<Record<string, TSchema>>) => {
  const table = compile(schemas);
  return (text: string): F | undefined => {
    const value = object(text);
    const check = value && typeof value.kind === 'string' ? table.get(value.kind) : undefined;
    const checked = check?.(value);
    return checked?.ok ? (checked.value as F) : undefined;
  };
};

/** Frames between instances; undefined for a kind this release does not know. */
export const decodeCommand = instanceDecoder<Command>(commands);
export const decodeReply = instanceDecoder<Reply>(replies);
export const decodeControl = instanceDecoder<Control>(controls);
