/**
 * The Session of the protocol as PostgreSQL writes it: lists are passed on as they were read. The one place that makes a Session of rows; its
 * shape is checked by the compiler as far as names go, and by `session-json.test.ts`.
 */
import type { Session } from '@relay/protocol';
import { openPrompts, shownStatus } from './session-status.ts';
import { queueVersionOf } from './task-states.ts';
import { type Sql, sql } from './sql.ts';

const text = (value: Sql) => sql`to_json(${value})::text`;
/** Quotes an identifier of this code, which needs no escaping. */
const word = (value: Sql) => sql`'"' || ${value} || '"'`;
const time = (value: Sql) => word(sql`to_char(${value} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`);
const trueIf = (condition: Sql) => sql`CASE WHEN ${condition} THEN 'true' END`;

/** Builds an object from members in JSON text. Skips null members. */
const object = (members: Readonly<Record<string, Sql>>) => {
  const named = Object.entries(members).map(([name, value]) => sql`${sql.raw(`'"${name}":'`)} || ${value}`);
  return sql`'{' || concat_ws(',', ${sql.join(named)}) || '}'`;
};

const members = {
  id: text(sql`s.device_id || ':' || s.agent_type || ':' || s.native_id`),
  title: text(sql`s.title`),
  status: word(shownStatus),
  agentType: text(sql`s.agent_type`),
  deviceId: text(sql`s.device_id`),
  projectPath: text(sql`s.project_path`),
  createdAt: time(sql`s.created_at`),
  updatedAt: time(sql`s.updated_at`),
  messageCount: sql`s.message_count`,
  lastMessage: text(sql`s.last_message`),
  archived: sql`s.archived::text`,
  watched: sql`s.watched::text`,
  notify: text(sql`s.notify`),
  pinned: trueIf(sql`s.pinned_at IS NOT NULL`),
  unread: trueIf(sql`s.news_at > COALESCE(s.read_at, '-infinity')`),
  newsAt: time(sql`s.news_at`),
  progress: sql`CASE WHEN (${shownStatus}) = 'active' THEN s.progress::text END`,
  runningSince: time(sql`l.running_since`),
  queue: sql`CASE WHEN l.waiting > 0 THEN ${object({ count: sql`l.waiting`, v: text(queueVersionOf(sql`s.key`)) })} END`,
  later: sql`CASE WHEN l.later > 0 THEN ${object({ count: sql`l.later`, next: time(sql`l.later_next`) })} END`,
  limit: sql`s.usage_limit::text`,
  startsAt: time(sql`l.starts_at`),
  scheduleId: text(sql`s.schedule_id`),
  // The oldest of `prompts`, while it waits; one without an id was asked through an earlier release.
  prompt: sql`CASE WHEN s.status = 'waiting'
    THEN COALESCE((${openPrompts} -> 0)::text, CASE WHEN NOT s.prompt ? 'id' THEN s.prompt::text END) END`,
  prompts: sql`(${openPrompts})::text`,
  lastTask: sql`CASE WHEN t.id IS NOT NULL
    THEN ${object({ id: text(sql`t.id`), state: word(sql`t.state`), code: text(sql`t.error_code`), automatic: trueIf(sql`t.automatic`) })} END`,
  // The newest report counts while the device is online and its daemon sends more.
  held: sql`CASE WHEN s.held IS NOT NULL AND EXISTS (SELECT 1 FROM devices d
    WHERE d.id = s.device_id AND d.status = 'online' AND 'desk' = ANY(d.capabilities)) THEN s.held::text END`,
} satisfies Readonly<Record<keyof Session, Sql>>;

/** The JSON of a session `s` with its `lastTask` `t` and its `line` `l`. */
export const sessionJson = object(members);
