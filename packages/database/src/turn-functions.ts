/**
 * The steps of a turn as database functions: accept a message, claim it, confirm it, settle it. Each takes the lock of
 * the device, changes state and returns the session: one statement instead of a transaction of several (ADR 89).
 *
 * Their texts use the same pieces as the statements of this package, and the moves of `task-moves.ts`. A function name
 * carries a hash of all texts, and `migrate` creates missing functions, so each release calls its own functions during
 * a rollout.
 */
import { createHash } from 'node:crypto';
import { answerOf } from './prompt-ends.ts';
import { oldestOpen } from './prompts.ts';
import { acceptance, settleSessions } from './session-status.ts';
import { sessionsOf } from './sessions.ts';
import { moveTasks } from './task-moves.ts';
import { isDue, isStarting, lineOrder, open, underWay } from './task-states.ts';
import { type Sql, sql } from './sql.ts';

/**
 * In a waiting session, answers to a question can be sent regardless of when they were accepted, other messages only if
 * accepted after the question.
 */
const mayGo = sql`CASE WHEN t.prompt_uuid IS NULL THEN s.status <> 'waiting' OR t.seq > s.prompt_seq
  WHEN t.prompt_uuid = '' THEN s.status <> 'waiting'
  ELSE EXISTS (SELECT 1 FROM prompts q WHERE q.session_key = s.key AND q.uuid = t.prompt_uuid AND q.state = 'answered') END`;

/** Task `t` of session `s` is ready to be claimed. An answer overtakes a steer on its way, which can wait for it. */
export const isNext = sql`${isDue('t')} AND t.kind <> 'steer' AND NOT s.queue_held AND (t.kind = 'start' OR NOT s.placeholder) AND ${mayGo}
  AND NOT EXISTS (SELECT 1 FROM tasks r WHERE r.session_key = t.session_key AND r.state IN ${underWay}
    AND (r.kind <> 'steer' OR COALESCE(t.prompt_uuid, '') = ''))`;

/** Message `t` goes into the running turn of session `s`: one at a time, and only where the daemon has that turn. */
const isNextInto = (
  fence: Sql,
) => sql`${isDue('t')} AND t.kind = 'steer' AND t.into_until > now() AND s.status = 'active' AND NOT s.placeholder
  AND EXISTS (SELECT 1 FROM tasks r WHERE r.id = t.into_task AND (r.state = 'running' OR (r.state = 'sent' AND r.fence = ${fence})))
  AND NOT EXISTS (SELECT 1 FROM tasks r WHERE r.session_key = t.session_key AND r.kind = 'steer' AND r.state = 'sent')`;

/** Queries `next`, `moved` and `touched`, which claim the next task of each session of the device. OFFSET 0: each session is found by its key. */
export const claiming = (deviceId: Sql, fence: Sql): Sql => sql`
  next AS (
    SELECT DISTINCT ON (t.session_key) t.id, t.fence AS before, t.into_task
    FROM tasks t CROSS JOIN LATERAL (SELECT * FROM sessions WHERE key = t.session_key OFFSET 0) s
    WHERE t.device_id = ${deviceId} AND ((${isNext}) OR (${isNextInto(fence)}))
    ORDER BY t.session_key, ${lineOrder}
    LIMIT 100
  ), moved AS (${moveTasks('claim', sql`t.id IN (SELECT id FROM next)`, [sql`fence = ${fence}`])}
  ), touched AS (${settleSessions('run')} RETURNING s.key, s.native_id, s.agent_type, s.project_path)`;

/** A parameter or variable of a function. */
const the = (name: string) => sql.raw(name);

const lock = sql`PERFORM 1 FROM devices WHERE id = p_device AND removed_at IS NULL FOR NO KEY UPDATE;`;

const sessionColumns = {
  r_key: 'text',
  r_owner: 'text',
  r_device: 'text',
  r_agent: 'text',
  r_native: 'text',
  r_placeholder: 'boolean',
  r_file: 'text',
  r_version: 'bigint',
  r_session: 'text',
} as const;

