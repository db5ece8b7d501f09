/**
 * The questions of the relay to a daemon, one row each. Pure. Field daemons understand `context_request` and
 * `force_quit_session`; `usage_request` is ours (rules, 10.10, 10.11).
 */
import {
  type Capability,
  type Command,
  type FromDaemon,
  type Reply,
  type ToDaemonFrame,
  limits,
} from '@relay/protocol';
import type { Received } from '../connection/connection.ts';
import * as replies from './replies.ts';

/** The types of the frames that answer each question. */
interface Answers {
  history: 'messages';
  ask_context: 'usage_response' | 'context_response';
  ask_summary: 'context_response';
  ask_settings: 'settings_response';
  ask_agent_settings: 'agent_settings_response';
  ask_content: 'content_response';
  ask_folders: 'folders';
  ask_search: 'search_response';
  ask_files: 'changes' | 'diff' | 'files' | 'file';
  ask_pong: 'pong';
  ask_spending: 'spending_response';
  release: 'force_quit_result';
  ask_desk: 'desk_response';
  send_file: 'file_result';
  send_piece: 'file_result';
}
type Kind = keyof Answers;
type AskedAs<K extends Kind> = Extract<Command, { kind: K }>;
export type Question = AskedAs<Kind>;
export type AnswerType = Answers[Kind];
export type Answer = FromDaemon<AnswerType>;

type Can = (capability: Capability) => boolean;
/** A frame without its ids, which `questionFrame` adds. */
type Body = ToDaemonFrame extends infer F ? (F extends unknown ? Omit<F, 'request_id' | 'session_id'> : never) : never;

interface Row<K extends Kind> {
  /** The capability that the daemon must have declared; absent: every daemon answers. */
  needs?: Capability | ((can: Can, question: AskedAs<K>) => boolean);
  frame: (question: AskedAs<K>, can: Can) => Body;
  answer: Answers[K] | ((question: AskedAs<K>, can: Can) => Answers[K]);
  /** Questions that agree in these fields, and in their session, share a frame. `never`: each has an effect. */
  same: readonly (keyof AskedAs<K>)[] | 'never' | ((question: AskedAs<K>) => readonly (keyof AskedAs<K>)[] | 'never');
  /** The deadline in multiples of the configured time; absent: 1. */
  patience?: number;
  reply: (frame: Received<FromDaemon<Answers[K]>>, question: AskedAs<K>) => Reply | replies.WithRest;
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
    answer: 'messages',
    same: ['before', 'after', 'changed', 'limit', 'parts'],
    reply: (frame, question) => replies.pageReply(frame, question.parts === true, question),
  },
  ask_context: {
    needs: (can) => can('usage') || can('context'),
    frame: (_, can) => ({ type: can('usage') ? 'usage_request' : 'context_request' }),
    answer: (_, can) => (can('usage') ? 'usage_response' : 'context_response'),
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
    answer: 'context_response',
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
    answer: 'settings_response',
    same: ({ change }) => (change === undefined ? ['known'] : 'never'),
    reply: (frame) => replies.settingsReply(frame, 'session_settings'),
  },
  ask_agent_settings: {
    needs: 'controls',
    frame: ({ agentType, projectPath, change, changedOn }) => ({
      type: 'agent_settings_request',
      ...given({ agent_type: agentType, project_path: projectPath, change, changed_on: changedOn }),
    }),
    answer: 'agent_settings_response',
    same: 'never',
    reply: (frame) => replies.settingsReply(frame, 'agent_settings'),
  },
  ask_content: {
    needs: 'content',
    frame: ({ uuid, name, offset, limit }) => ({ type: 'content_request', uuid, name, offset, limit }),
    answer: 'content_response',
    same: ['uuid', 'name', 'offset', 'limit'],
    reply: replies.contentReply,
  },
  ask_folders: {
    needs: 'browse',
    frame: ({ path }) => ({ type: 'get_folders', path }),
    answer: 'folders',
    same: ['path'],
    reply: replies.foldersReply,
  },
  ask_search: {
    needs: 'search',
    frame: ({ query }) => ({ type: 'search_request', query }),
    answer: 'search_response',
    same: ['query'],
    reply: replies.searchReply,
  },
  ask_files: {
    needs: (can, { about }) => can('changes') && (can('browse') || about === 'changes' || about === 'diff'),
    frame: ({ about, v: _v, kind: _kind, sessionId: _sessionId, ...fields }) =>
      ({ type: `get_${about}`, ...fields }) as Body,
    answer: ({ about }) => about,
    same: ['about', 'scope', 'turn', 'path', 'after', 'from', 'find', 'side', 'offset', 'limit'],
    // A large folder takes longer to compare than a page of history to read.
    patience: 2,
    reply: replies.filesReply,
  },
  ask_pong: {
    frame: () => ({ type: 'ping' }),
    answer: 'pong',
    same: [],
    reply: () => ({ v: 1, kind: 'device_pong' }),
  },
  ask_spending: {
    needs: 'spending',
    frame: ({ from, to, zone }) => ({ type: 'spending_request', from, to, zone }),
    answer: 'spending_response',
    same: ['from', 'to', 'zone'],
    reply: replies.spendingReply,
  },
  release: {
    frame: ({ stopTurn }, can) => ({
      type: 'force_quit_session',
      ...(stopTurn === true && can('desk') ? { stop_turn: true } : {}),
    }),
    answer: 'force_quit_result',
    same: ['stopTurn'],
    reply: replies.releaseReply,
  },
  ask_desk: {
    needs: 'desk',
    frame: ({ letGo }) => ({ type: 'desk_request', let_go: letGo }),
    answer: 'desk_response',
    same: ['letGo'],
    reply: replies.deskReply,
  },
  send_file: {
    needs: 'files',
    frame: ({ fileId, name, size, mime }) => ({ type: 'file_open', file_id: fileId, name, size, ...given({ mime }) }),
    answer: 'file_result',
    same: 'never',
    reply: replies.transferReply,
  },
  send_piece: {
    needs: 'files',
    frame: ({ fileId, offset, data }) => ({ type: 'file_piece', file_id: fileId, offset, data }),
    answer: 'file_result',
    same: 'never',
    reply: replies.transferReply,
  },
};

