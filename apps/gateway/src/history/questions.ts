/**
 * The questions of the relay to a daemon, one row each. Pure. Field daemons understand `context_request` and
 * `force_quit_session`; `usage_request` is ours (rules, 10.10, 10.11).
 */
import {
  type Capability,
  type Command,
  type FromDaemon,
  type Reply,
  type ToDaemon,
  type ToDaemonFrame,
  limits,
} from '@relay/protocol';
import type { Received } from '../connection/connection.ts';
import * as replies from './replies.ts';

/** The type of the frame that answers each frame. */
const answers = {
  get_messages: 'messages',
  usage_request: 'usage_response',
  context_request: 'context_response',
  settings_request: 'settings_response',
  agent_settings_request: 'agent_settings_response',
  content_request: 'content_response',
  get_folders: 'folders',
  search_request: 'search_response',
  get_changes: 'changes',
  get_diff: 'diff',
  get_files: 'files',
  get_file: 'file',
  ping: 'pong',
  spending_request: 'spending_response',
  force_quit_session: 'force_quit_result',
  desk_request: 'desk_response',
  file_open: 'file_result',
  file_piece: 'file_result',
} as const;
export type AnswerType = (typeof answers)[keyof typeof answers];
export type DaemonAnswer = FromDaemon<AnswerType>;
export const answerTypes = [...new Set(Object.values(answers))];

/** The frames of each question. */
interface Frames {
  history: 'get_messages';
  ask_context: 'usage_request' | 'context_request';
  ask_summary: 'context_request';
  ask_settings: 'settings_request';
  ask_agent_settings: 'agent_settings_request';
  ask_content: 'content_request';
  ask_folders: 'get_folders';
  ask_search: 'search_request';
  ask_files: 'get_changes' | 'get_diff' | 'get_files' | 'get_file';
  ask_pong: 'ping';
  ask_spending: 'spending_request';
  release: 'force_quit_session';
  ask_desk: 'desk_request';
  send_file: 'file_open';
  send_piece: 'file_piece';
}
type Kind = keyof Frames;
type QuestionOf<K extends Kind> = Extract<Command, { kind: K }>;
export type DaemonQuestion = QuestionOf<Kind>;

type Can = (capability: Capability) => boolean;
type Without<F, N extends PropertyKey> = F extends unknown ? Omit<F, N> : never;
/** A frame without its ids, which `questionFrame` adds. */
type Body<K extends Kind> = Without<ToDaemon<Frames[K]>, 'request_id' | 'session_id'>;

interface Row<K extends Kind> {
  /** The capability that the daemon must have declared; absent: every daemon answers. */
  needs?: Capability | ((can: Can, question: QuestionOf<K>) => boolean);
  frame: (question: QuestionOf<K>, can: Can) => Body<K>;
  /** Questions that agree in these fields, and in their session, share a frame. `never`: each has an effect. */
  same:
    | readonly (keyof QuestionOf<K>)[]
    | 'never'
    | ((question: QuestionOf<K>) => readonly (keyof QuestionOf<K>)[] | 'never');
  /** The deadline in multiples of the configured time; absent: 1. */
  patience?: number;
  reply: (
    frame: Received<FromDaemon<(typeof answers)[Frames[K]]>>,
    question: QuestionOf<K>,
  ) => Reply | replies.WithRest;
}

/** Drops fields without a value. */
const given = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [N in keyof T]?: Exclude<T[N], undefined>;
  };

const summaryMessages = 10;

