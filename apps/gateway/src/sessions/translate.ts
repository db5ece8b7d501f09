/**
 * SHAPE: converts daemon frames to the terms of apps (rules, 11.4). Pure: the same input gives the same output. The
 * only place where snake_case becomes camelCase.
 */
import {
  agentTypePattern,
  type Attention,
  type DaemonEvent,
  type FromDaemon,
  type MessageRole,
  type Progress,
  type Question,
  type Reply,
  type ReportEntry,
  type SlashCommand,
  cutText,
  isNativeId,
  isPlain,
  lastString,
  limits,
  messageRoles,
  readTime,
  transcriptLimits,
} from '@relay/protocol';
import { questionDigest, questionUuid } from '@relay/protocol/identity';
import { cut, message } from '@relay/attention';
import type { NamedPrompt, SessionFacts } from '@relay/database';
import { answeredBadly } from './failures.ts';
import { type Cursors, chronological, cutAtCursor } from './pages.ts';

/** Such a text would be written as it was read, which takes twenty times as long as to see that. The last days of a month are read. */
const isWritten = /^20\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/** A daemon's time as ISO 8601 in UTC with milliseconds; `fallback` when it cannot be read. */
export function toTime(text: string | null | undefined, fallback: Date): string {
  if (text && isWritten.test(text)) return text;
  return ((text ? readTime(text) : undefined) ?? fallback).toISOString();
}

/** The native id that an event carries; an invalid id counts as absent (rules, 1.7). */
export const nativeIdOf = ({ session_id: id }: DaemonEvent): string | undefined =>
  id && isNativeId(id) ? id : undefined;

export const taskOutput = (
  sessionId: string,
  taskId: string | undefined,
  output: string,
  sequence?: number,
): Attention<'task_output'> => ({
  type: 'task_output',
  sessionId,
  ...(taskId ? { taskId } : {}),
  output: cut(output).content,
  ...(sequence === undefined ? {} : { sequence }),
});

const transcriptMembers = ['type', 'event_type', 'task_id', 'session_id', 'v', 'ops', 'written'];

/**
 * A TRANSCRIPT as apps get it. Forwards the original text from `"v":` on if its members come in order: an extra member
 * after `ops` could replace one of ours. A brace before `"v":` could begin an object that has a `v` too. Otherwise
 * encodes it again.
 */
export function transcriptText(sessionId: string, event: DaemonEvent<'TRANSCRIPT'> & { written: string }): string {
  const { written, v, ops } = event;
  const names = Object.keys(event);
  const isExact = names.length === 7 && names.every((name, at) => name === transcriptMembers[at]);
  const at = isExact ? written.indexOf('"v":') : -1;
  const isWritten = at > 0 && written.lastIndexOf('{', at) === 0;
  const rest = isWritten ? written.slice(at) : JSON.stringify({ v, ops }).slice(1);
  return `{"type":"transcript","sessionId":${JSON.stringify(sessionId)},${rest}`;
}

/** Below this, encoding JSON again costs nothing worth saving. */
const longFrame = 1024;

/**
 * The same as JSON, for long output that can be forwarded from the daemon's frame unchanged. Undefined if that is
 * impossible: it is not the last member, needs a cut, or contains members that the relay does not forward.
 */
export function taskOutputAsWritten(
  sessionId: string,
  event: { task_id?: string | null | undefined; output?: string | null | undefined },
  written: string,
  sequence: number,
): string | undefined {
  if (written.length < longFrame || !event.output || !event.task_id) return undefined;
  const output = lastString(written, 'output');
  if (output === undefined || output.length * 3 > limits.messageBytes) return undefined;
  const ids = `"sessionId":${JSON.stringify(sessionId)},"taskId":${JSON.stringify(event.task_id)}`;
  return `{"type":"task_output",${ids},"output":${output},"sequence":${sequence}}`;
}

export function progress(event: { action: string; target?: string | null | undefined }, now: Date): Progress {
  return {
    action: cutText(event.action, limits.lineCharacters),
    target: cutText(event.target ?? '', limits.pathCharacters),
    at: now.toISOString(),
  };
}

