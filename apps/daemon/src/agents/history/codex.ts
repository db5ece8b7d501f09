/** Codex: `sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`, also of `codex exec` and of sessions that a process holds locked. */
import { join } from 'node:path';
import { homeFolder } from '@relay/machine';
import type { UsageLimit } from '@relay/protocol';
import { cancelledUpdate } from '@relay/daemon-kit';
import { codexLimits } from '../limits.ts';
import { refusedCall, toolOf } from './codex-tools.ts';
import { type Format, type PlacedRow, type Row, chunk, filesBelow, recordOf, textIn, wordsOf } from './native.ts';
import { rowsBefore } from './window.ts';

export const codexFormat: Format = {
  root: (env) => join(env.CODEX_HOME || join(homeFolder(env), '.codex'), 'sessions'),
  depth: 3,
  isSession: (name) => name.startsWith('rollout-') && name.endsWith('.jsonl'),
  about(rows) {
    const meta = recordOf(rows.find(({ type }) => type === 'session_meta')?.payload);
    const sessionId = textIn(meta, 'id');
    return sessionId === '' ? undefined : { sessionId, title: '', projectPath: textIn(meta, 'cwd') };
  },
  begins: (row) => /^(task|turn)_started$/.test(eventOf(row)),
  updates(rows) {
    // Newer files record everything twice.
    const isNew = rows.some(({ row }) => eventOf(row) === 'item_completed');
    const refused = createRefused();
    let used: Row[] = [];
    const read = ({ row, place }: PlacedRow): Row[] => {
      const payload = recordOf(row.payload);
      if (row.type === 'response_item') return refused(payload);
      const type = eventOf(row);
      if (type === '') return [];
      if (type === 'token_count') used = usageOf(payload, textIn(row, 'timestamp'));
      if (type === 'turn_aborted') return [{ sessionUpdate: cancelledUpdate }];
      // The last word of a turn counts: text that was sent must no longer change.
      if (isOver.test(type)) return used.splice(0);
      const name = `row-${place}`;
      if (!isNew) return olderOf(payload, name);
      if (type !== 'item_completed') return planOf(payload);
      const item = recordOf(payload.item);
      refused(item);
      return itemOf(item, name);
    };
    return rows.flatMap((placed) =>
      read(placed).map((update) => ({ update, at: textIn(placed.row, 'timestamp'), place: placed.place })),
    );
  },
  open(rows, head) {
    const edge = rows.map(eventOf).findLast((type) => isEdge.test(type));
    // The last turn is longer than these rows. Older versions record neither start nor completion of a turn; their
    // files do not begin with such a row either.
    return edge?.endsWith('_started') ?? head.some((row) => isEdge.test(eventOf(row)));
  },
};

const eventOf = (row: Row) => (row.type === 'event_msg' ? textIn(recordOf(row.payload), 'type') : '');

/** A command that was not allowed is recorded as the model requested it, and never as an item. */
function createRefused(): (row: Row) => Row[] {
  const requested = new Map<string, string>();
  return (row) => {
    const id = textIn(row, 'call_id') || textIn(row, 'id');
    if (row.type === 'function_call') requested.set(id, textIn(row, 'arguments'));
    const words = requested.get(id);
    if (row.type === 'function_call' || words === undefined) return [];
    requested.delete(id);
    return row.type === 'function_call_output' ? refusedCall(id, words) : [];
  };
}

const isEdge = /^(task|turn)_(started|complete|aborted)$/;
const isOver = /^(task|turn)_complete$/;

function usageOf({ info, rate_limits: rateLimits }: Row, at: string): Row[] {
  const { last_token_usage: last, model_context_window: size } = recordOf(info);
  const used = recordOf(last).total_tokens;
  if (typeof used !== 'number') return [];
  const limits = codexLimits(rateLimits, at);
  return [{ sessionUpdate: 'usage_update', used, size, ...(limits.length > 0 ? { limits } : {}) }];
}

const fileOf = (env: NodeJS.ProcessEnv, sessionId: string): string | undefined =>
  filesBelow(codexFormat.root(env), codexFormat.depth, (name) => name.endsWith(`-${sessionId}.jsonl`))[0];

