/** Gemini CLI: `~/.gemini/tmp/<project>/chats/session-*.jsonl`; the folder of the project is in `.project_root` beside it. */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Format, type PlacedRow, calls, chunk, recordOf, textIn, wordsOf } from './native.ts';

export const geminiFormat: Format = {
  root: (env) => join(env.HOME ?? homedir(), '.gemini', 'tmp'),
  depth: 2,
  isSession: (name) => name.startsWith('session-') && name.endsWith('.jsonl'),
  about(rows, path) {
    const sessionId = textIn(rows[0] ?? {}, 'sessionId');
    return sessionId === '' ? undefined : { sessionId, title: '', projectPath: projectOf(path) };
  },
  begins: ({ type }) => type === 'user',
  updates: (rows) =>
    talkOf(rows).flatMap(({ row, place }, index) => {
      const id = textIn(row, 'id') || `row-${index}`;
      const role = row.type === 'user' ? 'USER' : row.type === 'gemini' ? 'AGENT' : undefined;
      const updates = role === undefined ? [] : chunk(role, id, wordsOf(row.content));
      return updates.map((update) => ({ update, at: textIn(row, 'timestamp'), place }));
    }),
  open(rows) {
    const last = talkOf(rows.map((row) => ({ row, place: 0 }))).at(-1)?.row;
    // Its tools have results already; the agent goes on with them.
    const hasTools = Array.isArray(last?.toolCalls) && last.toolCalls.length > 0;
    return last?.type === 'user' || hasTools || calls(last?.content);
  },
};

function talkOf(rows: readonly PlacedRow[]): PlacedRow[] {
  let talk: PlacedRow[] = [];
  for (const { row, place } of rows) {
    const all = recordOf(row.$set).messages;
    // The conversation was rewritten.
    if (Array.isArray(all)) talk = all.map((message) => ({ row: recordOf(message), place }));
    else if (row.type === 'user' || row.type === 'gemini') talk.push({ row, place });
  }
  return talk;
}

function projectOf(path: string): string {
  try {
    return readFileSync(join(dirname(dirname(path)), '.project_root'), 'utf8').trim();
  } catch {
    return '';
  }
}
