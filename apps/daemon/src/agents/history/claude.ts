/** Claude Code: `projects/<folder>/<session>.jsonl`. The name of the folder is lossy; the working directory is in the rows. */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { homeFolder } from '@relay/machine';
import { cancelledUpdate, typedInTerminal } from '@relay/daemon-kit';
import { resultOf, toolOf } from './claude-tools.ts';
import { createTaskList } from './claude-tasks.ts';
import { type Format, type Row, chunk, recordOf, textIn, wordsOf } from './native.ts';

const folderOf = (env: NodeJS.ProcessEnv) => env.CLAUDE_CONFIG_DIR || join(homeFolder(env), '.claude');

export const claudeFormat: Format = {
  root: (env) => join(folderOf(env), 'projects'),
  depth: 1,
  isSession: (name) => name.endsWith('.jsonl'),
  about(rows, path) {
    const titleRow = rows.findLast(({ type }) => type === 'summary' || type === 'ai-title' || type === 'custom-title');
    return {
      sessionId: basename(path, '.jsonl'),
      title: titleRow
        ? textIn(titleRow, 'summary') || textIn(titleRow, 'aiTitle') || textIn(titleRow, 'customTitle')
        : '',
      projectPath: rows.map((row) => textIn(row, 'cwd')).find((cwd) => cwd !== '') ?? '',
    };
  },
  begins: (row) => isTalk(row) && row.type === 'user' && messageIn(row) !== '',
  updates(rows) {
    const reader = createReader();
    return rows.flatMap(({ row, place }) =>
      reader(row).map((update) => ({ update, at: textIn(row, 'timestamp'), place })),
    );
  },
  open(rows) {
    const last = rows.findLast((row) => isEnd(row) || (isTalk(row) && !isAside(row)));
    if (last === undefined || isEnd(last)) return false;
    if (last.type === 'user') return !interrupted.test(messageIn(last));
    const reason = reasonOf(last);
    if (reason !== '') return reason === 'tool_use';
    // Only the last row of an answer has a reason. Older versions write no reason, also not for earlier turns.
    return rows.some((row) => /^(end_turn|tool_use)$/.test(reasonOf(row))) || rows.filter(this.begins).length < 2;
  },
  notesHolders: (env) => existsSync(join(folderOf(env), 'sessions')),
};

const interrupted = /^\[Request interrupted by user/;

const isMessage = (row: Row) =>
  (row.type === 'user' || row.type === 'assistant') &&
  row.isMeta !== true &&
  row.isCompactSummary !== true &&
  row.isApiErrorMessage !== true;
const isEnd = ({ type, subtype }: Row) => type === 'system' && subtype === 'turn_duration';
const reasonOf = (row: Row) => textIn(recordOf(row.message), 'stop_reason');
const isTalk = (row: Row) => isMessage(row) && row.isSidechain !== true;

const textsIn = (row: Row) => wordsOf(recordOf(row.message).content, ({ type }) => type === 'text');

/** The agent also stores terminal commands, their output and notes to the agent as user text. */
const isAside = (row: Row) =>
  row.type === 'user' && /^\s*<(command-|local-command-|bash-|system-reminder|task-notification)/.test(textsIn(row));

/** Returns the person's text. */
const messageIn = (row: Row) => (isAside(row) ? '' : textsIn(row));

/** Returns the text of the person that the agent took up in the middle of a turn: it has no user row. */
function queuedIn(row: Row): string {
  const { type, commandMode, isMeta, prompt } = recordOf(row.attachment);
  const isPrompt = type === 'queued_command' && commandMode === 'prompt' && isMeta !== true;
  return isPrompt && row.isSidechain !== true ? messageIn({ type: 'user', message: { content: prompt } }) : '';
}

/** Programs of the SDK, such as the adapter, have another entry point than the terminal. */
const typed = (row: Row, updates: readonly Row[]): Row[] =>
  updates.map((update) => (row.entrypoint === 'cli' ? { ...update, ...typedInTerminal } : update));

/** One row after the other → updates of ACP, in the form of this agent's adapter. */
function createReader(): (row: Row) => Row[] {
  const calls = new Map<string, string>();
  const tasks = createTaskList();
  /** The call that subagents work for. */
  let parent = '';

  const called = (row: Row, block: Row): Row[] => {
    const [id, name, input] = [textIn(block, 'id'), textIn(block, 'name'), recordOf(block.input)];
    if (id === '') return [];
    if (tasks.has(name)) {
      tasks.called(id, name, input);
      return [];
    }
    if (name === 'TodoWrite') return [planOf(input)];
    calls.set(id, name);
    const belongs = row.isSidechain === true && parent !== '' ? { parentToolUseId: parent } : {};
    if (row.isSidechain !== true && (name === 'Task' || name === 'Agent')) parent = id;
    const described = toolOf(name, input, textIn(row, 'cwd'));
    const call = { sessionUpdate: 'tool_call', toolCallId: id, name, status: 'pending', rawInput: input, ...described };
    return [{ ...call, _meta: { claudeCode: { toolName: name, ...belongs } } }];
  };

  const ended = (row: Row, block: Row): Row[] => {
    const id = textIn(block, 'tool_use_id');
    const [name, result] = [calls.get(id), recordOf(row.toolUseResult)];
    return name === undefined ? tasks.ended(id, result, block) : [resultOf(name, block, result)];
  };

  return (row) => {
    if (row.type === 'system' && row.subtype === 'compact_boundary')
      return [{ sessionUpdate: 'compaction_update', status: 'completed', summary: textIn(row, 'content') }];
    if (row.type === 'attachment') return typed(row, chunk('USER', textIn(row, 'uuid'), queuedIn(row)));
    if (!isMessage(row)) return [];
    const message = recordOf(row.message);
    const blocks: unknown[] = Array.isArray(message.content) ? message.content : [];
    if (row.type === 'user') {
      const results = blocks.map(recordOf).flatMap((block) => (block.type === 'tool_result' ? ended(row, block) : []));
      if (row.isSidechain === true) return results;
      const messageText = messageIn(row);
      const words = interrupted.test(messageText)
        ? [{ sessionUpdate: cancelledUpdate }]
        : typed(row, chunk('USER', textIn(row, 'uuid'), messageText));
      return [...results, ...words];
    }
    const id = textIn(message, 'id') || textIn(row, 'uuid');
    const updates = blocks.map(recordOf).flatMap((block) => {
      if (block.type === 'tool_use') return called(row, block);
      if (row.isSidechain === true) return [];
      if (block.type === 'thinking') return chunk('thought', id, textIn(block, 'thinking'));
      return block.type === 'text' ? chunk('AGENT', id, textIn(block, 'text')) : [];
    });
    // The last word of a turn counts: text that was sent must no longer change.
    const isLast = row.isSidechain !== true && message.stop_reason === 'end_turn';
    return isLast ? [...updates, ...usageOf(recordOf(message.usage))] : updates;
  };
}

function planOf(input: Row): Row {
  const todos: unknown[] = Array.isArray(input.todos) ? input.todos : [];
  const entries = todos.map(recordOf).map(({ content, activeForm, status }) => ({
    content: status === 'in_progress' && activeForm ? activeForm : content,
    status,
    priority: 'medium',
  }));
  return { sessionUpdate: 'plan', entries };
}

function usageOf(usage: Row): Row[] {
  const names = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens', 'output_tokens'];
  const used = names.map((name) => usage[name]).reduce<number>((sum, count) => sum + (typeof count === 'number' ? count : 0), 0); // prettier-ignore
  return used === 0 ? [] : [{ sessionUpdate: 'usage_update', used }];
}