const taskColumns = {
  r_id: 'text',
  r_kind: 'text',
  r_instruction: 'text',
  r_has_images: 'boolean',
  r_prompt: 'text',
  r_answer: 'jsonb',
  r_before: 'bigint',
  r_into: 'text',
  r_settings: 'jsonb',
  r_depth: 'smallint',
  r_project: 'text',
} as const;

/** Columns of the session with this key, as `sessionsOf` has them. */
const sessionOf = (key: Sql) => sessionsOf(sql`(SELECT * FROM sessions WHERE key = ${key})`);

type Columns = Readonly<Record<string, string>>;

interface Definition {
  takes: Columns;
  returns: Columns | 'boolean';
  declares?: Columns;
  body: Sql;
}

const isIdempotent = sql`p_replay_key IS NOT NULL`;

const definitions = {
  /** A notification, once for each turn (rules, 14.5). See `addNotification`. */
  notify: {
    takes: {
      p_key: 'text',
      p_id: 'text',
      p_cause: 'text',
      p_chosen: 'text',
      p_default: 'text',
      p_task: 'text',
      p_window: 'double precision',
      p_next: 'boolean',
    },
    returns: 'boolean',
    declares: { v_since: 'timestamptz' },
    body: sql`
  v_since := now() - p_window * interval '1 millisecond';
  IF p_task IS NOT NULL THEN
    UPDATE notifications SET task_id = p_task, cause = CASE WHEN state = 'pending' THEN p_cause ELSE cause END
    WHERE session_key = p_key AND task_id IS NULL AND created_at > v_since AND created_at >= (SELECT sent_at FROM tasks WHERE id = p_task);
    IF FOUND THEN
      RETURN false;
    END IF;
  END IF;
  INSERT INTO notifications (id, user_id, session_key, session_id, task_id, cause)
  SELECT p_id, s.owner_id, s.key, s.device_id || ':' || s.agent_type || ':' || s.native_id, p_task, p_cause FROM sessions s
  WHERE s.key = p_key AND s.deleted_at IS NULL AND s.notify IS DISTINCT FROM 'off'
    AND (EXISTS (SELECT 1 FROM watched_sessions w WHERE w.session_key = s.key AND w.user_id = s.owner_id) OR s.notify = 'all'
      OR COALESCE((SELECT n.levels->>p_chosen FROM notification_settings n WHERE n.user_id = s.owner_id), p_default) = 'all'
      OR EXISTS (SELECT 1 FROM subscriptions a WHERE a.user_id = s.owner_id AND a.levels->>p_chosen = 'all'))
    AND NOT EXISTS (SELECT 1 FROM notifications n WHERE n.session_key = s.key
      AND ((n.task_id = p_task AND NOT p_next)
        OR (p_task IS NULL AND (n.cause = p_cause OR p_cause <> 'needs_you') AND n.created_at > v_since)))
    AND NOT (p_next AND p_cause <> 'needs_you' AND EXISTS (SELECT 1 FROM tasks l WHERE l.session_key = s.key AND l.state NOT IN ('cancelled', 'later')
      AND l.seq > (SELECT seq FROM tasks WHERE id = p_task)));
  RETURN FOUND;`,
  },

  /** `enqueueMessage` under the lock of the device. Without an answer `p_uuid` is '', and null for the oldest open question. */
  enqueue: {
    takes: {
      p_key: 'text',
      p_device: 'text',
      p_owner: 'text',
      p_task: 'text',
      p_text: 'text',
      p_last: 'text',
      p_images: 'text',
      p_ttl: 'double precision',
      p_limit: 'int',
      p_uuid: 'text',
      p_answer: 'jsonb',
      p_option: 'text',
      p_on: 'text',
      p_depth: 'smallint',
      p_settings: 'jsonb',
    },
    returns: { r_outcome: 'text', ...sessionColumns },
    declares: { v_row: 'record', v_uuid: 'text', v_moved: 'bigint' },
    body: sql`
  SELECT s.placeholder AND NOT ${isStarting('s.key')} AS unresolved,
    (SELECT count(*) FROM tasks q WHERE q.session_key = s.key AND ${isDue('q')} AND q.kind <> 'steer') AS waiting,
    s.queue_held OR (s.status = 'waiting' AND NOT EXISTS (SELECT 1 FROM tasks q
      WHERE q.session_key = s.key AND ${isDue('q')} AND q.seq > s.prompt_seq)) AS awaited,
    CASE WHEN s.status = 'waiting' THEN ${oldestOpen('s.key')} END AS asked
  INTO v_row FROM sessions s WHERE s.key = p_key;
  IF NOT FOUND OR v_row.unresolved THEN
    r_outcome := 'unresolved';
    RETURN NEXT;
    RETURN;
  ELSIF COALESCE(p_uuid, '') = '' AND NOT v_row.awaited AND v_row.waiting >= p_limit THEN
    r_outcome := 'full';
    RETURN NEXT;
    RETURN;
  END IF;
  IF EXISTS (SELECT 1 FROM tasks WHERE session_key = p_key AND state = 'later' AND because = 'limit') THEN
    WITH moved AS (${moveTasks('overtake', sql`t.session_key = p_key AND t.because = 'limit'`)}) SELECT count(*) INTO v_moved FROM moved;
  END IF;
  v_uuid := COALESCE(p_uuid, v_row.asked);
  INSERT INTO tasks (id, session_key, device_id, owner_id, kind, instruction, images, prompt_uuid, answer, settings, agent_depth, expires_at)
  VALUES (p_task, p_key, p_device, p_owner, 'resume', p_text, p_images, v_uuid, p_answer, p_settings, p_depth, now() + p_ttl * interval '1 millisecond');
  IF v_uuid <> '' THEN
    ${answerOf(the('p_key'), the('v_uuid'), { taskId: the('p_task'), by: the('p_owner'), option: the('p_option'), on: the('p_on') })};
  END IF;
  ${acceptance(the('p_key'), the('p_last'))};
  RETURN QUERY SELECT 'queued', z.* FROM (${sessionOf(the('p_key'))}) z;`,
  },

  /** A message to a session that is found by its present id. Returns no row if the decision needs other facts: see `acceptMessage`. */
  accept: {
    takes: {
      p_device: 'text',
      p_agent: 'text',
      p_native: 'text',
      p_owner: 'text',
      p_task: 'text',
      p_text: 'text',
      p_last: 'text',
      p_ttl: 'double precision',
      p_limit: 'int',
      p_uuid: 'text',
      p_bound: 'boolean',
      p_route: 'text',
      p_replay_key: 'text',
      p_hash: 'text',
      p_replay_ttl: 'double precision',
      p_status: 'int',
      p_response: 'jsonb',
    },
    returns: { r_outcome: 'text', ...sessionColumns },
    declares: { v_row: 'record' },
    body: sql`
  ${lock}
  SELECT s.key, s.status = 'waiting' OR s.prompt IS NOT NULL AS asks INTO v_row FROM sessions s
  WHERE s.device_id = p_device AND s.agent_type = p_agent AND s.native_id = p_native AND s.owner_id = p_owner AND s.deleted_at IS NULL;
  IF NOT FOUND OR (p_bound AND p_uuid IS NULL AND v_row.asks) OR (${isIdempotent} AND EXISTS (SELECT 1 FROM idempotency_keys k
    WHERE k.user_id = p_owner AND k.route = p_route AND k.key = p_replay_key AND k.created_at > now() - p_replay_ttl * interval '1 second')) THEN
    RETURN;
  END IF;
  SELECT * INTO ${sql.raw(['r_outcome', ...Object.keys(sessionColumns)].join(', '))}
  FROM relay_enqueue(v_row.key, p_device, p_owner, p_task, p_text, p_last, NULL, p_ttl, p_limit, p_uuid, NULL, NULL, NULL, NULL, NULL);
  IF r_outcome = 'queued' AND ${isIdempotent} THEN
    INSERT INTO idempotency_keys AS k (user_id, route, key, body_hash, status, response)
    VALUES (p_owner, p_route, p_replay_key, p_hash, p_status,
      jsonb_set(p_response, '{message,timestamp}', r_session::jsonb->'updatedAt') || jsonb_build_object('key', v_row.key))
    ON CONFLICT (user_id, route, key) DO UPDATE SET body_hash = excluded.body_hash, status = excluded.status,
      response = excluded.response, created_at = now()
    WHERE k.created_at <= now() - p_replay_ttl * interval '1 second';
    IF NOT FOUND THEN
      RAISE EXCEPTION 'another request took the key' USING ERRCODE = '${sql.raw('RLY01')}';
    END IF;
  END IF;
  RETURN NEXT;`,
  },

  /**
   * Claims due tasks on a device whose newest claim has this fence. A row for each task, with its session as the claim
   * leaves it.
   */
  claim: {
    takes: { p_device: 'text', p_fence: 'bigint' },
    returns: { ...taskColumns, ...sessionColumns },
    declares: { v_ids: 'text[]', v_before: 'bigint[]', v_into: 'text[]' },
    body: sql`
  PERFORM 1 FROM devices WHERE id = p_device AND connection_fence = p_fence AND removed_at IS NULL FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  WITH ${claiming(the('p_device'), the('p_fence'))}
  SELECT array_agg(m.id), array_agg(next.before), array_agg(next.into_task) INTO v_ids, v_before, v_into FROM moved m JOIN next ON next.id = m.id;
  RETURN QUERY SELECT q.id, q.kind, q.instruction, q.images IS NOT NULL, q.prompt_uuid, q.answer, c.before, c.into_task, q.settings, q.agent_depth, p.project_path, z.*
  FROM unnest(v_ids, v_before, v_into) AS c(id, before, into_task) JOIN tasks q ON q.id = c.id JOIN sessions p ON p.key = q.session_key
    CROSS JOIN LATERAL (${sessionOf(sql`q.session_key`)}) z ORDER BY q.seq;`,
  },

  /** The first sign of a task, in a session whose name stays. Returns no row if the decision needs other facts. */
  confirm: {
    takes: { p_device: 'text', p_fence: 'bigint', p_task: 'text', p_name: 'text' },
    returns: sessionColumns,
    declares: { v_row: 'record' },
    body: sql`
  PERFORM 1 FROM devices WHERE id = p_device AND removed_at IS NULL AND (p_fence IS NULL OR connection_fence = p_fence) FOR NO KEY UPDATE;
  IF p_fence IS NOT NULL AND NOT FOUND THEN
    RETURN;
  END IF;
  SELECT s.key, s.native_id INTO v_row FROM tasks t JOIN sessions s ON s.key = t.session_key WHERE t.id = p_task AND t.kind <> 'steer' AND s.deleted_at IS NULL;
  IF NOT FOUND OR v_row.native_id <> p_name THEN
    RETURN;
  END IF;
  WITH moved AS (${moveTasks('confirm', sql`t.id = p_task`)}) ${settleSessions('confirm')};
  RETURN QUERY ${sessionOf(sql`v_row.key`)};`,
  },

  /**
   * Completes or fails a running task, in a named session without questions, with its notification. Returns no row in
   * every other case, and changes nothing: `endTask` decides.
   */
  settle: {
    takes: {
      p_device: 'text',
      p_task: 'text',
      p_name: 'text',
      p_result: 'text',
      p_code: 'text',
      p_error: 'text',
      p_last: 'text',
      p_id: 'text',
      p_cause: 'text',
      p_chosen: 'text',
      p_default: 'text',
      p_window: 'double precision',
    },
    returns: { r_notified: 'boolean', ...sessionColumns },
    declares: { v_row: 'record', v_notified: 'boolean' },
    body: sql`
  ${lock}
  SELECT s.key, s.native_id INTO v_row FROM tasks t JOIN sessions s ON s.key = t.session_key
  WHERE t.id = p_task AND t.kind <> 'steer' AND t.state IN ${underWay} AND s.deleted_at IS NULL AND NOT s.placeholder
    AND NOT EXISTS (SELECT 1 FROM tasks i WHERE i.session_key = s.key AND i.into_task = t.id AND i.kind = 'steer' AND i.state IN ${open})
    AND NOT EXISTS (SELECT 1 FROM prompts q WHERE q.session_key = s.key AND q.state IN ('open', 'answered'));
  IF NOT FOUND OR v_row.native_id <> p_name THEN
    RETURN;
  END IF;
  IF p_code IS NULL THEN
    ${ended('complete', { status: 'idle', prompt: null, words: the('p_last') })};
  ELSE
    ${ended('fail', { status: 'failed', prompt: null, words: '' })};
  END IF;
  v_notified := relay_notify(v_row.key, p_id, p_cause, p_chosen, p_default, p_task, p_window, false);
  RETURN QUERY SELECT v_notified, z.* FROM (${sessionOf(sql`v_row.key`)}) z;`,
  },
} as const satisfies Record<string, Definition>;

