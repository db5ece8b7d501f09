import type { ErrorText } from './errors/row.ts';

/**
 * Codes for `Task.error.code` and `Session.lastTask.code` (rules, 2.13), each with its sentence for people. Requests return four of these codes
 * too; the pages show the sentence of the request for them.
 */
export const taskErrors = {
  AGENT_ERROR: {
    sentence: 'The agent stopped with an error.',
    note: 'Read its text, then send a new message.',
  },
  DELIVERY_UNKNOWN: {
    sentence: 'Connection lost while sending. It may have started. Check before you send again.',
    note: 'The relay never sends it again.',
  },
  TASK_LOST: {
    sentence: 'The machine lost track of this work. It may have finished. Check before you send again.',
    note: 'The daemon no longer knows the running task.',
  },
  TASK_EXPIRED: {
    sentence: 'The machine did not come online in time, so the message was not sent. Send it again.',
  },
  SESSION_NOT_RESOLVED: {
    sentence: 'The first task of the session created no session on the device. Start a new session.',
  },
  NOT_SUPPORTED_BY_DEVICE: {
    sentence:
      'The message has images, files or settings, but the daemon that is connected now does not accept them. Send it without them, or update the daemon.',
  },
  SETTING_NOT_APPLIED: {
    sentence: 'A setting was not accepted, so the message was not sent.',
    note: 'Choose another value, then send it again.',
  },
  FILE_MISSING: {
    sentence: 'The machine no longer has a file of this message. Send it again.',
  },
  AGENT_NOT_OFFERED: {
    sentence:
      'The daemon that is connected now does not offer the agent of this session. Start the daemon with this agent, or start a session with another agent.',
  },
  DEVICE_REMOVED: {
    sentence: 'The machine was removed first, so the message was not sent.',
    note: 'Register the device again.',
  },
  HELD_AT_DESK: {
    sentence: 'Another program has the session open, so the message was not sent.',
    note: 'The daemon sent nothing to the agent. Close the program on the machine, then send it again.',
  },
  USAGE_LIMIT: {
    sentence: 'The agent reached a usage limit. Its work is kept.',
    note: 'The queue of the session waits until the limit resets or you send a message.',
  },
  OVERTAKEN: {
    sentence: 'You wrote first, so the message was not sent.',
    note: 'Another message continued this session before the message that was to continue after the limit.',
  },
  SESSION_ARCHIVED: {
    sentence: 'The session was archived first, so the message was not sent.',
    note: 'Send it again in a session that is not archived.',
  },
  STEER_DROPPED: {
    sentence: 'The agent finished first.',
    note: 'The turn completed before the agent read the message. Send it again.',
  },
  PROMPT_SUPERSEDED: {
    sentence:
      'The question was closed before the answer reached the daemon, which did not apply it. Read the session for the open questions.',
  },
} as const satisfies Readonly<Record<string, ErrorText>>;

export type TaskErrorCode = keyof typeof taskErrors;
