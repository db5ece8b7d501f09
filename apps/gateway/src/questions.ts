/**
 * Requests of the relay to a daemon: the frame of each, and its reply in the terms of apps. Pure. Field daemons
 * understand `context_request` and `force_quit_session`; `usage_request` is ours (rules, 10.10, 10.11).
 */
import {
  type Capability,
  type FromDaemon,
  type Reply,
  type Summary,
  type ToDaemon,
  costIn,
  cutText,
  limits,
  messageRoles,
  settingLimits,
} from '@relay/protocol';
import { type FileAnswer, type FileFrame, filesAsked } from './file-questions.ts';
import { isTransfer, transferAsked, transferReply } from './transfers.ts';
import type { Answer, Question } from './requests.ts';
import { historyReply } from './translate.ts';

const summaryMessages = 10;
const summaryMessagesMax = 20;
const summaryTextBytes = 8 * 1024;

interface Asked {
  frame: ToDaemon<
    | 'get_messages'
    | 'usage_request'
    | 'spending_request'
    | 'settings_request'
    | 'agent_settings_request'
    | 'content_request'
    | 'get_folders'
    | 'search_request'
    | FileFrame
    | 'ping'
    | 'context_request'
    | 'force_quit_session'
    | 'desk_request'
    | 'file_open'
    | 'file_piece'
  >;
  /** The frame that answers it. */
  answer: Answer['type'];
}

/** Undefined when the daemon cannot be asked: it would answer something else. */
export function asked(
  question: Question,
  requestId: string,
  can: (capability: Capability) => boolean,
): Asked | undefined {
  // Every daemon answers it, and the answer names no request: it is for all who ask.
  if (question.kind === 'ask_pong') return { frame: { type: 'ping' }, answer: 'pong' };
  if (question.kind === 'ask_folders')
    return can('browse')
      ? { frame: { type: 'get_folders', request_id: requestId, path: question.path }, answer: 'folders' }
      : undefined;
  if (question.kind === 'ask_search')
    return can('search')
      ? { frame: { type: 'search_request', request_id: requestId, query: question.query }, answer: 'search_response' }
      : undefined;
  if (question.kind === 'ask_spending') {
    const { from, to, zone } = question;
    return can('spending')
      ? { frame: { type: 'spending_request', request_id: requestId, from, to, zone }, answer: 'spending_response' }
      : undefined;
  }
  if (isTransfer(question))
    return can('files') ? { frame: transferAsked(question, requestId), answer: 'file_result' } : undefined;
  if (question.kind === 'ask_agent_settings') {
    const { agentType, projectPath, change, changedOn } = question;
    if (!can('controls')) return undefined;
    const frame = {
      type: 'agent_settings_request',
      request_id: requestId,
      ...(agentType === undefined ? {} : { agent_type: agentType }),
      ...(projectPath === undefined ? {} : { project_path: projectPath }),
      ...(change === undefined ? {} : { change }),
      ...(changedOn === undefined ? {} : { changed_on: changedOn }),
    } as const;
    return { frame, answer: 'agent_settings_response' };
  }
  const about = { request_id: requestId, session_id: question.sessionId };
  if (question.kind === 'ask_files') return filesAsked(question, about, can);
  switch (question.kind) {
    case 'history': {
      const parts = question.parts === true && can('transcript');
      return {
        frame: {
          type: 'get_messages',
          ...about,
          limit: Math.min(question.limit, limits.historyPage),
          ...(question.before === undefined ? {} : { before_uuid: question.before }),
          ...(question.after === undefined ? {} : { after_uuid: question.after }),
          ...(parts ? { parts } : {}),
          ...(parts && question.changed !== undefined ? { changed: question.changed } : {}),
        },
        answer: 'messages',
      };
    }
    case 'ask_context':
      if (can('usage')) return { frame: { type: 'usage_request', ...about }, answer: 'usage_response' };
      if (can('context')) return { frame: { type: 'context_request', ...about }, answer: 'context_response' };
      return undefined;
    case 'ask_settings': {
      if (!can('settings')) return undefined;
      const { change, known, keep, changedOn } = question;
      if ((known || keep) && !can('controls')) return undefined;
      const more = {
        ...(change === undefined ? {} : { change }),
        ...(known ? { known } : {}),
        ...(keep ? { keep } : {}),
        ...(changedOn !== undefined && can('controls') ? { changed_on: changedOn } : {}),
      };
      return { frame: { type: 'settings_request', ...about, ...more }, answer: 'settings_response' };
    }
    case 'ask_content': {
      if (!can('content')) return undefined;
      const { uuid, name, offset, limit } = question;
      return { frame: { type: 'content_request', ...about, uuid, name, offset, limit }, answer: 'content_response' };
    }
    case 'ask_summary': {
      if (can('context') && !can('usage')) return undefined;
      const include = { initial_prompt: true, recent_messages: summaryMessages, last_tool_use: true };
      return { frame: { type: 'context_request', ...about, include }, answer: 'context_response' };
    }
    case 'release':
      return {
        frame: {
          type: 'force_quit_session',
          ...about,
          ...(question.stopTurn === true && can('desk') ? { stop_turn: true } : {}),
        },
        answer: 'force_quit_result',
      };
    case 'ask_desk':
      return can('desk')
        ? { frame: { type: 'desk_request', ...about, let_go: question.letGo }, answer: 'desk_response' }
        : undefined;
  }
}

