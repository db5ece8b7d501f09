/** Names for sentences that the daemon itself writes for people, so that an app can show them in its own language. */
import { type Static, limits, maybe, record, text } from '../schema.ts';
import { word } from './question.ts';

const textReasons = [
  'cap_stopped',
  'held_kept',
  'held_cannot_close',
  'held_for_a_day',
  'held_restarted',
  'held_since',
  'desk_answered',
  'not_sent',
  'agent_silent',
  'agent_done',
  'agent_not_allowed',
  'agent_unanswered',
  'agent_missing',
  'unknown_command',
  'daemon_stopped',
  'daemon_crashed',
  'question_lost',
  'question_first',
  'question_closed',
  'person_only',
  'unknown_session',
  'no_images',
  'no_files',
  'file_missing',
  'files_too_large',
  'too_many_tasks',
] as const;
export type TextReasonCode = (typeof textReasons)[number];

export const TextReason = record(
  'TextReason',
  'Names the text of the item, which the daemon itself wrote. An app that knows the code can show the text in its own language; other apps show `content`.',
  {
    code: word(textReasons, 'The text'),
    name: maybe(text('The agent, command or program that the text names', { maxLength: limits.pathCharacters })),
  },
);
export type TextReason = Static<typeof TextReason>;
