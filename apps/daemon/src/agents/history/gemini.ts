/** Gemini CLI: `~/.gemini/tmp/<project>/chats/session-*.jsonl`; the folder of the project is in `.project_root` beside it. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { homeFolder } from '@relay/machine';
import { type Format, type PlacedRow, calls, chunk, recordOf, textIn, wordsOf } from './native.ts';

export const geminiFormat: Format = {
  root: (env) => join(homeFolder(env), '.gemini', 'tmp'),
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
      const updates = chunk(row.type === 'user' ? 'USER' : 'AGENT', id, wordsOf(row.content));
      return updates.map((update) => ({ update, at: textIn(row, 'timestamp'), place }));
    }),
  open(rows) {
    const last = talkOf(rows.map((row) => ({ row, place: 0 }))).at(-1)?.row;
    // Its tools have results already; the agent continues with them.
    const hasTools = Array.isArray(last?.toolCalls) && last.toolCalls.length > 0;
    return last?.type === 'user' || hasTools || calls(last?.content);
  },
};

/** The file is a log: Gemini writes a message again, whole, when its tools or tokens are known, and can rewind. */
function talkOf(rows: readonly PlacedRow[]): PlacedRow[] {
  const talk = new Map<string, PlacedRow>();
  const take = ({ row, place }: PlacedRow) => {
    const isTalk = row.type === 'gemini' || (row.type === 'user' && !aside.test(wordsOf(row.content)));
    const id = textIn(row, 'id') || `row-${place}`;
    if (isTalk) talk.set(id, { row, place: talk.get(id)?.place ?? place });
  };
  for (const { row, place } of rows) {
    const { messages } = recordOf(row.$set);
    if (!Array.isArray(messages)) take({ row, place });
    // The context of the model: a compression copies the conversation into it. Only the messages of a resumed chat are nowhere else.
    else if (talk.size === 0 && rows[0]?.place === 0)
      for (const message of messages) take({ row: recordOf(message), place });
    const rewound = textIn(row, '$rewindTo');
    if (!talk.has(rewound)) continue;
    const ids = [...talk.keys()];
    for (const id of ids.slice(ids.indexOf(rewound))) talk.delete(id);
  }
  return [...talk.values()];
}

/** The agent stores notes to the model as user text. */
const aside = /^\s*<(session_context|state_snapshot|hook_context)>/;

function projectOf(path: string): string {
  try {
    return readFileSync(join(dirname(dirname(path)), '.project_root'), 'utf8').trim();
  } catch {
    return '';
  }
}
