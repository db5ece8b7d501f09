/** Qwen Code: `~/.qwen/projects/<folder>/chats/<session>.jsonl`. */
import { basename, join } from 'node:path';
import { homeFolder } from '@relay/machine';
import { type Format, calls, chunk, recordOf, textIn, wordsOf } from './native.ts';

export const qwenFormat: Format = {
  root: (env) => join(homeFolder(env), '.qwen', 'projects'),
  depth: 2,
  isSession: (name) => name.endsWith('.jsonl'),
  about: (rows, path) => ({
    sessionId: rows.map((row) => textIn(row, 'sessionId')).find((id) => id !== '') ?? basename(path, '.jsonl'),
    title: '',
    projectPath: rows.map((row) => textIn(row, 'cwd')).find((cwd) => cwd !== '') ?? '',
  }),
  begins: ({ type }) => type === 'user',
  updates: (rows) =>
    rows.flatMap(({ row, place }, index) => {
      if (row.type !== 'user' && row.type !== 'assistant') return [];
      const id = textIn(row, 'uuid') || `row-${index}`;
      const { parts } = recordOf(row.message);
      const thought = wordsOf(parts, (part) => part.thought === true);
      const words = wordsOf(parts, (part) => part.thought !== true);
      const updates = [...chunk('thought', id, thought), ...chunk(row.type === 'user' ? 'USER' : 'AGENT', id, words)];
      return updates.map((update) => ({ update, at: textIn(row, 'timestamp'), place }));
    }),
  open(rows) {
    const last = rows.findLast(({ type }) => type === 'user' || type === 'assistant');
    return last?.type === 'user' || calls(recordOf(last?.message).parts);
  },
};