function ended(name: 'complete' | 'fail', shown: Parameters<typeof settleSessions>[1]): Sql {
  const ending = sql`result = p_result, error_code = p_code, error_text = p_error, note = NULL, instruction = ''`;
  return sql`WITH moved AS (${moveTasks(name, sql`t.id = p_task`, [ending])}) ${settleSessions('end', shown)}`;
}

type TurnFunction = keyof typeof definitions;

const listed = (columns: Columns) =>
  Object.entries(columns)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ');

/** Plans look rows up by an index, also plans that a connection made while the tables were small. */
const settings = 'SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off';

function textOf(name: string, { takes, returns, declares = {}, body }: Definition): string {
  const result = returns === 'boolean' ? 'boolean' : `TABLE (${listed(returns)})`;
  const variables = Object.entries(declares).map(([variable, type]) => `${variable} ${type};`);
  return [
    `CREATE OR REPLACE FUNCTION relay_${name}(${listed(takes)}) RETURNS ${result} LANGUAGE plpgsql ${settings} AS $function$`,
    '#variable_conflict use_column',
    ...(variables.length > 0 ? [`DECLARE ${variables.join(' ')}`] : []),
    `BEGIN${body.inline}\nEND $function$;`,
  ].join('\n');
}

const unnamed = Object.entries(definitions)
  .map(([name, definition]) => textOf(name, definition))
  .join('\n');
const hash = createHash('sha256').update(unnamed).digest('hex').slice(0, 10);
const ownNames = new RegExp(`\\brelay_(${Object.keys(definitions).join('|')})(?=\\()`, 'g');

/** All functions in SQL. `migrate` notes them under this name. */
export const turnFunctions = { name: `functions_${hash}`, sql: unnamed.replace(ownNames, `relay_$1_${hash}`) };

/** Calls a function of this release with all its parameters. */
export function callOf<Name extends TurnFunction>(
  name: Name,
  values: Readonly<Record<keyof (typeof definitions)[Name]['takes'], unknown>>,
): Sql {
  const given: Readonly<Record<string, unknown>> = values;
  const parameters = Object.entries<string>(definitions[name].takes);
  const typed = parameters.map(([parameter, type]) => sql`${given[parameter] ?? null}${sql.raw(`::${type}`)}`);
  return sql`SELECT * FROM ${sql.raw(`relay_${name}_${hash}`)}(${sql.join(typed)}) AS called`;
}
