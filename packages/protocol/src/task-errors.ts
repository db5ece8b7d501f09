/** Codes for `Task.error.code` and `Session.lastTask.code` (rules, 2.13). */
export const taskErrors = {
  AGENT_ERROR: 'The agent reported a failure. Read its text, then send a new message.',
  DELIVERY_UNKNOWN:
    'The connection closed during the delivery, so it is unknown whether the task ran. The relay never sends it again: read the session, then decide.',
  TASK_LOST:
    'The daemon no longer knows the running task, and its outcome is unknown. Read the session, then decide whether to send it again.',
  TASK_EXPIRED: 'The message expired before the device came online. Send it again.',
  SESSION_NOT_RESOLVED: 'The first task of the session created no session on the device. Start a new session.',
  NOT_SUPPORTED_BY_DEVICE:
    'The message has images, files or settings, but the daemon that is connected now does not accept them. Send it without them, or update the daemon.',
  SETTING_NOT_APPLIED:
    'The daemon could not apply a setting of the message, so the message did not run. Choose another value, then send it again.',
  FILE_MISSING: 'The device no longer has a file of the message, so the message did not run. Send the file again.',
  AGENT_NOT_OFFERED:
    'The daemon that is connected now does not offer the agent of this session. Start the daemon with this agent, or start a session with another agent.',
  DEVICE_REMOVED: 'The device was removed while the message was queued. Register the device again.',
  HELD_AT_DESK:
    'Another program on the machine has the session open, and the daemon sent nothing to the agent. Close that program, then send the message again.',
  USAGE_LIMIT:
    'The agent reached a usage limit. The queue of the session waits until the limit resets or you send a message.',
  OVERTAKEN:
    'Another message continued this session first, so the relay did not send the message that was to continue after the limit.',
  SESSION_ARCHIVED:
    'The session was archived before the time of the message, so the relay did not send it. Send it again in a session that is not archived.',
  STEER_DROPPED: 'The turn ended before the agent read the message. Send it again.',
  PROMPT_SUPERSEDED:
    'The question was closed before the answer reached the daemon, which did not apply it. Read the session for the open questions.',
} as const;

export type TaskErrorCode = keyof typeof taskErrors;