/**
 * True if the last turn of a session contains this message after its first one. Codex silently drops an accepted
 * message when the turn completes first. Undefined if the file does not hold the rest of that turn.
 */
export function codexReadIn(env: NodeJS.ProcessEnv): (sessionId: string, message: string) => boolean | undefined {
  return (sessionId, message) => {
    const path = fileOf(env, sessionId);
    if (path === undefined) return undefined;
    const rows = rowsBefore(path).rows.map(({ row }) => row);
    const began = rows.findLastIndex((row) => codexFormat.begins(row));
    const turn = began < 0 ? [] : rows.slice(began);
    if (!turn.some((row) => isEdge.test(eventOf(row)) && !codexFormat.begins(row))) return undefined;
    const texts = (type: string, of: (payload: Row) => string) =>
      turn.filter((row) => eventOf(row) === type).map((row) => of(recordOf(row.payload)));
    const items = texts('item_completed', ({ item }) => {
      const { type, ...fields } = recordOf(item);
      return type === 'UserMessage' ? textIn(fields, 'text') || wordsOf(fields.content) : '';
    }).filter((text) => text !== '');
    // Newer files record everything twice.
    const userTexts = items.length > 0 ? items : texts('user_message', (payload) => textIn(payload, 'message'));
    // Links to files follow the message.
    return userTexts.slice(1).some((text) => text.trim().startsWith(message.trim()));
  };
}

/** Returns the newest limits in the files of its sessions; the adapter of Codex reports no limits. */
export function codexLimitsOf(env: NodeJS.ProcessEnv): (sessionId: string) => readonly UsageLimit[] {
  const paths = new Map<string, string>();
  const find = (sessionId: string): string | undefined => {
    const path = fileOf(env, sessionId);
    if (path !== undefined) paths.set(sessionId, path);
    return path;
  };
  return (sessionId) => {
    const path = paths.get(sessionId) ?? find(sessionId);
    if (path === undefined) return [];
    try {
      const { rows } = rowsBefore(path, undefined, limitBytes);
      const newest = rows.findLast(({ row }) => recordOf(recordOf(row.payload).rate_limits).primary !== undefined)?.row;
      return newest ? codexLimits(recordOf(newest.payload).rate_limits, textIn(newest, 'timestamp')) : [];
    } catch {
      // Moved or removed: the next report looks for it again.
      paths.delete(sessionId);
      return [];
    }
  };
}

/** The tail of a file that holds the newest token count, except after very long output. */
const limitBytes = 256 * 1024;

function itemOf(item: Row, unnamed: string): Row[] {
  const id = textIn(item, 'id') || unnamed;
  switch (item.type) {
    case 'UserMessage':
      return chunk('USER', id, textIn(item, 'text') || wordsOf(item.content));
    case 'AgentMessage':
      return chunk('AGENT', id, textIn(item, 'text') || wordsOf(item.content));
    case 'Plan':
      return chunk('AGENT', id, textIn(item, 'text'));
    case 'Reasoning': {
      const reasoning = [item.summary_text, item.raw_content].find((texts) => Array.isArray(texts) && texts.length > 0);
      return chunk('thought', id, wordsOf(reasoning) || textIn(item, 'text'));
    }
    case 'ContextCompaction':
      return [{ sessionUpdate: 'compaction_update', status: 'completed' }];
    default:
      return toolOf(id, item);
  }
}

function olderOf({ type, ...payload }: Row, name: string): Row[] {
  const role = type === 'user_message' ? 'USER' : type === 'agent_message' ? 'AGENT' : undefined;
  return role === undefined ? [] : chunk(role, name, textIn(payload, 'message'));
}

function planOf({ type, plan }: Row): Row[] {
  if (type !== 'plan_update') return [];
  const steps: unknown[] = Array.isArray(plan) ? plan : [];
  const entries = steps.map(recordOf).map(({ step, status }) => ({ content: step, status }));
  return [{ sessionUpdate: 'plan', entries }];
}
