/** The tools of agents: arguments → the operation of the REST route → the parts of its answer that a model needs. */
import type { UserPrincipal } from '@relay/auth';
import { agentDepthOf, findReplay, listDevices } from '@relay/database';
import {
  type AgentTool,
  type AgentToolInput,
  type FileDiff,
  type RouteName,
  type SendMessage,
  RelayError,
  type Session,
  agentLimits,
  agentTools,
  cutText,
  validator,
} from '@relay/protocol';
import type { Request, Response } from 'express';
import type { Operations } from '../deps.ts';
import { type AuditNote, audited } from '../http/audit.ts';
import { decodeCursor, encodeCursor } from '../http/cursor.ts';
import { isRelayFault, toRelayError } from '../http/errors.ts';
import type { RateLimits } from '../http/rate-limit.ts';
import type { AgentTurn } from '../sessions/agent-turn.ts';
import { answerPrompt } from '../sessions/answer-prompt.ts';
import { cancelSession } from '../sessions/cancel-session.ts';
import { createSession } from '../sessions/create-session.ts';
import { requireSession } from '../sessions/find.ts';
import { listPage } from '../sessions/list-sessions.ts';
import { readFiles } from '../sessions/read-files.ts';
import { readMessages } from '../sessions/read-history.ts';
import { sendMessage } from '../sessions/send-message.ts';
import type { ToolResult } from './protocol.ts';
import { reachesAll, refuseOwnSession, requireReach, signInOf } from './rights.ts';
import type { TurnView, Waits } from './wait.ts';

/** The request that a tool is called with, its limits counted and its credential checked. */
interface Caller {
  readonly request: Request;
  readonly response: Response;
  readonly principal: UserPrincipal;
  readonly limits: RateLimits;
  /** Aborts when the client has left. */
  readonly signal: AbortSignal;
}

/** Files of one answer: they fit into a page. */
const changesShown = 200;

/** A file with as many of its lines as a page holds. */
function shownDiff({ hunks, ...about }: FileDiff): Value {
  const lines = hunks.flatMap((hunk) => [`@@ -${hunk.old} +${hunk.new} @@`, ...hunk.lines]);
  return { ...about, lines: cutText(lines.join('\n'), agentLimits.pageBytes) };
}

type Value = Readonly<Record<string, unknown>>;
type Tools = {
  readonly [N in AgentTool]: (caller: Caller, input: AgentToolInput<N>, meta: Value) => Promise<Value>;
};

/** The list of changes, or the lines of one file. */
async function shownChanges(
  deps: Operations,
  principal: Caller['principal'],
  { sessionId, scope = 'uncommitted', path }: AgentToolInput<'read_changes'>,
): Promise<Value> {
  await requireReach(deps, principal, sessionId);
  const about =
    path === undefined ? ({ about: 'changes', limit: changesShown } as const) : ({ about: 'diff', path } as const);
  const answer = JSON.parse(await readFiles(deps, principal.userId, sessionId, { ...about, scope })) as Value;
  return path === undefined ? answer : shownDiff(answer as unknown as FileDiff);
}

/** The name of the caller's session in `_meta`, for clients that know it: a model cannot change it there. */
const sessionMeta = 'relay/session';

/**
 * Counts one turn that an agent starts on the machines of its person, and returns its depth. Turns have bounds by hour and in a chain
 * (rules, 19.6); open ones are counted where they are written.
 * @throws RelayError SESSION_NOT_FOUND (of `fromSession`), AGENT_CHAIN_TOO_DEEP, TOO_MANY_AGENT_TURNS
 */
async function countTurn(deps: Operations, caller: Caller, fromSession: string | undefined): Promise<number> {
  const { principal, limits, response } = caller;
  const { userId } = principal;
  const own = fromSession === undefined ? undefined : await requireSession(deps.database, userId, fromSession);
  const depth = 1 + (own ? await agentDepthOf(deps.database, own.key) : 0);
  if (depth > agentLimits.depth) throw new RelayError('AGENT_CHAIN_TOO_DEEP');
  await limits.agentTurn(response, userId);
  return depth;
}

/** The session of the caller that its client names. */
function namedIn(meta: Value): string | undefined {
  const named = meta[sessionMeta];
  return typeof named === 'string' ? named : undefined;
}