/** The answer for the caller. With `error` it is a failure, not an empty answer. */
export function replyOf(question: Question, frame: Exclude<Answer, FileAnswer>, now: Date): Reply {
  if (frame.type === 'messages') return historyReply(frame, now, question.kind === 'history' ? question : {});
  if (frame.type === 'settings_response') return settingsReply(frame, 'session_settings');
  if (frame.type === 'agent_settings_response') return settingsReply(frame, 'agent_settings');
  if (frame.type === 'content_response') return contentReply(frame);
  if (frame.type === 'spending_response') return spendingReply(frame);
  if (frame.type === 'pong') return { v: 1, kind: 'device_pong' };
  if (frame.type === 'folders') return foldersReply(frame);
  if (frame.type === 'search_response') return searchReply(frame);
  if (frame.type === 'force_quit_result') return releaseReply(frame);
  if (frame.type === 'desk_response') return deskReply(frame);
  if (frame.type === 'file_result') return transferReply(frame);
  if (question.kind === 'ask_summary' && frame.type === 'context_response') return summaryReply(frame);
  return usageReply(frame.type === 'usage_response' ? frame.usage : frame.context, frame.error);
}

const failure = (error: string): Reply => ({ v: 1, kind: 'failure', code: 'DEVICE_ERROR', error });
const answeredBadly = (error: string | null | undefined) =>
  failure(`The device answered: ${cutText(error || 'nothing', 1024)}`);

function usageReply(usage: object | null | undefined, error: string | null | undefined): Reply {
  if (error || !usage) return answeredBadly(error);
  const text = JSON.stringify(usage);
  if (Buffer.byteLength(text) > limits.contextBytes) return failure('The device answered too much.');
  return { v: 1, kind: 'session_context', context: text };
}

function spendingReply({ days, since, error }: FromDaemon<'spending_response'>): Reply {
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

function settingsReply(
  { settings, as_of: asOf, can, error, code }: FromDaemon<'settings_response' | 'agent_settings_response'>,
  kind: 'session_settings' | 'agent_settings',
): Reply {
  const known = settingCodes.find((name) => name === code);
  if (known && error) return { v: 1, kind: 'failure', code: known, error: cutText(error, 1024) };
  if (error || !settings) return answeredBadly(error);
  if (Buffer.byteLength(JSON.stringify(settings)) > settingLimits.bytes)
    return failure('The device answered too much.');
  return { v: 1, kind, settings, ...(asOf === undefined ? {} : { asOf }), ...(can === undefined ? {} : { can }) };
}

function contentReply({ mime, size, cut, name, data, error, code }: FromDaemon<'content_response'>): Reply {
  if (code === 'CONTENT_NOT_FOUND')
    return { v: 1, kind: 'failure', code, error: 'The device does not have this content, or no longer.' };
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

function foldersReply({ path, parent, folders, more, error, code }: FromDaemon<'folders'>): Reply {
  if (code === 'FOLDER_NOT_FOUND')
    return {
      v: 1,
      kind: 'failure',
      code,
      error: 'There is no such folder, or it lies outside what the machine allows.',
    };
  if (error || !folders) return answeredBadly(error);
  if (Buffer.byteLength(JSON.stringify(folders)) > limits.folderBytes) return failure('The device answered too much.');
  const place = { ...(path ? { path } : {}), ...(typeof parent === 'string' ? { parent } : {}) };
  return { v: 1, kind: 'device_folders', ...place, folders, ...(more ? { more } : {}) };
}

function searchReply({ hits, more, error }: FromDaemon<'search_response'>): Reply {
  if (error || !hits) return answeredBadly(error);
  const found = hits.map(({ session_id: sessionId, ...hit }) => ({ sessionId, ...hit }));
  return { v: 1, kind: 'device_hits', hits: found, ...(more ? { more } : {}) };
}

function summaryReply({ context, error }: FromDaemon<'context_response'>): Reply {
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
    const known = messageRoles.find((name) => name === String(role).toUpperCase()) ?? 'SYSTEM';
    return [{ role: known, content: cutText(content, summaryTextBytes) }];
  });
}

function releaseReply({ status, detail }: FromDaemon<'force_quit_result'>): Reply {
  const more = detail ? { detail: cutText(detail, 1024) } : {};
  return { v: 1, kind: 'session_released', result: status, ...more };
}

function deskReply({ free, why, held, command, cwd, error }: FromDaemon<'desk_response'>): Reply {
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
