/**
 * Texts of a daemon → apps (rules, 11.4): messages of the conversation, outcomes of turns, warnings and output. Touches
 * no database.
 */
import { randomUUID } from 'node:crypto';
import { type Publisher, type SessionChannel, message } from '@relay/attention';
import type { SessionRecord } from '@relay/database';
import { type DaemonEvent, type Message, encodeTranscript, shownText } from '@relay/protocol';
import { endItemUuid, userItemUuid } from '@relay/protocol/identity';
import type { DaemonConnection, Received } from '../connection/connection.ts';
import type { TaskEntry } from '../connection/open-tasks.ts';
import { question, taskOutput, taskOutputAsWritten, toTime, transcriptText } from './translate.ts';

type ConversationEvent = DaemonEvent<'AGENT_RESPONSE'> | DaemonEvent<'USER_MESSAGE'>;
type OutputEvent = DaemonEvent<'OUTPUT'> | DaemonEvent<'VERBOSE'>;
export type OutcomeEvent = DaemonEvent<'TASK_COMPLETE'> | DaemonEvent<'WAIT_FOR_USER'> | DaemonEvent<'ERROR'>;

export const isEnding = (event: DaemonEvent): event is OutcomeEvent =>
  event.event_type === 'TASK_COMPLETE' || event.event_type === 'WAIT_FOR_USER' || event.event_type === 'ERROR';

/**
 * The text of an outcome, as a message of the conversation. Its uuid is the daemon's item uuid, or else derived from
 * the task, so that a repeated event has the same uuid.
 */
export function endMessage(event: OutcomeEvent, now: Date): Message {
  const at = now.toISOString();
  const questionUuid = event.event_type === 'WAIT_FOR_USER' ? event.question?.uuid : undefined;
  const uuid = event.message_uuid || questionUuid || endItemUuid(event.task_id ?? '', event.event_type);
  if (event.event_type === 'TASK_COMPLETE') return message(uuid, 'AGENT', event.result, at);
  if (event.event_type === 'ERROR') return message(uuid, 'SYSTEM', event.error, at);
  return message(uuid, 'AGENT', question(event), at);
}

export interface TextPublisher {
  /** A message of the agent or the user. */
  publish(connection: DaemonConnection, record: SessionRecord, event: ConversationEvent): Promise<void>;
  /** Publishes the last message of a turn; `end` as in `Publisher`. */
  publishEnd(
    connection: DaemonConnection,
    record: SessionRecord,
    last: Message,
    end?: { key?: string; sinceMs?: number },
  ): Promise<void>;
  /** Returns the texts of a turn, given in their order, that apps do not have since `sinceMs`. */
  unpublished(
    connection: DaemonConnection,
    record: SessionRecord,
    texts: readonly Message[],
    sinceMs?: number,
  ): Promise<readonly Message[]>;
  /** The daemon noticed a problem that people should know; the session continues. */
  warn(connection: DaemonConnection, record: SessionRecord, event: DaemonEvent<'WARNING'>): Promise<void>;
  /** `entry`: the task whose output it is, which is counted, so that apps see how much they missed (rules, 11.4). */
  output(record: SessionRecord, event: Received<OutputEvent>, entry?: TaskEntry): void;
  /** Operations of a transcript. `entry` as above: the text that they show is one output of the task. */
  transcript(record: SessionRecord, event: Received<DaemonEvent<'TRANSCRIPT'>>, entry?: TaskEntry): void;
}

export const conversation = (
  { sessions }: Pick<DaemonConnection, 'sessions'>,
  { ownerId, key, session }: SessionRecord,
): SessionChannel => ({ ownerId, key, sessionId: session.id, turns: sessions.turns });

export function createTextPublisher(publisher: Publisher): TextPublisher {
  return {
    publish: async (connection, record, event) => {
      const uuid = event.uuid || randomUUID();
      // The message that the task began with: it was published when it was accepted.
      if (event.task_id && uuid === userItemUuid(event.task_id)) return;
      const role = event.event_type === 'AGENT_RESPONSE' ? 'AGENT' : 'USER';
      // On an agent's message, `user_message_uuid` is the message it answers and not a second name.
      const names = role === 'USER' ? [event.uuid, event.user_message_uuid] : [event.uuid];
      const uuids = names.filter((id): id is string => !!id);
      const entry = message(uuid, role, event.content, toTime(event.timestamp, new Date()));
      const of = conversation(connection, record);
      if (connection.can('transcript')) await publisher.publishOnce(of, entry);
      else await publisher.publishMessage(of, entry, uuids);
    },
    publishEnd: (connection, record, last, end) => {
      const of = conversation(connection, record);
      return connection.can('transcript') ? publisher.publishOnce(of, last) : publisher.publishEnd(of, last, end);
    },
    unpublished: (connection, record, texts, sinceMs) =>
      publisher.unpublished(conversation(connection, record), texts, sinceMs),
    warn: (connection, record, { warning }) => {
      const shown = message(randomUUID(), 'SYSTEM', warning, new Date().toISOString());
      return publisher.publishMessage(conversation(connection, record), shown);
    },
    transcript: (record, event, entry) => {
      const { task_id: taskId, ops } = event;
      const sequence = entry && shownText(ops) !== '' ? (entry.outputs = (entry.outputs ?? 0) + 1) : undefined;
      const head = { ...(taskId === '' ? {} : { taskId }), ...(sequence === undefined ? {} : { sequence }) };
      publisher.hotText(record.ownerId, encodeTranscript(head, transcriptText(record.session.id, event)), 't');
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
