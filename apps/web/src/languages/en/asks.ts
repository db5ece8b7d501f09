/** English texts: questions and sentences of a daemon. */
import type { TextReasonCode } from '@relay/protocol';

const doing: Readonly<Record<string, string>> = { busy: ', working', waiting: ', waiting for you' };

export const words = {
  asks: {
    session: (spent: string) => `This session has cost about ${spent}. Continue?`,
    day: (spent: string) => `The sessions of this agent on this machine have cost about ${spent} today. Continue?`,
    capped: (spent: string, cap: string) => `Stopped at about ${spent}, half as much again as your ${cap}.`,
    held: (program: string, state: string, minutes: number) =>
      `This session is open at the desk (${program}${state === 'idle' ? `, idle for ${minutes} min` : (doing[state] ?? '')}). Close it there and send?`,
    likely: (program: string) => `This session may be open at the desk (${program}). Send when it’s closed there?`,
    shared: (program: string) => `This session is open in ${program}’s background server. Send when it’s closed there?`,
    foreign: (program: string) => `This session is open in another program (${program}). Send when it’s closed there?`,
    texts: {
      cap_stopped: () => 'Stopped here. The message was not sent to the agent.',
      held_kept: () => 'Not sent: the session stays open at the desk.',
      held_cannot_close: (program: string) => `Not sent: it runs in ${program}, and Relay cannot close it.`,
      held_for_a_day: () => 'Not sent: it stayed open at the desk for a day.',
      held_restarted: () => 'The daemon was restarted while this waited. Send it again.',
      held_since: () => 'Another program had the session open. Send the message again.',
      desk_answered: () => 'The terminal has your answer.',
      not_sent: () => 'Not sent',
      agent_silent: () => 'The agent ended its turn without saying anything.',
      agent_done: () => 'Done. The agent said nothing more.',
      agent_not_allowed: () => 'The agent stopped, because it was not allowed to continue.',
      agent_unanswered: () => 'The agent ended without an answer.',
      agent_missing: (agent: string) => `The agent “${agent}” is not set up on this machine. Start the daemon with it.`,
      unknown_command: (command: string) => `The agent did nothing. /${command} is not among its commands.`,
      daemon_stopped: () => 'The daemon was stopped.',
      daemon_crashed: () => 'The daemon crashed while this was running. How much of it was done is unknown.',
      question_lost: () =>
        'The daemon stopped, so the agent’s question can no longer be answered. Send a message to continue.',
      question_first: () =>
        'The agent asked a question before it got this message. Answer the question, then send it again.',
      question_closed: () => 'This question can no longer be answered, or it changed. Nothing was sent to the agent.',
      person_only: () => 'Only a person can answer this. Nothing was sent to the agent.',
      unknown_session: () => 'This machine has no such session. Start a new one.',
      no_images: () => 'This agent does not accept images. Send the message without them.',
      no_files: () => 'This machine does not accept files. Send the message without them.',
      file_missing: () =>
        'This machine no longer has a file of the message. Nothing was sent to the agent. Send the file again.',
      files_too_large: () => 'The files of a message can have 100 MiB together. Nothing was sent to the agent.',
      too_many_tasks: () => 'This machine has too many tasks. Try again later.',
    } satisfies Record<TextReasonCode, (name: string) => string>,
    options: (next: string, stops: boolean) => ({
      continue: 'Continue',
      raise: `Continue up to ${next}`,
      stop: 'Stop here',
      take: stops ? 'Stop it there and send' : 'Close it there and send',
      wait: 'Send when it’s closed there',
      anyway: 'Send anyway',
      drop: 'Don’t send',
    }),
  },
};
