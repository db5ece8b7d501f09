/** Claude Code: `projects/<folder>/<session>.jsonl`. The name of the folder is lossy; the working directory stands in the rows. */
import { readFileSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import type { OutsideMessage } from '@relay/daemon-kit';
import { type Format, type Row, joined, recordOf, textIn, wordsOf } from './native.ts';

const folderOf = (env: NodeJS.ProcessEnv) => env.CLAUDE_CONFIG_DIR || join(env.HOME ?? homedir(), '.claude');

export const claudeFormat: Format = {
  root: (env) => join(folderOf(env), 'projects'),
  depth: 1,
  isSession: (name) => name.endsWith('.jsonl'),
  parse(rows, path) {
    const talk = rows.filter(isTalk);
    const messages = joined(talk.map(messageOf));
    const last = talk.at(-1);
    const told = rows.findLast(({ type }) => type === 'summary' || type === 'ai-title' || type === 'custom-title');
    const title = told ? textIn(told, 'summary') || textIn(told, 'aiTitle') || textIn(told, 'customTitle') : '';
    return {
      sessionId: basename(path, '.jsonl'),
      title,
      projectPath: rows.map((row) => textIn(row, 'cwd')).find((cwd) => cwd !== '') ?? '',
      messages,
      open:
        last !== undefined && (last.type === 'user' || textIn(recordOf(last.message), 'stop_reason') === 'tool_use'),
    };
  },
  busy(env) {
    const busy = new Set<string>();
    const folder = join(folderOf(env), 'sessions');
    for (const name of namesIn(folder)) {
      try {
        const row = recordOf(JSON.parse(readFileSync(join(folder, name), 'utf8')));
        if (row.status !== 'busy' || !lives(Number.parseInt(name, 10))) continue;
        busy.add(textIn(row, 'sessionId'));
      } catch {
        // Just being written, or gone.
      }
    }
    return busy;
  },
};

const isTalk = (row: Row) =>
  (row.type === 'user' || row.type === 'assistant') &&
  row.isSidechain !== true &&
  row.isMeta !== true &&
  row.isApiErrorMessage !== true;

function messageOf(row: Row): OutsideMessage {
  const message = recordOf(row.message);
  const words = wordsOf(message.content, ({ type }) => type === 'text');
  const isUser = row.type === 'user';
  return {
    id: isUser ? textIn(row, 'uuid') : textIn(message, 'id') || textIn(row, 'uuid'),
    role: isUser ? 'USER' : 'AGENT',
    // Commands of the terminal and what they print are kept as words of the user.
    content: isUser && /^\s*<(command-|local-command-|system-reminder)/.test(words) ? '' : words,
    timestamp: textIn(row, 'timestamp'),
  };
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => /^\d+\.json$/.test(name));
  } catch {
    return [];
  }
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
