/**
 * One session from POST /api/sessions to its completion, run once: session creation has a relay's tightest limit. Each
 * step runs when the first check needs it and stores its frames; checks only read them.
 */
import { randomUUID } from 'node:crypto';
import { type Attention, type AttentionFrame, type ToDaemon, formatSessionId } from '@relay/protocol';
import type { App } from './app.ts';
import type { Daemon } from './daemon.ts';
import type { Good, Rest } from './rest.ts';

/** The part of the world that the story needs. */
export interface Stage {
  readonly rest: Rest;
  desk(): Promise<Daemon>;
  plain(): Promise<App>;
}

export interface Created {
  readonly daemon: Daemon;
  readonly request: { deviceId: string; projectPath: string; message: string };
  readonly key: string;
  readonly answer: Good<'createSession'>;
  /** The frames that another app of the user got until the daemon had the task. */
  readonly heard: readonly AttentionFrame[];
  readonly start: ToDaemon<'task_start'>;
}

export interface Resolved extends Created {
  readonly native: string;
  /** The canonical id. */
  readonly id: string;
  readonly update: Attention<'session_update'>;
}

export interface Story {
  /** The session is accepted and its task written to the daemon. */
  created(): Promise<Created>;
  /** The daemon has confirmed the task and named the session. */
  resolved(): Promise<Resolved>;
}

export function createStory(stage: Stage): Story {
  let created: Promise<Created> | undefined;
  let resolved: Promise<Resolved> | undefined;

  const create = async (): Promise<Created> => {
    const daemon = await stage.desk();
    const plain = await stage.plain();
    const from = plain.inbox.mark();
    const key = randomUUID();
    const request = {
      deviceId: daemon.device.id,
      projectPath: '/home/somebody/project',
      message: 'Say what this project does\nin one sentence',
    };
    const answer = await stage.rest.ok('createSession', { body: request, headers: { 'Idempotency-Key': key } });
    const { id, taskId } = answer.body;
    const start = await daemon.inbox.until('task_start', ({ task_id }) => task_id === taskId, {
      what: 'the task of the new session',
    });
    await plain.inbox.until('new_message', ({ sessionId }) => sessionId === id, { from });
    return { daemon, request, key, answer, start, heard: plain.about([id], from) };
  };

  const resolve = async (): Promise<Resolved> => {
    const before = await story.created();
    const { daemon, answer } = before;
    const plain = await stage.plain();
    const native = `named-${randomUUID()}`;
    const from = plain.inbox.mark();
    daemon.status([answer.body.taskId]);
    daemon.event(answer.body.taskId, 'SESSION_STARTED', { session_id: native });
    const id = formatSessionId({ deviceId: daemon.device.id, agentType: daemon.device.agentType, nativeId: native });
    const update = await plain.inbox.until('session_update', ({ session }) => session.id === id, {
      from,
      what: 'the session under its native id',
    });
    return { ...before, native, id, update };
  };

  const story: Story = {
    created: () => (created ??= create()),
    resolved: () => (resolved ??= resolve()),
  };
  return story;
}
