/**
 * The reply of an instance to each answer of a daemon, in the terms of apps (rules, 10.10). Pure. An answer with
 * `error` is a failure, not an empty answer.
 */
import {
  type FromDaemon,
  type Reply,
  type Summary,
  changeLimits,
  costIn,
  cutText,
  limits,
  messageRoles,
  settingLimits,
  transcriptLimits,
} from '@relay/protocol';
import { type Cursors } from '../sessions/pages.ts';
import { answeredBadly, detailed, failure } from '../sessions/failures.ts';
import { historyReply, itemsReply } from '../sessions/translate.ts';

/** A reply, and the text that follows its head. */
export interface WithRest {
  reply: Reply;
  rest: string;
}

const summaryMessagesMax = 20;
const summaryTextBytes = 8 * 1024;
/** Twice the size limit of a page. */
const maxItemsBytes = 2 * transcriptLimits.pageBytes;

const answeredTooMuch = detailed('DEVICE_ERROR', 'The device answered too much.');

/** A page of messages, or of items if the reader wants parts and the daemon sent them. */
export function pageReply(
  frame: FromDaemon<'messages'> & { written: string },
  wantsParts: boolean,
  cursors: Cursors,
): Reply | WithRest {
  const items = wantsParts ? itemsReply(frame) : undefined;
  if (!items) return historyReply(frame, new Date(), cursors);
  return Buffer.byteLength(items.rest) > maxItemsBytes ? answeredTooMuch : { reply: items.head, rest: items.rest };
}

export function usageReply(usage: object | null | undefined, error: string | null | undefined): Reply {
  if (error || !usage) return answeredBadly(error);
  const text = JSON.stringify(usage);
  if (Buffer.byteLength(text) > limits.contextBytes) return answeredTooMuch;
  return { v: 1, kind: 'session_context', context: text };
}

export function spendingReply({ days, since, error }: FromDaemon<'spending_response'>): Reply {
  if (error || !days || since === undefined) return answeredBadly(error);
  return {
    v: 1,
    kind: 'device_spending',
    days: days.map(({ day, agent_type: agentType, turns, cost: given, tokens }) => {
      const cost = costIn(given);
      return { day, agentType, turns, ...(cost ? { cost } : {}), ...(tokens === undefined ? {} : { tokens }) };
    }),
    since,
  };
}

const settingCodes = ['SETTINGS_NOT_SUPPORTED', 'INVALID_SETTING', 'SETTING_NOT_ALLOWED'] as const;

export function settingsReply(
  { settings, as_of: asOf, can, error, code }: FromDaemon<'settings_response' | 'agent_settings_response'>,
  kind: 'session_settings' | 'agent_settings',
): Reply {
  const listed = settingCodes.find((name) => name === code);
  if (listed && error) return detailed(listed, error);
  if (error || !settings) return answeredBadly(error);
  if (Buffer.byteLength(JSON.stringify(settings)) > settingLimits.bytes) return answeredTooMuch;
  return { v: 1, kind, settings, ...(asOf === undefined ? {} : { asOf }), ...(can === undefined ? {} : { can }) };
}

export function contentReply({ mime, size, cut, name, data, error, code }: FromDaemon<'content_response'>): Reply {
  if (code === 'CONTENT_NOT_FOUND') return failure(code);
  if (error || typeof size !== 'number' || typeof data !== 'string') return answeredBadly(error);
  return {
    v: 1,
    kind: 'item_content',
    mime: mime ?? '',
    size,
    ...(cut ? { cut } : {}),
    ...(name ? { name } : {}),
    data,
  };
}

export function foldersReply({ path, parent, folders, more, error, code }: FromDaemon<'folders'>): Reply {
  if (code === 'FOLDER_NOT_FOUND') return failure(code);
  if (error || !folders) return answeredBadly(error);
  if (Buffer.byteLength(JSON.stringify(folders)) > limits.folderBytes) return answeredTooMuch;
  const place = { ...(path ? { path } : {}), ...(typeof parent === 'string' ? { parent } : {}) };
  return { v: 1, kind: 'device_folders', ...place, folders, ...(more ? { more } : {}) };
}

export function searchReply({ hits, more, error }: FromDaemon<'search_response'>): Reply {
  if (error || !hits) return answeredBadly(error);
  const found = hits.map(({ session_id: sessionId, ...hit }) => ({ sessionId, ...hit }));
  return { v: 1, kind: 'device_hits', hits: found, ...(more ? { more } : {}) };
}