const table: { readonly [K in Kind]: Row<K> } = {
  history: {
    frame: ({ limit, before, after, parts, changed }, can) => ({
      type: 'get_messages',
      limit: Math.min(limit, limits.historyPage),
      ...given({ before_uuid: before, after_uuid: after }),
      ...(parts === true && can('transcript') ? { parts, ...given({ changed }) } : {}),
    }),
    same: ['before', 'after', 'changed', 'limit', 'parts'],
    reply: (frame, question) => replies.pageReply(frame, question.parts === true, question),
  },
  ask_context: {
    needs: (can) => can('usage') || can('context'),
    frame: (_, can) => ({ type: can('usage') ? 'usage_request' : 'context_request' }),
    same: [],
    reply: (frame) => replies.usageReply(frame.type === 'usage_response' ? frame.usage : frame.context, frame.error),
  },
  ask_summary: {
    // A daemon with `context` alone answers with the usage.
    needs: (can) => can('usage') || !can('context'),
    frame: () => ({
      type: 'context_request',
      include: { initial_prompt: true, recent_messages: summaryMessages, last_tool_use: true },
    }),
    same: [],
    reply: replies.summaryReply,
  },
  ask_settings: {
    needs: (can, { known, keep }) => can('settings') && (can('controls') || !(known || keep)),
    frame: ({ change, known, keep, changedOn }, can) => ({
      type: 'settings_request',
      ...given({ change, known: known || undefined, keep: keep || undefined }),
      ...(can('controls') ? given({ changed_on: changedOn }) : {}),
    }),
    same: ({ change }) => (change === undefined ? ['known'] : 'never'),
    reply: (frame) => replies.settingsReply(frame, 'session_settings'),
  },
  ask_agent_settings: {
    needs: 'controls',
    frame: ({ agentType, projectPath, change, changedOn }) => ({
      type: 'agent_settings_request',
      ...given({ agent_type: agentType, project_path: projectPath, change, changed_on: changedOn }),
    }),
    same: 'never',
    reply: (frame) => replies.settingsReply(frame, 'agent_settings'),
  },
  ask_content: {
    needs: 'content',
    frame: ({ uuid, name, offset, limit }) => ({ type: 'content_request', uuid, name, offset, limit }),
    same: ['uuid', 'name', 'offset', 'limit'],
    reply: replies.contentReply,
  },
  ask_folders: {
    needs: 'browse',
    frame: ({ path }) => ({ type: 'get_folders', path }),
    same: ['path'],
    reply: replies.foldersReply,
  },
  ask_search: {
    needs: 'search',
    frame: ({ query }) => ({ type: 'search_request', query }),
    same: ['query'],
    reply: replies.searchReply,
  },
  ask_files: {
    needs: (can, { about }) => can('changes') && (can('browse') || about === 'changes' || about === 'diff'),
    frame: ({ about, v: _v, kind: _kind, sessionId: _sessionId, ...fields }) =>
      ({ type: `get_${about}`, ...fields }) as Body<'ask_files'>,
    same: ['about', 'scope', 'turn', 'path', 'after', 'from', 'find', 'side', 'offset', 'limit'],
    // A large folder takes longer to compare than a page of history to read.
    patience: 2,
    reply: replies.filesReply,
  },
  ask_pong: {
    frame: () => ({ type: 'ping' }),
    same: [],
    reply: () => ({ v: 1, kind: 'device_pong' }),
  },
  ask_spending: {
    needs: 'spending',
    frame: ({ from, to, zone }) => ({ type: 'spending_request', from, to, zone }),
    same: ['from', 'to', 'zone'],
    reply: replies.spendingReply,
  },
  release: {
    frame: ({ stopTurn }, can) => ({
      type: 'force_quit_session',
      ...(stopTurn === true && can('desk') ? { stop_turn: true } : {}),
    }),
    same: ['stopTurn'],
    reply: replies.releaseReply,
  },
  ask_desk: {
    needs: 'desk',
    frame: ({ letGo }) => ({ type: 'desk_request', let_go: letGo }),
    same: ['letGo'],
    reply: replies.deskReply,
  },
  send_file: {
    needs: 'files',
    frame: ({ fileId, name, size, mime }) => ({ type: 'file_open', file_id: fileId, name, size, ...given({ mime }) }),
    same: 'never',
    reply: replies.transferReply,
  },
  send_piece: {
    needs: 'files',
    frame: ({ fileId, offset, data }) => ({ type: 'file_piece', file_id: fileId, offset, data }),
    same: 'never',
    reply: replies.transferReply,
  },
};

/** The functions of a row take its own question only, which the kind guarantees. */
const rowOf = ({ kind }: DaemonQuestion) => table[kind] as unknown as Row<Kind>;

export const isQuestion = (command: Command): command is DaemonQuestion => Object.hasOwn(table, command.kind);

/** The frame of a question, and the type of its answer; undefined when the daemon cannot be asked: it would answer something else. */
export function questionFrame(
  question: DaemonQuestion,
  requestId: string,
  can: Can,
): { frame: ToDaemonFrame; answer: AnswerType } | undefined {
  const { needs, frame } = rowOf(question);
  const isAble = needs === undefined || (typeof needs === 'function' ? needs(can, question) : can(needs));
  if (!isAble) return undefined;
  const { type, ...fields } = frame(question, can);
  // The answer to a ping names no request: it is for all who ask.
  const ids = type === 'ping' ? {} : { request_id: requestId, ...sessionIn(question) };
  return { frame: { type, ...ids, ...fields } as ToDaemonFrame, answer: answers[type] };
}

const sessionIn = (question: DaemonQuestion) => ('sessionId' in question ? { session_id: question.sessionId } : {});

/** Returns the same key for questions that can share a frame; undefined for a question with an effect. */
export function sharedKey(question: DaemonQuestion): string | undefined {
  const { same } = rowOf(question);
  const names = typeof same === 'function' ? same(question) : same;
  if (names === 'never') return undefined;
  return JSON.stringify([question.kind, sessionIn(question), names.map((name) => question[name])]);
}

/** How long to wait for the answer, in multiples of the configured time. */
export const patienceOf = (question: DaemonQuestion): number => rowOf(question).patience ?? 1;

/** The reply for the caller, perhaps with the text that follows its head. */
export function replyOf(question: DaemonQuestion, frame: Received<DaemonAnswer>): Reply | replies.WithRest {
  return rowOf(question).reply(frame, question);
}
