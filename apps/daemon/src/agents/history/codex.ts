/** Codex: `sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`, also of `codex exec` and of sessions that a process holds locked. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { OutsideMessage } from '@relay/daemon-kit';
import { type Format, type Row, joined, recordOf, textIn, wordsOf } from './native.ts';

export const codexFormat: Format = {
  root: (env) => join(env.CODEX_HOME || join(env.HOME ?? homedir(), '.codex'), 'sessions'),
  depth: 3,
  isSession: (name) => name.startsWith('rollout-') && name.endsWith('.jsonl'),
  parse(rows) {
    const meta = recordOf(rows.find(({ type }) => type === 'session_meta')?.payload);
    const sessionId = textIn(meta, 'id');
    if (sessionId === '') return undefined;
    const events = rows.filter(({ type }) => type === 'event_msg');
    const items = events.flatMap((row, index) => itemOf(row, index));
    const state = events
      .map(({ payload }) => textIn(recordOf(payload), 'type'))
      .findLast((type) => /^(task|turn)_(started|complete|aborted)$/.test(type));
    return {
      sessionId,
      title: '',
      projectPath: textIn(meta, 'cwd'),
      // Newer files say everything twice.
      messages: joined(items.length > 0 ? items : events.flatMap((row, index) => olderOf(row, index))),
      open: state?.endsWith('_started') ?? false,
    };
  },
};

function itemOf(row: Row, index: number): OutsideMessage[] {
  const payload = recordOf(row.payload);
  if (payload.type !== 'item_completed') return [];
  const item = recordOf(payload.item);
  const role = item.type === 'UserMessage' ? 'USER' : item.type === 'AgentMessage' ? 'AGENT' : undefined;
  if (!role) return [];
  const content = textIn(item, 'text') || wordsOf(item.content);
  return [{ id: textIn(item, 'id') || `row-${index}`, role, content, timestamp: textIn(row, 'timestamp') }];
}

function olderOf(row: Row, index: number): OutsideMessage[] {
  const payload = recordOf(row.payload);
  const role = payload.type === 'user_message' ? 'USER' : payload.type === 'agent_message' ? 'AGENT' : undefined;
  if (!role) return [];
  return [{ id: `row-${index}`, role, content: textIn(payload, 'message'), timestamp: textIn(row, 'timestamp') }];
}
