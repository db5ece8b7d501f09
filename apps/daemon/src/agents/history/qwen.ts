/** Qwen Code: `~/.qwen/projects/<folder>/chats/<session>.jsonl`. */
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { type Format, joined, recordOf, textIn, wordsOf } from './native.ts';

export const qwenFormat: Format = {
  root: (env) => join(env.HOME ?? homedir(), '.qwen', 'projects'),
  depth: 2,
  isSession: (name) => name.endsWith('.jsonl'),
  parse(rows, path) {
    const talk = rows.filter(({ type }) => type === 'user' || type === 'assistant');
    const messages = joined(
      talk.map((row, index) => ({
        id: textIn(row, 'uuid') || `row-${index}`,
        role: row.type === 'user' ? 'USER' : 'AGENT',
        content: wordsOf(recordOf(row.message).parts, ({ thought }) => thought !== true),
        timestamp: textIn(row, 'timestamp'),
      })),
    );
    return {
      sessionId: rows.map((row) => textIn(row, 'sessionId')).find((id) => id !== '') ?? basename(path, '.jsonl'),
      title: '',
      projectPath: rows.map((row) => textIn(row, 'cwd')).find((cwd) => cwd !== '') ?? '',
      messages,
      open: talk.at(-1)?.type === 'user',
    };
  },
};
