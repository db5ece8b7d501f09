/**
 * The tools at `/mcp` (rules, chapter 19), which let an agent work on its person's other machines. Their fields equal
 * those of the REST bodies. Models read the descriptions.
 */
import { type Static, type TSchema, Type, flag, id, limits, maybe, oneOf, sessionId, text } from './schema.ts';
import { changeScopes } from './rest/changes.ts';
import { sessionStatuses } from './rest/conversation.ts';
import { AnswerPrompt, SendMessage } from './routes/messages.ts';
import { CreateSession } from './routes/sessions.ts';
import { CancelSession } from './routes/tasks.ts';

export const agentLimits = {
  /** Longest wait of one `wait_for_turn` call, in seconds. Clients give up a call after 60 s. */
  waitSeconds: 55,
  waitSecondsDefault: 50,
  /** Calls of one person that can wait at one instance at a time. */
  waits: 20,
  /** Turns of one person that agents started and that are not over. */
  openTurns: 8,
  /** Nesting depth: a turn that a person started has 0, a turn that its agent starts on another machine has 1, … */
  depth: 3,
  sessionsDefault: 20,
  sessions: 50,
  messagesDefault: 20,
  messages: 50,
  /** Bytes of one text in an answer; of all texts of a page. */
  textBytes: 16 * 1024,
  pageBytes: 64 * 1024,
  /** Characters of the last message in a list. */
  previewCharacters: 200,
} as const;

const idempotencyKey = maybe(
  text('Your own unique text for this request; send the same text when you retry, so that it runs only once', {
    minLength: 1,
    maxLength: limits.idempotencyKeyCharacters,
  }),
);
const fromSession = maybe(
  sessionId('The session that you yourself run in, if the relay has it; limits chains of agents'),
);
const session = sessionId('Id of the session');
// Where it is given is known: in the tool.
const { on: _on, ...answer } = AnswerPrompt.properties;
const { deviceId, message, projectPath, title, agentType, settings, queueTtlSeconds } = CreateSession.properties;
const page = (initial: number, maximum: number) =>
  maybe(Type.Integer({ description: `At most so many; default ${initial}`, minimum: 1, maximum }));

/** A tool refuses fields that it does not know: a model that misspells one is to notice. */
const fields = <T extends Record<string, TSchema>>(properties: T) =>
  Type.Object(properties, { additionalProperties: false });

export const agentTools = {
  list_devices: {
    title: 'List machines',
    description: 'Lists the machines of the person, whether each is online, and the agents that it offers.',
    input: fields({}),
    reads: true,
  },
  list_sessions: {
    title: 'List sessions',
    description: 'Lists conversations with agents on these machines, newest first. Pass nextCursor as cursor for more.',
    input: fields({
      deviceId: maybe(id('Only sessions of this machine')),
      status: maybe(oneOf(sessionStatuses, 'Only sessions in this state')),
      q: maybe(text('Only with these words in title, folder or last message', { maxLength: limits.nameCharacters })),
      limit: page(agentLimits.sessionsDefault, agentLimits.sessions),
      cursor: maybe(text('nextCursor of the previous page', { maxLength: 512 })),
    }),
    reads: true,
  },
  start_session: {
    title: 'Start a session',
    description:
      'Starts a conversation with the agent of a machine. Returns sessionId and taskId at once; then call wait_for_turn. The agent sees only this message, so include everything that it needs.',
    input: fields({
      deviceId,
      message,
      projectPath,
      title,
      agentType,
      settings,
      queueTtlSeconds,
      idempotencyKey,
      fromSession,
    }),
    reads: false,
  },
  send_message: {
    title: 'Send a message',
    description:
      'Sends a follow-up to a session, behind its running turn and its queue. It answers no question (use answer). Returns at once; then call wait_for_turn with the taskId. now: into the running turn; then call wait_for_turn without a taskId. deliver in the result is next if no turn was running.',
    input: fields({
      sessionId: session,
      content: SendMessage.properties.content,
      now: maybe(flag('Into the running turn, for a machine with `steer` among its capabilities')),
      desk: SendMessage.properties.desk,
      queueTtlSeconds,
      idempotencyKey,
      fromSession,
    }),
    reads: false,
  },
  wait_for_turn: {
    title: 'Wait for a turn',
    description:
      'Waits until the agent of a session completes its turn or asks a question. state: completed (with result), failed, cancelled, expired, unknown, needs_answer (with questions: use answer), or still queued or running: then call it again.',
    input: fields({
      sessionId: session,
      taskId: maybe(id('The turn, from start_session, send_message or answer; absent: the newest turn')),
      seconds: maybe(
        Type.Integer({
          description: `How long to wait at most; default ${agentLimits.waitSecondsDefault}`,
          minimum: 0,
          maximum: agentLimits.waitSeconds,
        }),
      ),
    }),
    reads: true,
  },
  read_messages: {
    title: 'Read messages',
    description:
      'Reads the newest messages of a session from its machine, which must be online. Pass oldestUuid as before for earlier messages.',
    input: fields({
      sessionId: session,
      limit: page(agentLimits.messagesDefault, agentLimits.messages),
      before: maybe(text('oldestUuid of the previous page', { maxLength: limits.idCharacters })),
      after: maybe(text('Only messages after this uuid', { maxLength: limits.idCharacters })),
    }),
    reads: true,
  },
  read_changes: {
    title: 'Read changes',
    description:
      'Lists the changed files in the folder of a session, from its machine, which must be online. With path: the changed lines of that file. scope: uncommitted (default), session, turn (the newest turn) or edits.',
    input: fields({
      sessionId: session,
      scope: maybe(oneOf(changeScopes, 'The comparison')),
      path: maybe(text('A file of the list', { maxLength: limits.pathCharacters })),
    }),
    reads: true,
  },
  answer: {
    title: 'Answer a question',
    description:
      'Answers one question of an agent, by its id, with exactly one of option, text and fields. Only the first answer counts. Ask the person before you allow an action that cannot be undone.',
    input: fields({
      sessionId: session,
      questionId: id('Id of the question, from wait_for_turn'),
      ...answer,
      idempotencyKey,
      fromSession,
    }),
    reads: false,
  },
  cancel: {
    title: 'Cancel',
    description:
      'Cancels the running task of a session, or dismisses the question of its agent, or cancels the oldest queued message.',
    input: fields({ sessionId: session, ...CancelSession.properties }),
    reads: false,
  },
} as const;

export type AgentTool = keyof typeof agentTools;
export type AgentToolInput<N extends AgentTool> = Static<(typeof agentTools)[N]['input']>;