export function summaryReply({ context, error }: FromDaemon<'context_response'>): Reply {
  if (error || !context) return answeredBadly(error);
  const fields = context as Record<string, unknown>;
  const text = (name: string) => (typeof fields[name] === 'string' ? cutText(fields[name], summaryTextBytes) : '');
  const optional = (name: string, key: string, value = text(name)) => (value === '' ? {} : { [key]: value });
  const time = (name: string) => {
    const at = new Date(text(name));
    return Number.isNaN(at.getTime()) ? '' : at.toISOString();
  };
  const count = fields.message_count;
  const summary: Summary = {
    title: text('title'),
    projectPath: text('project_path'),
    ...optional('initial_prompt', 'initialPrompt'),
    recentMessages: recent(fields.recent_messages),
    ...optional('last_tool_use', 'lastToolUse'),
    messageCount: Number.isSafeInteger(count) && (count as number) >= 0 ? (count as number) : null,
    ...optional('started_at', 'startedAt', time('started_at')),
    ...optional('last_activity_at', 'lastActivityAt', time('last_activity_at')),
    status: text('status'),
    ...optional('status_detail', 'statusDetail'),
  };
  return { v: 1, kind: 'session_summary', summary };
}

function recent(messages: unknown): Summary['recentMessages'] {
  if (!Array.isArray(messages)) return [];
  return (messages as unknown[]).slice(-summaryMessagesMax).flatMap((one) => {
    const { role, content } = (typeof one === 'object' && one !== null ? one : {}) as Record<string, unknown>;
    if (typeof content !== 'string') return [];
    const listed = messageRoles.find((name) => name === String(role).toUpperCase()) ?? 'SYSTEM';
    return [{ role: listed, content: cutText(content, summaryTextBytes) }];
  });
}

export function releaseReply({ status, detail }: FromDaemon<'force_quit_result'>): Reply {
  const more = detail ? { detail: cutText(detail, 1024) } : {};
  return { v: 1, kind: 'session_released', result: status, ...more };
}

export function deskReply({ free, why, held, command, cwd, error }: FromDaemon<'desk_response'>): Reply {
  if (error !== undefined || free === undefined) return answeredBadly(error);
  return {
    v: 1,
    kind: 'session_desk',
    free,
    ...(why === undefined ? {} : { why }),
    ...(held === undefined ? {} : { held }),
    ...(command === undefined ? {} : { command }),
    ...(cwd === undefined ? {} : { cwd }),
  };
}

/* Files of a session: passed on as text, and kept nowhere (rules, 25.6). */

export type FileAnswer = FromDaemon<'changes' | 'diff' | 'files' | 'file'>;

/** The required fields of each answer. */
const needed: Readonly<Record<FileAnswer['type'], readonly string[]>> = {
  changes: ['scope', 'scopes', 'files'],
  diff: ['path', 'change', 'hunks'],
  files: ['path', 'entries'],
  file: ['path', 'kind', 'bytes'],
};

const fileCodes = [
  'FILE_NOT_FOUND',
  'FILE_HIDDEN',
  'SCOPE_NOT_AVAILABLE',
  'CHANGES_TOO_LARGE',
  'NOT_SUPPORTED_BY_DEVICE',
] as const;

/** The reply, and the text that follows its head. */
export function filesReply(frame: FileAnswer): Reply | WithRest {
  const { type, request_id: _id, code, error, ...fields } = frame;
  const listed = fileCodes.find((name) => name === code);
  if (listed) {
    const { scopes } = fields as { scopes?: readonly string[] | null };
    const more = scopes ? { scopes: scopes.slice(0, 16) } : {};
    // Here the machine decides, not the age of its daemon.
    if (listed === 'NOT_SUPPORTED_BY_DEVICE') return detailed(listed, 'The machine does not share these files.', more);
    return failure(listed, more);
  }
  const isWhole = needed[type].every(
    (name) =>
      (fields as Record<string, unknown>)[name] !== undefined && (fields as Record<string, unknown>)[name] !== null,
  );
  if (error || !isWhole) return answeredBadly(error);
  // `written`: the text of the frame, which the connection adds.
  const {
    session_id: _session,
    written: _text,
    includes_earlier: includesEarlier,
    ...same
  } = fields as Record<string, unknown>;
  const given = Object.entries({ ...same, includesEarlier }).filter(
    ([, value]) => value !== undefined && value !== null,
  );
  const rest = JSON.stringify(Object.fromEntries(given));
  if (Buffer.byteLength(rest) > changeLimits.frameBytes) return answeredTooMuch;
  return { reply: { v: 1, kind: 'device_files' }, rest };
}

const transferCodes = ['FILE_INCOMPLETE', 'FILE_NOT_FOUND', 'FILE_TOO_LARGE', 'INVALID_FILE', 'DEVICE_FULL'] as const;

export function transferReply({ received, done, name, sha256, code, error }: FromDaemon<'file_result'>): Reply {
  const listed = transferCodes.find((one) => one === code);
  if (listed) return failure(listed, typeof received === 'number' ? { received } : {});
  if (error || typeof received !== 'number') return answeredBadly(error);
  return {
    v: 1,
    kind: 'device_file',
    received,
    done: done === true,
    ...(name ? { name } : {}),
    ...(sha256 ? { sha256 } : {}),
  };
}
