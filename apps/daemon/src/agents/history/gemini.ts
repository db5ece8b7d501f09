/** Gemini CLI: `~/.gemini/tmp/<project>/chats/session-*.jsonl`; the folder of the project stands in `.project_root` beside it. */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { OutsideMessage } from '@relay/daemon-kit';
import { type Format, type Row, joined, recordOf, textIn, wordsOf } from './native.ts';

export const geminiFormat: Format = {
  root: (env) => join(env.HOME ?? homedir(), '.gemini', 'tmp'),
  depth: 2,
  isSession: (name) => name.startsWith('session-') && name.endsWith('.jsonl'),
  parse(rows, path) {
    const sessionId = textIn(rows[0] ?? {}, 'sessionId');
    if (sessionId === '') return undefined;
    let talk: Row[] = [];
    for (const row of rows) {
      const all = recordOf(row.$set).messages;
      // The conversation was written anew.
      if (Array.isArray(all)) talk = all.map(recordOf);
      else if (row.type === 'user' || row.type === 'gemini') talk.push(row);
    }
    const messages = joined(
      talk.flatMap((row, index): OutsideMessage[] => {
        const role = row.type === 'user' ? 'USER' : row.type === 'gemini' ? 'AGENT' : undefined;
        if (!role) return [];
        const id = textIn(row, 'id') || `row-${index}`;
        return [{ id, role, content: wordsOf(row.content), timestamp: textIn(row, 'timestamp') }];
      }),
    );
    return { sessionId, title: '', projectPath: projectOf(path), messages, open: talk.at(-1)?.type === 'user' };
  },
};

function projectOf(path: string): string {
  try {
    return readFileSync(join(dirname(dirname(path)), '.project_root'), 'utf8').trim();
  } catch {
    return '';
  }
}
