/** A tool call of Claude Code as its adapter reports it in ACP: title, kind, places and changes. Pure; reads by shape. */
import { below } from '@relay/daemon-kit';
import { type Row, recordOf, textIn } from './native.ts';

type CallFields = Partial<Record<'title' | 'kind' | 'locations' | 'content', unknown>>;

/** `cwd`: of the row, to show paths below it shortly. */
export function toolOf(name: string, input: Row, cwd: string): CallFields {
  const path = textIn(input, 'file_path') || textIn(input, 'notebook_path') || textIn(input, 'path');
  const shown = path === '' ? '' : below(path, cwd);
  const at = (line?: unknown) => (path === '' ? [] : [{ path, ...(line === undefined ? {} : { line }) }]);
  switch (name) {
    case 'Bash':
      return { title: textIn(input, 'command') || 'Terminal', kind: 'execute' };
    case 'Read':
      return { title: `Read ${shown || 'File'}`, kind: 'read', locations: at(lineOf(input.offset)) };
    case 'Write':
      return { title: `Write ${shown}`, kind: 'edit', locations: at(), content: [diff(path, '', input.content)] };
    case 'Edit':
      return {
        title: `Edit ${shown}`.trim(),
        kind: 'edit',
        locations: at(),
        content: [diff(path, textIn(input, 'old_string'), input.new_string)],
      };
    case 'MultiEdit': {
      const edits: unknown[] = Array.isArray(input.edits) ? input.edits : [];
      const content = edits.map(recordOf).map((edit) => diff(path, textIn(edit, 'old_string'), edit.new_string));
      return { title: `Edit ${shown}`.trim(), kind: 'edit', locations: at(), content };
    }
    case 'Glob':
    case 'Grep':
      return {
        title: [name === 'Glob' ? 'Find' : 'grep', textIn(input, 'pattern'), shown].filter(Boolean).join(' '),
        kind: 'search',
        locations: at(),
      };
    case 'WebFetch':
      return { title: `Fetch ${textIn(input, 'url')}`.trim(), kind: 'fetch' };
    case 'WebSearch':
      return { title: `Search "${textIn(input, 'query')}"`, kind: 'fetch' };
    case 'Agent':
    case 'Task':
      return { title: textIn(input, 'description') || 'Task', kind: 'think' };
    case 'ExitPlanMode':
      return { title: 'Approve Plan', kind: 'switch_mode' };
    default:
      return { title: name || 'Tool', kind: 'other', locations: at() };
  }
}

const diff = (path: string, oldText: string, newText: unknown) => ({
  type: 'diff',
  path,
  oldText: oldText === '' ? null : oldText,
  newText: typeof newText === 'string' ? newText : '',
});

const lineOf = (offset: unknown) => (Number.isSafeInteger(offset) ? Math.max(Number(offset), 1) : 1);

/** The results of calls that a person refused, in the terminal and through the adapter. */
const refused = /^(The user doesn['’]t want to (proceed|take this action)|User refused permission to run tool)/;
const isRefused = (content: unknown): boolean =>
  (Array.isArray(content) ? content.map((part) => textIn(recordOf(part), 'text')) : [content]).some(
    (text) => typeof text === 'string' && refused.test(text),
  );

/** Returns the result of a call. The patch of an edit is complete; the text of a file comes with line numbers. */
export function resultOf(name: string, block: Row, toolResult: Row): Row {
  const isFailed = block.is_error === true;
  const base = {
    sessionUpdate: 'tool_call_update',
    toolCallId: textIn(block, 'tool_use_id'),
    status: isFailed ? (isRefused(block.content) ? 'rejected' : 'failed') : 'completed',
  };
  if (!isFailed && Array.isArray(toolResult.structuredPatch)) {
    const { filePath, structuredPatch } = toolResult;
    return { ...base, _meta: { claudeCode: { toolName: name, toolResponse: { filePath, structuredPatch } } } };
  }
  if (!isFailed && ['Write', 'Edit', 'MultiEdit'].includes(name)) return base;
  const file = recordOf(toolResult.file);
  const text = name === 'Read' && toolResult.type === 'text' ? textIn(file, 'content') : '';
  if (text !== '') {
    const from = Number.isSafeInteger(file.startLine) ? Number(file.startLine) : 1;
    const lines = text.replace(/\n$/, '').split('\n');
    return { ...base, content: [shownAs(lines.map((line, index) => `${from + index}\t${line}`).join('\n'))] };
  }
  const blocks: unknown[] = Array.isArray(block.content) ? block.content : [{ type: 'text', text: block.content }];
  return { ...base, content: blocks.map(recordOf).flatMap((part) => contentOf(part)) };
}

const shownAs = (text: string) => ({ type: 'content', content: { type: 'text', text } });

function contentOf(block: Row): Row[] {
  if (block.type === 'image') {
    const { data, media_type: mimeType } = recordOf(block.source);
    return [{ type: 'content', content: { type: 'image', data, mimeType } }];
  }
  const text = textIn(block, 'text').replace(/\n*<system-reminder>[^]*?<\/system-reminder>/g, '');
  return text === '' ? [] : [shownAs(text)];
}
