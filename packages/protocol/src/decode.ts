/**
 * Text → frame, at the edge of a gateway or an api; later code does not check again (rules, 9.4).
 * Malformed = not a JSON object with a text `type`. Unknown types and unknown event types pass as `unknown`, to be
 * counted.
 * A known type with wrong fields is `invalid`, with a reason that names the field.
 */
import type { TSchema } from '@sinclair/typebox';
import { type FromAppFrame, fromAppFrames } from './frames/attention.ts';
import {
  type FromDaemonFrame,
  HistoryMessage,
  type ReportEntry,
  ReportEntry as ReportEntrySchema,
  type SlashCommand,
  SlashCommand as SlashCommandSchema,
  type SlashCommandSet,
  SlashCommandSet as SlashCommandSetSchema,
  daemonEvents,
  fromDaemonFrames,
} from './frames/from-daemon.ts';
import { toDaemonFrames, type ToDaemonFrame } from './frames/to-daemon.ts';
import { commands, controls, replies, type Command, type Control, type Reply } from './frames/instance.ts';
import { fit } from './fit.ts';
import { readTime } from './times.ts';
import { later, limits } from './schema.ts';
import { isNativeId } from './session-id.ts';
import { type Checked, type Validator, parseJson, predicate, validator } from './validate.ts';

export type Decoded<F> =
  | {
      kind: 'frame';
      frame: F;
      /** One reason per report entry that was left out */
      dropped: readonly string[];
      /** Number of overlong texts and lists that were shortened or dropped. Absent: 0. */
      shortened?: number;
    }
  | { kind: 'malformed' | 'invalid' | 'unknown'; reason: string };

const compile = <K extends string>(schemas: Readonly<Record<K, TSchema>>) => {
  const table = new Map<string, Validator<unknown>>();
  for (const [name, schema] of Object.entries<TSchema>(schemas)) table.set(name, validator(schema, { frames: true }));
  return table;
};

/** The validators of frames from the field: values that are too long are shortened, where the schema lets it. */
const lenient = (schemas: Readonly<Record<string, TSchema>>) => {
  const table = new Map<string, (value: Record<string, unknown>) => Checked<unknown> & { shortened?: number }>();
  for (const [name, schema] of Object.entries(schemas)) {
    const check = validator(schema, { frames: true });
    const added = addedFields(schema);
    table.set(name, (value) => {
      const first = check(value);
      if (first.ok) return first;
      let shortened = 0;
      for (const [field, fits] of added) {
        if (value[field] === undefined || fits(value[field])) continue;
        value[field] = null;
        shortened += 1;
      }
      fit(schema, value, () => (shortened += 1));
      return shortened === 0 ? first : { ...check(value), shortened };
    });
  }
  return table;
};

/** The fields that were added to a frame later, each with its validator. */
function addedFields(schema: TSchema): [string, (value: unknown) => boolean][] {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, TSchema & { [later]?: true }>);
  return properties.filter(([, field]) => field[later]).map(([name, field]) => [name, predicate(field)]);
}

const fromDaemon = lenient(fromDaemonFrames);
const events = lenient(daemonEvents);
const toDaemon = compile(toDaemonFrames);
const entry = validator(ReportEntrySchema, { frames: true });
const isEntry = predicate(ReportEntrySchema);
const storedMessage = validator(HistoryMessage, { frames: true });
const isMessage = predicate(HistoryMessage);
const slashCommand = validator(SlashCommandSchema, { frames: true });
const slashCommandSet = validator(SlashCommandSetSchema, { frames: true });
/** The most wrong entries of one report that are explained; the others are only counted. */
const reasonsGiven = 100;
const fromApp = compile(fromAppFrames);
const none: readonly string[] = [];
/** The reason of a valid entry that was left out. */
export const tooManyEntries = `more than ${limits.reportEntries} entries`;

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

/** A name from a peer, shortened for a log line: frames can be 16 MiB. */
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
  if (type === 'messages') return decodeMessages(value);
  const check = fromDaemon.get(type);
  if (!check) return { kind: 'unknown', reason: named(type) };
  return decoded(type, check(value));
}

function decoded(name: string, checked: Checked<unknown> & { shortened?: number }): Decoded<FromDaemonFrame> {
  if (!checked.ok) return { kind: 'invalid', reason: `${name}: ${checked.reason}` };
  const { value, shortened } = checked;
  const frame = { kind: 'frame', frame: value as FromDaemonFrame, dropped: none } as const;
  return shortened === undefined ? frame : { ...frame, shortened };
}