interface Waiting {
  prompt: string;
  result?: string | null | undefined;
  context?: string | object | null | undefined;
  options?: readonly { label: string }[] | null | undefined;
}

/** The printable context; an object is not readable for people. */
const contextOf = ({ context }: Waiting): string => (typeof context === 'string' ? context : '');

/** A question as a message: its full text, else the prompt, followed by its context. */
export function question(event: Waiting): string {
  const text = event.result || event.prompt;
  const context = contextOf(event);
  return context && !text.includes(context) ? [text, context].filter((part) => part !== '').join('\n\n') : text;
}

/**
 * A question that completes a task, for apps. A daemon without question ids has one open question at a time: the relay
 * derives its id from the task and the text (rules, chapter 5) and option ids from their positions, and the user
 * answers by text.
 */
export function prompt(
  event: Waiting & { question?: Question | null | undefined },
  taskId: string,
  now: Date,
): NamedPrompt {
  const context = contextOf(event);
  const shown = {
    prompt: cut(event.prompt).content,
    result: cut(context ? question(event) : (event.result ?? '')).content,
    ...(context ? { context: cut(context).content } : {}),
  };
  if (event.question) return { ...namedPrompt(event.question, now), ...shown };
  const options = (event.options ?? []).map(({ label }, index) => ({
    id: String(index + 1),
    label: cutText(label, limits.promptOptionCharacters),
  }));
  const named = { title: shown.prompt, options };
  return {
    id: questionUuid(taskId, named),
    ...shown,
    options,
    text: true,
    digest: questionDigest(named),
    at: now.toISOString(),
  };
}

const isAbsent = (value: unknown): value is null | undefined => value === undefined || value === null;

/** A question that its daemon names, for apps. Its subject is left out where it is too large to show. */
export function namedPrompt(source: Question, now: Date): NamedPrompt {
  const { uuid, title, kind, options, text, subject, fields, person, reason, expires, digest } = source;
  const isLarge = JSON.stringify(subject ?? null).length > transcriptLimits.questionBytes;
  return {
    id: uuid,
    kind,
    prompt: cut(title).content,
    result: '',
    options,
    ...(isAbsent(text) ? {} : { text }),
    ...(isAbsent(subject) ? {} : { subject: isLarge ? { ...subject, diffs: [] } : subject }),
    ...(isAbsent(fields) ? {} : { fields }),
    ...(person === true ? { person, ...(isAbsent(reason) ? {} : { reason }) } : {}),
    ...(isAbsent(expires) ? {} : { expires }),
    digest: digest ?? questionDigest(source),
    at: now.toISOString(),
  };
}

const agentType = new RegExp(agentTypePattern);
const isAgentType = (text: string | null | undefined): text is string =>
  typeof text === 'string' && agentType.test(text);

/** An entry of `report_sessions`, or a `session_activity`, as facts about the session. */
export function reportFacts(entry: ReportEntry): SessionFacts {
  return {
    nativeId: entry.session_id,
    agentType: isAgentType(entry.agent_type) ? entry.agent_type : undefined,
    title: cutText((entry.title ?? '').trim(), limits.nameCharacters),
    projectPath: entry.project ?? '',
    filePath: entry.file_path ?? '',
    lastMessage: cutText(entry.last_message ?? '', limits.lastMessageBytes),
    messageCount: entry.message_count ?? 0,
    active: entry.is_active ?? undefined,
    lastActivity: readTime(entry.last_activity ?? ''),
  };
}

/** Each session once, with its last entry, newest activity first: the most important rows are written first. */
export function newestFirst(facts: readonly SessionFacts[]): SessionFacts[] {
  const unique = [...new Map(facts.map((fact) => [fact.nativeId, fact])).values()];
  return unique.sort((one, other) => (other.lastActivity?.getTime() ?? 0) - (one.lastActivity?.getTime() ?? 0));
}

export function activityFacts(frame: FromDaemon<'session_activity'>): SessionFacts {
  return {
    nativeId: frame.session_id,
    title: '',
    projectPath: '',
    filePath: frame.file_path ?? '',
    lastMessage: cutText(frame.last_message ?? '', limits.lastMessageBytes),
    messageCount: frame.message_count ?? 0,
    active: frame.own_turn ?? (frame.is_completion ? false : undefined),
    lastActivity: readTime(frame.last_activity ?? ''),
  };
}

