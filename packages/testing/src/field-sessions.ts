/** The sessions of a daemon of the field, with their history, which outlives its connections. */
import { randomUUID } from 'node:crypto';
import type { Habits } from './field-habits.ts';

export interface StoredMessage {
  uuid: string;
  role: 'USER' | 'AGENT';
  content: string;
  timestamp: string;
}

interface FieldSession {
  readonly native: string;
  readonly project: string;
  /** Started by the relay, not locally. */
  readonly managed: boolean;
  readonly messages: StoredMessage[];
}

/** The fields of `get_messages` that select the page. */
export interface PageWish {
  session_id: string;
  before_uuid?: string;
  after_uuid?: string;
  limit: number;
}

export type FieldSessions = ReturnType<typeof createFieldSessions>;

export function createFieldSessions(habits: Habits) {
  const sessions = new Map<string, FieldSession>();
  const messagesOf = (native: string): readonly StoredMessage[] => sessions.get(native)?.messages ?? [];
  /** The common fields of a report and an activity. */
  const facts = (native: string) => {
    const messages = messagesOf(native);
    return {
      session_id: native,
      last_message: messages.at(-1)?.content ?? '',
      last_activity: messages.at(-1)?.timestamp ?? new Date().toISOString(),
      message_count: habits.constantCount ? 1 : messages.length,
    };
  };
  return {
    messagesOf,
    facts,
    /** Begins it, unless it is known. */
    open(native: string, managed: boolean, project = '/home/dev/project') {
      if (!sessions.has(native)) sessions.set(native, { native, project, managed, messages: [] });
    },
    /** Adds a message to a session that was opened. */
    store(native: string, role: StoredMessage['role'], content: string): StoredMessage {
      const stored = { uuid: randomUUID(), role, content, timestamp: new Date().toISOString() };
      sessions.get(native)!.messages.push(stored);
      return stored;
    },
    /** The list of `report_sessions`. */
    report: (isBusy: (native: string) => boolean) =>
      [...sessions.values()]
        .filter(({ managed }) => !(managed && habits.hidesItsSessions))
        .map(({ native, project }) => ({
          ...facts(native),
          project,
          file_path: `${project}/${native}.jsonl`,
          is_active: !habits.neverActive && isBusy(native),
        })),
    /** The answer to `get_messages`. */
    page(wish: PageWish) {
      const all = messagesOf(wish.session_id);
      const at = (uuid: string) => all.findIndex((message) => message.uuid === uuid);
      const [before, after] = habits.ignoresCursors ? [] : [wish.before_uuid, wish.after_uuid];
      const range = all.slice(after ? at(after) + 1 : 0, before ? Math.max(0, at(before)) : undefined);
      const messages = range.slice(-wish.limit);
      return {
        session_id: wish.session_id,
        messages,
        has_more: habits.ignoresCursors === true || range.length > messages.length,
        oldest_uuid: messages.at(0)?.uuid,
        newest_uuid: messages.at(-1)?.uuid,
      };
    },
  };
}