/** Returns the function that calls a tool. It never rejects. */
export function createTools(deps: Operations, waits: Waits) {
  const { database } = deps;

  /** Recorded in the audit under the name of the equivalent route. */
  const recorded = <T extends object>(
    name: RouteName,
    { request, response, principal }: Caller,
    note: AuditNote,
    work: () => Promise<T>,
  ): Promise<T> => {
    const actor = { userId: principal.userId, program: principal.clientId };
    const act = async () => ({ body: await work() });
    return audited(deps, { name, request, response, actor, params: {}, note }, act).then(({ body }) => body);
  };
  /** Refuses a session that the token does not reach, or an answer in the session that the agent runs in. A refusal is an entry of the audit. */
  const reached = async (
    name: RouteName,
    caller: Caller,
    sessionId: string,
    from: readonly (string | undefined)[] = [],
  ) => {
    try {
      const key = await requireReach(deps, caller.principal, sessionId);
      await refuseOwnSession(deps, caller.principal, key, from);
    } catch (error) {
      await recorded(name, caller, { target: sessionId }, () => Promise.reject(error as Error));
    }
  };
  /**
   * Counts a turn, before the call is recorded: a call that a limit refuses does not enter the audit. A repeated call with the
   * same key starts no turn and is not counted again; if the key expires right now, its turn has the greatest depth.
   */
  const counted = async (
    name: 'createSession' | 'sendMessage' | 'answerPrompt',
    caller: Caller,
    { idempotencyKey: key, fromSession }: { idempotencyKey?: string | undefined; fromSession?: string | undefined },
    meta: Value,
  ): Promise<AgentTurn> => {
    const { principal } = caller;
    const { userId } = principal;
    const turn = { signIn: signInOf(principal), mayHoldForGood: reachesAll(principal) };
    if (key !== undefined && (await findReplay(database, userId, name, key, deps.config.idempotencyTtlSeconds)))
      return { ...turn, depth: agentLimits.depth };
    if (name === 'createSession') await caller.limits.sessionCreation(caller.response, `user:${userId}`);
    return { ...turn, depth: await countTurn(deps, caller, namedIn(meta) ?? fromSession) };
  };

  const tools: Tools = {
    list_devices: async ({ principal }) => {
      const devices = await listDevices(database, principal.userId);
      const shown = devices.map(({ id, name, hostname, status, agentType, agents, lastSeenAt }) => ({
        ...{ id, name, hostname, status, lastSeenAt },
        agents: agents?.map((agent) => agent.agentType) ?? [agentType],
      }));
      return { devices: shown };
    },

    list_sessions: async ({ principal }, { cursor, limit = agentLimits.sessionsDefault, ...filter }) => {
      const after = cursor === undefined ? undefined : decodeCursor(cursor);
      const { sessions, last } = await listPage(deps, principal.userId, {
        ...filter,
        limit,
        archived: 'false',
        ...(reachesAll(principal) ? {} : { startedBy: signInOf(principal) }),
        ...(after ? { after: { updatedAt: after.at, key: after.id } } : {}),
      });
      return {
        sessions: sessions.map((json) => shownSession(JSON.parse(json) as Session)),
        ...(last ? { nextCursor: encodeCursor(last.updatedAt, last.key) } : {}),
      };
    },

    start_session: async (caller, { idempotencyKey, fromSession, ...body }, meta) => {
      const agent = await counted('createSession', caller, { idempotencyKey, fromSession }, meta);
      const note: AuditNote = {};
      return recorded('createSession', caller, note, async () => {
        const { response } = await createSession(deps, caller.principal.userId, body, idempotencyKey, agent);
        note.target = response.id;
        return { sessionId: response.id, taskId: response.taskId, state: 'queued' };
      });
    },

    send_message: async (caller, { sessionId, idempotencyKey, fromSession, now = false, ...body }, meta) => {
      await reached('sendMessage', caller, sessionId);
      const agent = await counted('sendMessage', caller, { idempotencyKey, fromSession }, meta);
      const how: Pick<SendMessage, 'deliver'> = now ? { deliver: 'now' } : {};
      return recorded('sendMessage', caller, { target: sessionId, ...how }, async () => {
        const { userId } = caller.principal;
        const message = { ...body, ...how, answers: null };
        const { response } = await sendMessage(deps, userId, sessionId, message, idempotencyKey, agent);
        const { sessionId: id, taskId, state, deliver } = response;
        return { sessionId: id, taskId, state, ...(deliver === undefined ? {} : { deliver }) };
      });
    },

    wait_for_turn: async ({ principal, signal }, { seconds = agentLimits.waitSecondsDefault, ...turn }) => {
      await requireReach(deps, principal, turn.sessionId);
      return shownTurn(await waits.wait(principal.userId, turn, seconds, signal));
    },

    read_messages: async ({ principal }, { sessionId, limit = agentLimits.messagesDefault, ...range }) => {
      await requireReach(deps, principal, sessionId);
      const answer = await readMessages(deps, principal.userId, sessionId, { limit, ...range });
      if ('json' in answer) throw new TypeError('a page of items was not asked for');
      return shownPage(answer.body);
    },

    read_changes: ({ principal }, input) => shownChanges(deps, principal, input),

    answer: async (caller, { sessionId, questionId, idempotencyKey, fromSession, ...body }, meta) => {
      await reached('answerPrompt', caller, sessionId, [namedIn(meta), fromSession]);
      const agent = await counted('answerPrompt', caller, { idempotencyKey, fromSession }, meta);
      const note = { target: sessionId, question: questionId, digest: body.digest };
      return recorded('answerPrompt', caller, note, async () => {
        const prompt = { sessionId, uuid: questionId };
        const { userId } = caller.principal;
        const { response } = await answerPrompt(deps, userId, prompt, body, idempotencyKey, undefined, agent);
        return { sessionId: response.sessionId, taskId: response.taskId, state: 'queued' };
      });
    },

    cancel: async (caller, { sessionId, ...body }) => {
      await reached('cancelSession', caller, sessionId);
      return recorded('cancelSession', caller, { target: sessionId }, () =>
        cancelSession(deps, caller.principal.userId, sessionId, body),
      );
    },
  };

  const checks = Object.fromEntries(
    Object.entries(agentTools).map(([name, { input }]) => [name, validator(input)]),
  ) as Readonly<Record<AgentTool, (value: unknown) => { ok: true } | { ok: false; reason: string }>>;

  return async (caller: Caller, name: AgentTool, given: unknown, meta: Value): Promise<ToolResult> => {
    try {
      const fits = checks[name](given);
      if (!fits.ok) throw new RelayError('INVALID_REQUEST', `In the arguments, ${fits.reason}.`);
      const call = tools[name] as (caller: Caller, input: unknown, meta: Value) => Promise<Value>;
      return { isError: false, value: await call(caller, given, meta) };
    } catch (error) {
      return failed(deps, name, error);
    }
  };
}

