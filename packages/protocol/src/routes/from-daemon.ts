/** Routes about the agent of a session that its daemon answers: commands, context, summary, contents of items. */
import * as story from '../examples/story.ts';
import { piece } from '../rest/content.ts';
import { Summary } from '../rest/conversation.ts';
import {
  type Static,
  Type,
  count,
  id,
  limits,
  line,
  list,
  maybe,
  nullable,
  record,
  sessionId,
  text,
} from '../schema.ts';
import { transcriptLimits } from '../transcript/index.ts';
import { body } from './body.ts';
import type { Rows } from './route.ts';

export const CommandList = body(
  record('CommandList', 'The slash commands of the agent of a session.', {
    commands: list(
      record('Command', 'A command.', {
        name: line('Without the slash'),
        description: text('Description; can be empty'),
        inputHint: maybe(text('Hint for its arguments')),
      }),
      'In the order of the daemon; empty if the daemon never reported any',
      { maxItems: limits.slashCommands },
    ),
  }),
  {
    commands: [
      { name: 'compact', description: 'Summarise the conversation', inputHint: 'what to keep' },
      { name: 'review', description: '' },
    ],
  },
);

export const SessionContext = body(
  record('SessionContext', 'The context usage of a session, as the daemon reports it.', {
    sessionId: sessionId('Canonical session id'),
    usedTokens: nullable(count('Tokens in the context; null if the daemon does not know')),
    maxTokens: nullable(count('Capacity of the context in tokens; null if the daemon does not know it')),
    details: Type.Object({}, { description: 'The complete answer of the daemon, unchanged' }),
  }),
  {
    sessionId: story.sessionId,
    usedTokens: 41_200,
    maxTokens: 200_000,
    details: { used_tokens: 41_200, max_tokens: 200_000 },
  },
);

export const SessionSummary = body(
  record('SessionSummary', 'The summary of a session, as its daemon reports it.', {
    sessionId: sessionId('Canonical session id'),
    ...Summary.properties,
  }),
  { sessionId: story.sessionId, ...story.summary },
);

export const ItemContent = body(
  record('ItemContent', "A piece of an item's content.", {
    sessionId: sessionId('Canonical session id'),
    uuid: id('The item'),
    name: id('Name of the content in the part of the item'),
    offset: count('First byte of the piece'),
    ...piece,
    next: maybe(count('First byte of the next piece; absent: this was the last piece')),
  }),
  { sessionId: story.sessionId, uuid: story.messages[3].uuid, name: 'output', offset: 0, ...story.piece, next: 27 },
);

const ContentQuery = Type.Object({
  offset: maybe(count('First byte of the piece; default: 0')),
  download: maybe(
    Type.Literal('1', {
      description: 'The whole content as bytes instead, for a browser to save; `offset` and `limit` do not count',
    }),
  ),
  limit: maybe(
    Type.Integer({ description: 'Maximum number of bytes', minimum: 1, maximum: transcriptLimits.pieceBytes }),
  ),
});

export type SessionSummary = Static<typeof SessionSummary>;
export type CommandList = Static<typeof CommandList>;
export type SessionContext = Static<typeof SessionContext>;
export type ItemContent = Static<typeof ItemContent>;

export const fromDaemonRoutes = {
  listCommands: {
    method: 'GET',
    path: '/api/sessions/:id/commands',
    credential: 'user',
    summary: 'The slash commands of the agent',
    scope: 'sessions:read',
    success: { 200: CommandList },
    errors: ['SESSION_NOT_FOUND'],
  },
  readContext: {
    method: 'GET',
    path: '/api/sessions/:id/context',
    credential: 'user',
    summary: 'The context usage of the session, from the daemon',
    scope: 'sessions:read',
    success: { 200: SessionContext },
    errors: [
      'SESSION_NOT_FOUND',
      'SESSION_NOT_RESOLVED',
      'NOT_SUPPORTED_BY_DEVICE',
      'DEVICE_OFFLINE',
      'DEVICE_TIMEOUT',
      'DEVICE_ERROR',
    ],
  },
  readSummary: {
    method: 'GET',
    path: '/api/sessions/:id/summary',
    credential: 'user',
    summary: 'A summary of the session, from the daemon',
    scope: 'sessions:read',
    success: { 200: SessionSummary },
    errors: [
      'SESSION_NOT_FOUND',
      'SESSION_NOT_RESOLVED',
      'NOT_SUPPORTED_BY_DEVICE',
      'DEVICE_OFFLINE',
      'DEVICE_TIMEOUT',
      'DEVICE_ERROR',
    ],
  },
} as const satisfies Rows;

export const contentRoutes = {
  readContent: {
    method: 'GET',
    path: '/api/sessions/:id/items/:uuid/content/:name',
    credential: 'user',
    summary: "A piece of an item's content, from the daemon: an image, a file, or the whole output of a tool",
    scope: 'sessions:read',
    query: ContentQuery,
    success: { 200: ItemContent },
    streamed: true,
    errors: [
      'SESSION_NOT_FOUND',
      'CONTENT_NOT_FOUND',
      'SESSION_NOT_RESOLVED',
      'NOT_SUPPORTED_BY_DEVICE',
      'DEVICE_OFFLINE',
      'DEVICE_TIMEOUT',
      'DEVICE_ERROR',
    ],
  },
} as const satisfies Rows;
