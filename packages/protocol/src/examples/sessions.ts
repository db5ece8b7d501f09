/** The session of the story at the moments that the examples show. */
import type { Session } from '../rest/conversation.ts';
import {
  agentType,
  choices,
  deviceId,
  messages,
  pendingSessionId,
  projectPath,
  question,
  questionInFull,
  result,
  sessionId,
  tasks,
  times,
  title,
} from './story.ts';

/** Fields in the order of the schema, because people read the examples. */
const session = (
  now: Pick<Session, 'id' | 'status' | 'updatedAt' | 'messageCount' | 'lastMessage' | 'watched' | 'lastTask'>,
): Session => ({
  id: now.id,
  title,
  status: now.status,
  agentType,
  deviceId,
  projectPath,
  createdAt: times.created,
  updatedAt: now.updatedAt,
  messageCount: now.messageCount,
  lastMessage: now.lastMessage,
  archived: false,
  watched: now.watched,
  lastTask: now.lastTask,
});

/** Accepted; the daemon has not named it yet. */
export const pending = session({
  id: pendingSessionId,
  status: 'pending',
  updatedAt: times.created,
  messageCount: 1,
  lastMessage: title,
  watched: false,
  lastTask: { id: tasks.start, state: 'queued' },
});

/** The daemon has sent SESSION_STARTED. */
export const started = session({
  ...pending,
  id: sessionId,
  status: 'active',
  updatedAt: times.started,
  watched: true,
  lastTask: { id: tasks.start, state: 'running' },
});

/** The agent asks for the time zone. */
export const waiting: Session = {
  ...session({
    ...started,
    status: 'waiting',
    updatedAt: times.asked,
    messageCount: 2,
    lastMessage: questionInFull,
    lastTask: { id: tasks.start, state: 'waiting' },
  }),
  prompt: { prompt: question, result: questionInFull, options: choices, at: times.asked },
};

/** The second task has completed. */
export const finished = session({
  ...started,
  status: 'idle',
  updatedAt: times.completed,
  messageCount: messages.length,
  lastMessage: result,
  lastTask: { id: tasks.answer, state: 'completed' },
});
