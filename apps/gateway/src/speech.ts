/** Words of a daemon → apps (contract §6): messages of the conversation, ends of turns, warnings and output. Touches no database. */
import { randomUUID } from 'node:crypto';
import { type Publisher, message } from '@relay/attention';
import type { SessionRecord } from '@relay/database';
import type { DaemonEvent, Message } from '@relay/protocol';
import type { Received } from './connection.ts';
import type { TaskEntry } from './device-memory.ts';
import { question, taskOutput, taskOutputAsWritten, toTime } from './translate.ts';

export type Spoken = DaemonEvent<'AGENT_RESPONSE'> | DaemonEvent<'USER_MESSAGE'>;
export type Output = DaemonEvent<'OUTPUT'> | DaemonEvent<'VERBOSE'>;
export type Ending = DaemonEvent<'TASK_COMPLETE'> | DaemonEvent<'WAIT_FOR_USER'> | DaemonEvent<'ERROR'>;

export const isEnding = (event: DaemonEvent): event is Ending =>
  event.event_type === 'TASK_COMPLETE' || event.event_type === 'WAIT_FOR_USER' || event.event_type === 'ERROR';

/** The words of an ending, as a message of the conversation. */
export function endMessage(event: Ending, now: Date): Message {
  const at = now.toISOString();
  if (event.event_type === 'TASK_COMPLETE') return message(randomUUID(), 'AGENT', event.result, at);
  if (event.event_type === 'ERROR') return message(randomUUID(), 'SYSTEM', event.error, at);
  return message(randomUUID(), 'AGENT', question(event), at);
}

export interface Speech {
  /** A message of the agent or the user. */
  say(record: SessionRecord, event: Spoken): Promise<void>;
  /** The last message of a turn; `end` as in `Publisher`. */
  sayEnd(record: SessionRecord, said: Message, end?: { key?: string; sinceMs?: number }): Promise<void>;
  /** The daemon noticed a problem: people should know of it, and the session goes on. */
  warn(record: SessionRecord, event: DaemonEvent<'WARNING'>): Promise<void>;
  /** `entry`: the task whose output it is, which is counted, so that apps see how much they missed (findings R5). */
  output(record: SessionRecord, event: Received<Output>, entry?: TaskEntry): void;
}

export function createSpeech(publisher: Publisher): Speech {
  return {
    say: async (record, event) => {
      const uuid = event.uuid || randomUUID();
      const role = event.event_type === 'AGENT_RESPONSE' ? 'AGENT' : 'USER';
      // With an answer, `user_message_uuid` is what it answers and not another name of it.
      const names = role === 'USER' ? [event.uuid, event.user_message_uuid] : [event.uuid];
      const uuids = names.filter((id): id is string => !!id);
      const spoken = message(uuid, role, event.content, toTime(event.timestamp, new Date()));
      await publisher.say(record.ownerId, record.key, record.session.id, spoken, uuids);
    },
    sayEnd: (record, said, end) => publisher.sayEnd(record.ownerId, record.key, record.session.id, said, end),
    warn: (record, { warning }) => {
      const said = message(randomUUID(), 'SYSTEM', warning, new Date().toISOString());
      return publisher.say(record.ownerId, record.key, record.session.id, said);
    },
    output: (record, event, entry) => {
      const { id } = record.session;
      if (entry) {
        entry.outputs = (entry.outputs ?? 0) + 1;
        // Long output is passed on as it is written in the daemon's frame.
        const asWritten = taskOutputAsWritten(id, event, event.written, entry.outputs);
        if (asWritten !== undefined) {
          publisher.hotText(record.ownerId, asWritten, 'o');
          return;
        }
      }
      const text = event.output ?? (event.event_type === 'VERBOSE' ? event.content : undefined) ?? '';
      publisher.hot(record.ownerId, taskOutput(id, event.task_id ?? undefined, text, entry?.outputs), 'o');
    },
  };
}
