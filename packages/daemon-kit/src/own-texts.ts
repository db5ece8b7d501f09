/**
 * Sentences that the daemon itself writes into a session. Each has a code, which travels beside the English text, so that an app
 * can show it in its own language (rules, 22.8).
 */
import type { TextReason, TextReasonCode } from '@relay/protocol';

/** Maximum number of tasks of a daemon. */
export const maxTasks = 500;

const sentences: Readonly<Record<TextReasonCode, (name: string) => string>> = {
  cap_stopped: () => 'Stopped here. The message was not sent to the agent.',
  held_kept: () => 'Not sent: the session stays open at the desk.',
  held_cannot_close: (program) => `Not sent: it runs in ${program}, and Relay cannot close it.`,
  held_for_a_day: () => 'Not sent: it stayed open at the desk for a day.',
  held_restarted: () => 'The daemon was restarted while this waited. Send it again.',
  held_since: () => 'Another program had the session open. Send the message again.',
  desk_answered: () => 'The terminal has your answer.',
  not_sent: () => 'Not sent',
  agent_silent: () => 'The agent ended its turn without saying anything.',
  agent_done: () => 'Done. The agent said nothing more.',
  agent_not_allowed: () => 'The agent stopped, because it was not allowed to continue.',
  agent_unanswered: () => 'The agent ended without an answer.',
  agent_missing: (agent) => `The agent “${agent}” is not set up on this machine. Start the daemon with it.`,
  unknown_command: (command) => `The agent did nothing. /${command} is not among its commands.`,
  daemon_stopped: () => 'The daemon was stopped.',
  daemon_crashed: () => 'The daemon crashed while this task was running. How much of it was done is unknown.',
  question_lost: () => 'The agent’s question can no longer be answered. Send a message to continue.',
  question_first: () =>
    'The agent asked a question before it got this message. Answer the question, then send it again.',
  question_closed: () =>
    'This question can no longer be answered, or it is not the one that was shown. Nothing was sent to the agent.',
  person_only: () => 'Only a person can answer this. Nothing was sent to the agent.',
  unknown_session: () => 'This device has no such session. Start a new one.',
  no_images: () => 'This agent does not accept images. Send the message without them.',
  no_files: () => 'This machine does not accept files. Send the message without them.',
  file_missing: () =>
    'This machine no longer has a file of the message. Nothing was sent to the agent. Send the file again.',
  files_too_large: () => 'The files of a message can have 100 MiB together. Nothing was sent to the agent.',
  too_many_tasks: () => `This daemon already has ${maxTasks} tasks. Try again later.`,
};

/** A sentence of the daemon, and its name. */
export interface OwnText {
  text: string;
  reason: TextReason;
}

/** `name`: the agent, command or program in the sentence. */
export const ownText = (code: TextReasonCode, name?: string): OwnText => ({
  text: sentences[code](name ?? ''),
  reason: { code, ...(name === undefined ? {} : { name }) },
});