/** The functions of a row take its own question only, which the kind guarantees. */
const rowOf = ({ kind }: Question) => table[kind] as unknown as Row<Kind>;

export const isQuestion = (command: Command): command is Question => Object.hasOwn(table, command.kind);

/** The types of all answers. */
export const answerTypes = Object.keys({
  messages: true,
  usage_response: true,
  context_response: true,
  settings_response: true,
  agent_settings_response: true,
  content_response: true,
  folders: true,
  search_response: true,
  changes: true,
  diff: true,
  files: true,
  file: true,
  pong: true,
  spending_response: true,
  force_quit_result: true,
  desk_response: true,
  file_result: true,
} satisfies Record<AnswerType, true>) as AnswerType[];

/** The frame of a question, and the type of its answer; undefined when the daemon cannot be asked: it would answer something else. */
export function questionFrame(
  question: Question,
  requestId: string,
  can: Can,
): { frame: ToDaemonFrame; answer: AnswerType } | undefined {
  const { needs, frame, answer } = rowOf(question);
  const isAble = needs === undefined || (typeof needs === 'function' ? needs(can, question) : can(needs));
  if (!isAble) return undefined;
  const { type, ...fields } = frame(question, can);
  // The answer to a ping names no request: it is for all who ask.
  const ids = type === 'ping' ? {} : { request_id: requestId, ...sessionIn(question) };
  return {
    frame: { type, ...ids, ...fields } as ToDaemonFrame,
    answer: typeof answer === 'function' ? answer(question, can) : answer,
  };
}

const sessionIn = (question: Question) => ('sessionId' in question ? { session_id: question.sessionId } : {});

/** Returns the same key for questions that can share a frame; undefined for a question with an effect. */
export function sharedKey(question: Question): string | undefined {
  const { same } = rowOf(question);
  const names = typeof same === 'function' ? same(question) : same;
  if (names === 'never') return undefined;
  return JSON.stringify([question.kind, sessionIn(question), names.map((name) => question[name])]);
}

/** How long to wait for the answer, in multiples of the configured time. */
export const patienceOf = (question: Question): number => rowOf(question).patience ?? 1;

/** The reply for the caller, perhaps with the text that follows its head. */
export function replyOf(question: Question, frame: Received<Answer>): Reply | replies.WithRest {
  return rowOf(question).reply(frame, question);
}