const dayMs = 86_400_000;

/**
 * The minimum by which the daemon's clock is ahead: no session was active in the future. More than a day is garbage and
 * not a clock.
 */
export function clockAheadMs(facts: readonly SessionFacts[], nowMs: number): number {
  let aheadMs = 0;
  for (const { lastActivity } of facts) {
    const byMs = lastActivity ? lastActivity.getTime() - nowMs : 0;
    if (byMs > aheadMs && byMs <= dayMs) aheadMs = byMs;
  }
  return aheadMs;
}

/** A `messages` frame as the answer to its question. With `error` it is a failure, not an empty page. */
export function historyReply(frame: FromDaemon<'messages'>, now: Date, cursors: Cursors = {}): Reply {
  if (frame.error) return answeredBadly(frame.error);
  // A daemon with parts can send them unrequested: then the reader gets only the items that are messages too.
  const given = (frame.messages ?? []).filter(isPlain);
  const ordered = chronological(given);
  const all = ordered.map((stored) =>
    message(stored.uuid, role(stored.role), stored.content, toTime(stored.timestamp, now)),
  );
  const cut = cutAtCursor(all, cursors);
  const messages = cut ?? all;
  const named = cut === undefined && ordered === given;
  return {
    v: 1,
    kind: 'page',
    messages,
    hasMore: cut === undefined && (frame.has_more ?? false),
    oldestUuid: (named && frame.oldest_uuid) || messages.at(0)?.uuid || null,
    newestUuid: (named && frame.newest_uuid) || messages.at(-1)?.uuid || null,
  };
}

const pageMembers = new Set('type request_id session_id v reset has_more oldest_uuid newest_uuid error'.split(' '));

/**
 * A `messages` frame with `v` as the answer to a request for parts: the known facts of the page, and the text of the
 * object from `"messages":` on. Forwards the original text if the array comes last, no brace precedes it and every
 * member has an expected name, as another name could replace one of ours; otherwise encodes it again. Undefined: the
 * daemon answered without parts.
 */
export function itemsReply(
  frame: FromDaemon<'messages'> & { written: string },
): { head: Extract<Reply, { kind: 'items' }>; rest: string } | undefined {
  const { v, reset, messages, written } = frame;
  if (frame.error || v === undefined || v === null) return undefined;
  const names = Object.keys(frame).slice(0, -1);
  const isExact = names.pop() === 'messages' && names.every((name) => pageMembers.has(name)) && Array.isArray(messages);
  const at = isExact ? written.indexOf('"messages":') : -1;
  const isWritten = at > 0 && written.lastIndexOf('{', at) === 0;
  return {
    head: {
      v: 1,
      kind: 'items',
      version: v,
      ...(reset ? { reset } : {}),
      hasMore: frame.has_more ?? false,
      oldestUuid: frame.oldest_uuid ?? messages?.at(0)?.uuid ?? null,
      newestUuid: frame.newest_uuid ?? messages?.at(-1)?.uuid ?? null,
    },
    rest: isWritten ? written.slice(at) : JSON.stringify({ messages: messages ?? [] }).slice(1),
  };
}

/** Commands in their order, each name once and without its slash. */
export function slashCommands(commands: readonly SlashCommand[]): SlashCommand[] {
  const byName = new Map<string, SlashCommand>();
  for (const { name, description, input_hint: hint } of commands) {
    const bare = name.trim().replace(/^\//, '');
    if (bare === '' || byName.has(bare)) continue;
    const shown = { name: bare, description: cutText(description ?? '', limits.lastMessageBytes) };
    byName.set(bare, hint ? { ...shown, input_hint: cutText(hint, limits.lastMessageBytes) } : shown);
  }
  return [...byName.values()];
}

/** Roles can grow; apps get an unknown role as a system message. */
function role(text: string): MessageRole {
  const upper = text.toUpperCase();
  return (messageRoles as readonly string[]).includes(upper) ? (upper as MessageRole) : 'SYSTEM';
}
