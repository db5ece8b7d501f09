/** A completed item of Codex as its adapter reports it in ACP. Pure; reads by shape. An item of an unknown type is ignored. */
import { type Row, recordOf, textIn } from './native.ts';

export function toolOf(id: string, item: Row): Row[] {
  const status = /^(failed|declined)$/.test(textIn(item, 'status')) ? 'failed' : 'completed';
  const call = { sessionUpdate: 'tool_call', toolCallId: id, status };
  switch (item.type) {
    case 'CommandExecution': {
      const command = commandOf(item);
      const cwd = pathOf(textIn(item, 'cwd'));
      return [
        { ...call, kind: 'execute', title: command, rawInput: { command, cwd } },
        {
          sessionUpdate: 'tool_call_update',
          toolCallId: id,
          _meta: {
            terminal_output_delta: { data: textIn(item, 'aggregated_output') },
            terminal_exit: { exit_code: item.exit_code },
          },
        },
      ];
    }
    case 'FileChange': {
      const content = Object.entries(recordOf(item.changes)).map(([path, change]) => diffOf(path, recordOf(change)));
      const locations = content.map(({ path }) => ({ path }));
      return [{ ...call, kind: 'edit', title: 'Editing files', locations, content }];
    }
    case 'McpToolCall': {
      const { server, tool, arguments: given } = item;
      const { content } = recordOf(recordOf(item.result).Ok ?? item.result);
      const shown = (Array.isArray(content) ? (content as unknown[]) : []).map((block) => ({
        type: 'content',
        content: block,
      }));
      const title = `mcp.${String(server)}.${String(tool)}`;
      return [{ ...call, kind: 'execute', title, rawInput: { server, tool, arguments: given }, content: shown }];
    }
    case 'WebSearch': {
      const query = textIn(item, 'query');
      return [
        { ...call, kind: 'search', title: query === '' ? 'Web search' : `Web search: ${query}`, rawInput: { query } },
      ];
    }
    case 'ImageView':
      return [{ ...call, kind: 'read', title: `View Image ${textIn(item, 'path')}`, locations: [{ path: item.path }] }];
    case 'ImageGeneration':
      return [{ ...call, kind: 'other', title: 'Image generation' }];
    default:
      return [];
  }
}

/**
 * Returns the command that a model requested and that did not run; nothing for other calls. `words`: its arguments, as
 * JSON.
 */
export function refusedCall(id: string, words: string): Row[] {
  let given: Row;
  try {
    given = recordOf(JSON.parse(words));
  } catch {
    return [];
  }
  const command = textIn(given, 'cmd') || commandOf(given);
  if (command === '' || command.startsWith('apply_patch')) return [];
  const call = { sessionUpdate: 'tool_call', toolCallId: id, kind: 'execute', status: 'failed' };
  return [{ ...call, title: command, rawInput: { command } }];
}

/** The command itself, if it is the only one in the call of a shell. */
function commandOf(item: Row): string {
  const words: unknown[] = Array.isArray(item.command) ? item.command : [item.command];
  const texts = words.filter((word): word is string => typeof word === 'string');
  const [program = '', option, script] = texts;
  const isShell = texts.length === 3 && /(^|\/)(ba|z|da)?sh$/.test(program) && /^-l?c$/.test(option ?? '');
  return isShell && script !== undefined ? script : texts.join(' ');
}

const pathOf = (place: string) =>
  place.startsWith('file://') ? decodeURIComponent(place.slice('file://'.length)) : place;

/** A file change is recorded only as its patch: its lines are the texts before and after. */
function diffOf(
  path: string,
  change: Row,
): { type: 'diff'; path: string; oldText: string | null; newText: string | null } {
  const [content, patch] = [textIn(change, 'content'), textIn(change, 'unified_diff')];
  const [kind, diff] = [change.type, { type: 'diff' as const, path: textIn(change, 'move_path') || path }];
  if (kind === 'add') return { ...diff, oldText: null, newText: content };
  if (kind === 'delete') return { ...diff, oldText: content, newText: null };
  // `---` and `+++` are names of files only before the first hunk: in it, `--- x` is the removed line `-- x`.
  const lines = patch
    .replace(/^[^]*?^(?=@@)/m, '')
    .split('\n')
    .filter((line) => !/^(@@|\\)/.test(line));
  const side = (sign: string) =>
    lines
      .filter((line) => line.startsWith(' ') || line.startsWith(sign))
      .map((line) => `${line.slice(1)}\n`)
      .join('');
  return { ...diff, oldText: side('-'), newText: side('+') };
}