/** An ending is accepted even if its text is not (rules, 3.9). */
const wordsOf: Readonly<Record<string, string>> = { TASK_COMPLETE: 'result', ERROR: 'error' };

function decodeEvent(value: Record<string, unknown>): Decoded<FromDaemonFrame> {
  const eventType = value.event_type;
  if (typeof eventType !== 'string') return { kind: 'invalid', reason: 'event: "event_type" is required' };
  const check = events.get(eventType);
  if (!check) return { kind: 'unknown', reason: `event ${named(eventType)}` };
  const words = wordsOf[eventType];
  if (words !== undefined && typeof value[words] !== 'string') value[words] = '';
  return decoded(`event ${eventType}`, check(value));
}

function decodeReport(value: Record<string, unknown>): Decoded<FromDaemonFrame> {
  if (!Array.isArray(value.sessions))
    return { kind: 'invalid', reason: 'report_sessions: "sessions" must be an array' };
  const candidates = value.sessions as unknown[];
  const sessions: ReportEntry[] = [];
  const dropped: string[] = [];
  let shortened = 0;
  const count = () => (shortened += 1);
  for (const candidate of candidates.length <= limits.reportEntries ? candidates : newest(candidates)) {
    const reason = takeEntry(modern(candidate), sessions, dropped.length < reasonsGiven, count);
    if (reason !== undefined) dropped.push(reason);
  }
  for (let more = limits.reportEntries; more < candidates.length; more += 1) dropped.push(tooManyEntries);
  const frame = { ...value, type: 'report_sessions' as const, sessions };
  return { kind: 'frame', frame, dropped, ...(shortened === 0 ? {} : { shortened }) };
}

/**
 * Keeps the valid messages. An undecodable answer, or one without a valid message, becomes a failure with its reason,
 * because a caller waits for it (rules, 9.8).
 */
function decodeMessages(value: Record<string, unknown>): Decoded<FromDaemonFrame> {
  const dropped: string[] = [];
  const given = Array.isArray(value.messages) ? (value.messages as unknown[]) : undefined;
  if (given && !given.every((candidate) => isMessage(candidate))) {
    const good: unknown[] = [];
    for (const candidate of given) {
      const checked = storedMessage(candidate);
      if (checked.ok) good.push(candidate);
      else if (fitted(HistoryMessage, candidate) && isMessage(candidate)) good.push(candidate);
      else dropped.push(dropped.length < reasonsGiven ? checked.reason : 'as before');
    }
    value.messages = good;
    if (good.length === 0 && missing(value.error)) value.error = `no message could be read: ${dropped[0]}`;
  }
  const frame = decoded('messages', fromDaemon.get('messages')!(value));
  if (frame.kind === 'frame') return { ...frame, dropped };
  const { request_id: requestId } = value;
  if (frame.kind !== 'invalid' || typeof requestId !== 'string' || requestId === '') return frame;
  return { kind: 'frame', frame: { type: 'messages', request_id: requestId, error: frame.reason }, dropped };
}

/** Shortens overlong values in place. False if it is not an object. */
function fitted(schema: TSchema, candidate: unknown): boolean {
  if (typeof candidate !== 'object' || candidate === null) return false;
  fit(schema, candidate as Record<string, unknown>, () => undefined);
  return true;
}

/** The entries with the newest `last_activity`; entries without a readable time come last. */
function newest(candidates: readonly unknown[]): unknown[] {
  return candidates
    .map((candidate) => ({ candidate, at: activityOf(candidate) }))
    .sort((one, other) => other.at - one.at)
    .slice(0, limits.reportEntries)
    .map(({ candidate }) => candidate);
}

function activityOf(candidate: unknown): number {
  const at = (candidate as { last_activity?: unknown } | null)?.last_activity;
  return (typeof at === 'string' ? readTime(at)?.getTime() : undefined) ?? -Infinity;
}

/**
 * Puts a valid entry into `sessions`, or returns the reason against it. Explaining costs more than checking, so the
 * number of reasons is bounded.
 */