/** Counts an error, writes a fault of the relay to the log, and returns the answer of the tool. */
function failed({ metrics, logger }: Operations, tool: AgentTool, error: unknown): ToolResult {
  const relayError = toRelayError(error);
  metrics
    .counter('relay_tool_errors_total', 'Tool calls of agents answered with an error, by code', ['code'])
    .inc({ code: relayError.code });
  if (isRelayFault(relayError))
    logger.error({ err: relayError.cause ?? relayError, code: relayError.code, tool }, 'a tool call failed');
  const { retryAfter } = relayError;
  return { isError: true, value: { ...relayError.body, ...(retryAfter === undefined ? {} : { retryAfter }) } };
}

const shownSession = ({ id, title, status, deviceId, agentType, projectPath, updatedAt, lastMessage }: Session) => ({
  ...{ id, title, status, deviceId, agentType, projectPath, updatedAt },
  lastMessage: [...lastMessage].slice(0, agentLimits.previewCharacters).join(''),
});

const shownText = (text: string) => cutText(text, agentLimits.textBytes);

function shownTurn({ state, session, task, questions }: TurnView): Value {
  const { progress } = session;
  return {
    state,
    sessionId: session.id,
    ...(task ? { taskId: task.id } : {}),
    ...(task?.result === undefined ? {} : { result: shownText(task.result) }),
    ...(task?.error ? { code: task.error.code, error: shownText(task.error.error) } : {}),
    ...(task?.note === undefined ? {} : { note: task.note }),
    ...(state === 'running' && progress ? { doing: `${progress.action} ${progress.target}`.trim() } : {}),
    ...(questions.length === 0
      ? {}
      : {
          questions: questions.map(({ id, kind, prompt, context, result, options, text, fields, digest }) => ({
            ...{ id, kind, prompt: shownText(prompt) },
            ...(context === undefined ? {} : { context: shownText(context) }),
            ...(result === '' ? {} : { result: shownText(result) }),
            ...{ options, text, fields, digest },
          })),
        }),
  };
}

/** The newest messages that fit: `oldestUuid` leads to the omitted ones. */
function shownPage(page: {
  messages: readonly { uuid: string; role: string; content: string; timestamp: string }[];
  hasMore: boolean;
  oldestUuid: string | null;
  newestUuid: string | null;
}): Value {
  const shown: { uuid: string; role: string; content: string; timestamp: string; truncated?: true }[] = [];
  let bytes = 0;
  for (const { uuid, role, content, timestamp } of [...page.messages].reverse()) {
    const text = shownText(content);
    bytes += Buffer.byteLength(text);
    if (shown.length > 0 && bytes > agentLimits.pageBytes) break;
    shown.unshift({ uuid, role, content: text, timestamp, ...(text === content ? {} : { truncated: true as const }) });
  }
  const isCut = shown.length < page.messages.length;
  return {
    messages: shown,
    hasMore: page.hasMore || isCut,
    oldestUuid: isCut ? (shown[0]?.uuid ?? null) : page.oldestUuid,
    newestUuid: page.newestUuid,
  };
}
