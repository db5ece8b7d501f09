/** The messages between instances: one golden example per kind. */
import { sentenceOf } from '../errors.ts';
import { encodeUserFrame, type commands, type controls, type replies } from '../frames/instance.ts';
import type { ExamplesOf } from './shape.ts';
import { itemPage, versionAt } from './transcript.ts';
import {
  agentType,
  deviceId,
  fileIdExample,
  folder,
  hit,
  messages,
  nativeId,
  piece,
  projectPath,
  resume,
  sessionKey,
  settings,
  spending,
  summary,
  tasks,
  userId,
} from './story.ts';

export const commandExamples: ExamplesOf<typeof commands> = {
  wake: { v: 1, kind: 'wake' },
  cancel: { v: 1, kind: 'cancel', taskId: tasks.cancelled },
  changed: { v: 1, kind: 'changed', sessionKey, unwatched: true },
  open: { v: 1, kind: 'open', sessionKey },
  named: { v: 1, kind: 'named', taskId: tasks.start },
  history: { v: 1, kind: 'history', sessionId: nativeId, limit: 3, parts: true, changed: versionAt(3) },
  ask_context: { v: 1, kind: 'ask_context', sessionId: nativeId },
  ask_settings: { v: 1, kind: 'ask_settings', sessionId: nativeId, change: { id: 'mode', value: 'code' } },
  ask_agent_settings: { v: 1, kind: 'ask_agent_settings', agentType: 'codex', change: { id: 'mode', value: 'code' } },
  ask_content: {
    v: 1,
    kind: 'ask_content',
    sessionId: nativeId,
    uuid: messages[3].uuid,
    name: 'output',
    offset: 0,
    limit: 27,
  },
  ask_pong: { v: 1, kind: 'ask_pong' },
  ask_folders: { v: 1, kind: 'ask_folders', path: folder.path },
  ask_search: { v: 1, kind: 'ask_search', query: 'watering' },
  ask_files: {
    v: 1,
    kind: 'ask_files',
    sessionId: nativeId,
    about: 'diff',
    scope: 'uncommitted',
    path: 'src/schedule.ts',
  },
  ask_spending: { v: 1, kind: 'ask_spending', ...spending.range },
  ask_summary: { v: 1, kind: 'ask_summary', sessionId: nativeId },
  release: { v: 1, kind: 'release', sessionId: nativeId, stopTurn: true },
  send_file: { v: 1, kind: 'send_file', fileId: fileIdExample, name: 'march.csv', size: 27, mime: 'text/csv' },
  send_piece: { v: 1, kind: 'send_piece', fileId: fileIdExample, offset: 0, data: piece.data },
  drop_file: { v: 1, kind: 'drop_file', fileId: fileIdExample },
  ask_desk: { v: 1, kind: 'ask_desk', sessionId: nativeId, letGo: true },
};

export const replyExamples: ExamplesOf<typeof replies> = {
  page: {
    v: 1,
    kind: 'page',
    messages: messages.slice(1),
    hasMore: false,
    oldestUuid: messages[1].uuid,
    newestUuid: messages[3].uuid,
  },
  items: {
    v: 1,
    kind: 'items',
    version: itemPage.v,
    hasMore: false,
    oldestUuid: messages[0].uuid,
    newestUuid: messages[3].uuid,
  },
  session_context: { v: 1, kind: 'session_context', context: '{"used_tokens":41200,"max_tokens":200000}' },
  session_settings: { v: 1, kind: 'session_settings', settings },
  agent_settings: { v: 1, kind: 'agent_settings', settings, can: ['images'] },
  item_content: { v: 1, kind: 'item_content', ...piece },
  device_pong: { v: 1, kind: 'device_pong' },
  device_folders: { v: 1, kind: 'device_folders', ...folder },
  device_hits: { v: 1, kind: 'device_hits', hits: [{ sessionId: nativeId, ...hit }] },
  device_files: { v: 1, kind: 'device_files' },
  device_spending: {
    v: 1,
    kind: 'device_spending',
    days: [{ ...spending.day, agentType }],
    since: spending.since,
  },
  device_file: { v: 1, kind: 'device_file', received: 27, done: true, name: 'march.csv' },
  session_summary: { v: 1, kind: 'session_summary', summary },
  session_released: { v: 1, kind: 'session_released', result: 'released' },
  session_desk: { v: 1, kind: 'session_desk', free: true, command: resume, cwd: projectPath },
  failure: { v: 1, kind: 'failure', code: 'DEVICE_TIMEOUT', error: sentenceOf('DEVICE_TIMEOUT') },
};

export const controlExamples: ExamplesOf<typeof controls> = {
  device_closed: { v: 1, kind: 'device_closed', deviceId, why: 'deleted' },
  user_revoked: { v: 1, kind: 'user_revoked', subject: userId },
  device_contested: { v: 1, kind: 'device_contested', deviceId, heldMs: 60_000, retryAfter: 15 },
  database_set_back: { v: 1, kind: 'database_set_back', cause: '48213' },
  gateway_drained: { v: 1, kind: 'gateway_drained', instance: 'relay-gateway-0-4f1c09a2b7de', overMs: 600_000 },
  outbox: { v: 1, kind: 'outbox' },
};

export const userFrameExample = encodeUserFrame(
  'f',
  JSON.stringify({ type: 'device_status', deviceId, status: 'online' }),
);