function takeEntry(
  candidate: unknown,
  sessions: ReportEntry[],
  explain: boolean,
  count: () => void,
): string | undefined {
  if (!isEntry(candidate) && !isFittedEntry(candidate, count)) {
    const checked = explain ? entry(candidate) : undefined;
    return checked?.ok === false ? checked.reason : 'as before';
  }
  if (!isNativeId(candidate.session_id)) return '"session_id" may not begin with PENDING-';
  sessions.push(candidate);
  return undefined;
}

/** Whether it is an entry once its texts are within their bounds, which it changes in place. */
function isFittedEntry(candidate: unknown, count: () => void): candidate is ReportEntry {
  if (typeof candidate !== 'object' || candidate === null) return false;
  fit(ReportEntrySchema, candidate as Record<string, unknown>, count);
  return isEntry(candidate);
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
  const { session_id: sessionId, commands, sets } = value;
  const invalid = (why: string) => ({ kind: 'invalid', reason: `report_slash_commands: ${why}` }) as const;
  if (missing(sets) && !Array.isArray(commands)) return invalid('"commands" must be an array');
  if (!missing(sets) && !Array.isArray(sets)) return invalid('"sets" must be an array');
  if (!missing(commands) && !Array.isArray(commands)) return invalid('"commands" must be an array');
  if (!missing(sessionId) && typeof sessionId !== 'string') return invalid('"session_id" must be string');
  const dropped: string[] = [];
  const good = {
    ...(Array.isArray(commands) ? { commands: takeCommands(commands as unknown[], dropped) } : {}),
    ...(Array.isArray(sets) ? { sets: takeSets(sets as unknown[], dropped) } : {}),
  };
  return { kind: 'frame', frame: { ...value, type: 'report_slash_commands', ...good }, dropped };
}

/** The valid sets; together they hold at most as many commands as ten full sets. */
function takeSets(sets: readonly unknown[], dropped: string[]): SlashCommandSet[] {
  const good: SlashCommandSet[] = [];
  let left: number = limits.slashCommands * 10;
  for (const candidate of sets.slice(0, limits.slashCommandSets)) {
    const { commands } = (candidate ?? {}) as { commands?: unknown };
    if (typeof candidate !== 'object' || !Array.isArray(commands)) {
      if (dropped.length < reasonsGiven) dropped.push('a set without "commands"');
      continue;
    }
    const set = { ...candidate, commands: takeCommands(commands as unknown[], dropped).slice(0, left) };
    const checked = slashCommandSet(set);
    if (checked.ok) {
      left -= set.commands.length;
      good.push(checked.value);
    } else if (dropped.length < reasonsGiven) dropped.push(checked.reason);
  }
  if (sets.length > limits.slashCommandSets) dropped.push(`more than ${limits.slashCommandSets} sets`);
  return good;
}

function takeCommands(commands: readonly unknown[], dropped: string[]): SlashCommand[] {
  const good: SlashCommand[] = [];
  for (const candidate of commands.slice(0, limits.slashCommands)) {
    const checked = slashCommand(typeof candidate === 'string' ? { name: candidate } : hinted(candidate));
    if (checked.ok) good.push(checked.value);
    else if (dropped.length < reasonsGiven) dropped.push(checked.reason);
  }
  if (commands.length > limits.slashCommands) dropped.push(`more than ${limits.slashCommands} commands`);
  return good;
}

/** Daemons in the field write `usage_hint`. Filled in in place, as in `modern`. */
function hinted(candidate: unknown): unknown {
  if (typeof candidate !== 'object' || candidate === null) return candidate;
  const fields = candidate as Record<string, unknown>;
  if (missing(fields.input_hint) && !missing(fields.usage_hint)) fields.input_hint = fields.usage_hint;
  return fields;
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

/** Decodes a frame of an app on `/ws/attention`: undefined for anything else than `auth` and `focus`, which is ignored. */
export function decodeAppFrame(text: string): FromAppFrame | undefined {
  const raw = typed(text);
  const checked = raw && fromApp.get(raw.type)?.(raw.value);
  return checked?.ok ? (checked.value as FromAppFrame) : undefined;
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
/** A reply and, for `items`, the text after its line. */
export function decodeAnswer(text: string): { reply: Reply; rest: string } | undefined {
  const end = text.indexOf('\n');
  const reply = decodeReply(end < 0 ? text : text.slice(0, end));
  return reply && { reply, rest: end < 0 ? '' : text.slice(end + 1) };
}
export const decodeControl = instanceDecoder<Control>(controls);
