/** How tasks of this daemon settle, and how a result is sent and kept. Pure, except for the ids it gives to unnamed questions. */
import { randomUUID } from 'node:crypto';
import { type Question as WireQuestion, type TextReason, type TextReasonCode, transcriptLimits } from '@relay/protocol';
import { questionDigest } from '@relay/protocol/identity';
import type { Question, ReachedLimit } from './agent.ts';
import { fieldBytes, keepHead, keepTail } from './bounds.ts';
import type { Overrun } from './caps.ts';
import type { FinalEvent, JournalledEvent } from './journal.ts';
import { ownText } from './own-texts.ts';
import type { TurnEnd } from './transcript/endings.ts';

/** `reason`: the daemon itself wrote the text. */
export type End =
  | { type: 'TASK_COMPLETE'; result: string; reason?: TextReason }
  | {
      type: 'WAIT_FOR_USER';
      prompt: string;
      result: string;
      textBefore: string;
      options: { label: string }[];
      question: WireQuestion;
    }
  | {
      type: 'ERROR';
      error: string;
      code?: string;
      reason?: TextReason;
      limit?: ReachedLimit;
      cost?: Pick<Overrun, 'spent' | 'cap'>;
    };
export type FailedEnd = Extract<End, { type: 'ERROR' }>;

const maxOptions = 100;

/** A task that completes with a sentence of the daemon. */
export function completed(sentence: TextReasonCode): End {
  const { text, reason } = ownText(sentence);
  return { type: 'TASK_COMPLETE', result: text, reason };
}

/** A task that fails with a sentence of the daemon. `code`: the code of the error; `name`: the name in the sentence. */
export function failed(sentence: TextReasonCode, { code, name }: { code?: string; name?: string } = {}): FailedEnd {
  const { text, reason } = ownText(sentence, name);
  return { type: 'ERROR', error: text, reason, ...(code === undefined ? {} : { code }) };
}

export const unseen = failed('question_first', { code: 'PROMPT_SUPERSEDED' });

/** An answer that does not fit its question, which stays open. */
export const unfit = (problem: string): End => ({
  type: 'ERROR',
  error: `${problem} Nothing was sent to the agent. Answer again.`,
  code: 'PROMPT_SUPERSEDED',
});

/** The question stays open for the person (rules, 19.9). */
export const forPerson = failed('person_only', { code: 'PERSON_MUST_ANSWER' });

export const tooLate = failed('question_closed', { code: 'PROMPT_SUPERSEDED' });

/** The text would answer a question that is closed, or that the relay did not know. An open question stays open. */
export const unanswerable = (why: string): End => ({ type: 'ERROR', error: why, code: 'PROMPT_SUPERSEDED' });

const notWritten = 'HISTORY_NOT_WRITTEN';
export const isUnwritable = (end: End): boolean => end.type === 'ERROR' && end.code === notWritten;

/** The result of a task that never reached the agent. */
export const unwritable = (why: string): End => ({
  type: 'ERROR',
  error: `The history of this session cannot be written: ${why}. Nothing was sent to the agent. Make room on the disk of this machine, then send the message again.`,
  code: notWritten,
});

/** The same result, with a note for people. */
export function noted(end: End, note: string): End {
  const behind = (text: string) => [text, `[${note}]`].filter(Boolean).join('\n\n');
  // The reason names the text without the note.
  if (end.type === 'ERROR') return withoutReason({ ...end, error: behind(end.error) });
  if (end.type === 'TASK_COMPLETE') return withoutReason({ ...end, result: behind(end.result) });
  return { ...end, result: behind(end.result) };
}

const withoutReason = <E extends { reason?: TextReason }>({ reason: _, ...end }: E) => end;

/** The daemon was started without the agent of the session. */
export const missingAgent = (agentType: string): End => failed('agent_missing', { name: agentType });
export const unknownSession = failed('unknown_session');

/** The agent has the session, and its record could not be read yet. */
export const unreadSession = (why: string): End => ({
  type: 'ERROR',
  error: `This session could not be read from its agent: ${why.replace(/\.$/, '')}. Nothing was sent to it. Try again.`,
});

export const noImages = failed('no_images');
export const noFiles = failed('no_files');

/** A file is gone, or has not arrived. */
export const missingFile = failed('file_missing', { code: 'FILE_MISSING' });

export const unplaced = (why: string): End => ({
  type: 'ERROR',
  error: `The files could not be copied to a place where the agent reads them: ${why}. Nothing was sent to the agent.`,
  code: 'FILE_MISSING',
});

export const tooLargeFiles = failed('files_too_large');
export const tooMany = failed('too_many_tasks');

export function frameOf(taskId: string, sessionId: string, end: End): JournalledEvent {
  // `session_id` on every event: if SESSION_STARTED was lost, this one still names the session.
  const event = { type: 'event', task_id: taskId, ...(sessionId === '' ? {} : { session_id: sessionId }) } as const;
  switch (end.type) {
    case 'TASK_COMPLETE':
      return { ...event, event_type: 'TASK_COMPLETE', result: keepTail(end.result, fieldBytes.message) };
    case 'WAIT_FOR_USER':
      return {
        ...event,
        event_type: 'WAIT_FOR_USER',
        prompt: end.prompt,
        result: end.result,
        options: end.options,
        ...(end.textBefore === '' ? {} : { said: end.textBefore }),
        question: end.question,
      };
    case 'ERROR':
      return {
        ...event,
        event_type: 'ERROR',
        error: keepHead(end.error, fieldBytes.error),
        ...(end.code === undefined ? {} : { code: end.code }),
        ...(end.limit === undefined ? {} : { limit: end.limit }),
      };
  }
}

/** The result of a turn that asks this question. */
export const questionEnd = (question: Question): Extract<End, { type: 'WAIT_FOR_USER' }> => {
  const { prompt, result = '', textBefore = '', options = [] } = question;
  return {
    type: 'WAIT_FOR_USER',
    prompt: keepHead(prompt, fieldBytes.error),
    result: keepTail(result, fieldBytes.message),
    textBefore: keepTail(textBefore, fieldBytes.message),
    options: options.slice(0, maxOptions).map((label) => ({ label: keepHead(label, fieldBytes.progress) })),
    question: questionOf(question),
  };
};

/** Returns the question for the relay: within its bound, with the ids of the agent if it has any, else numbered. */
export function questionOf(question: Question): WireQuestion {
  const numbered = (question.options ?? []).map((label, index) => ({ id: `${index + 1}`, label }));
  const options = [...(question.choices ?? numbered)]
    .slice(0, maxOptions)
    .map((option) => ({ ...option, label: keepHead(option.label, fieldBytes.progress) }));
  const plain = options.length === 0 ? 'text' : 'choice';
  const { uuid = randomUUID(), kind = plain, text = true, subject, fields = [], person, reason, expires } = question;
  const title = keepHead(question.prompt, fieldBytes.error);
  const whole: WireQuestion = {
    uuid,
    title,
    kind,
    options,
    text,
    ...(person ? { person, ...(reason ? { reason } : {}) } : {}),
    ...(subject === undefined ? {} : { subject }),
    ...(fields.length === 0 || fields.length > transcriptLimits.fields ? {} : { fields: [...fields] }),
  };
  const isLarge = () => Buffer.byteLength(JSON.stringify(whole), 'utf8') > transcriptLimits.questionBytes;
  if (isLarge()) delete whole.subject;
  if (isLarge()) delete whole.fields;
  // A form without its fields is answered by an option or by free text.
  if (kind === 'form' && !whole.fields) whole.kind = plain;
  return { ...whole, ...(expires === undefined ? {} : { expires }), digest: questionDigest(whole) };
}

/** The result of a task in its transcript. */
export function endingOf(frame: JournalledEvent, end: End): TurnEnd {
  if (end.type !== 'WAIT_FOR_USER' || frame.event_type !== 'WAIT_FOR_USER' || !frame.question)
    return endedWith(frame, end);
  return { type: 'WAIT_FOR_USER', about: end.result || end.prompt, before: end.textBefore, question: frame.question };
}

function endedWith(frame: JournalledEvent, end: End): TurnEnd {
  const reason = end.type !== 'WAIT_FOR_USER' && end.reason ? { reason: end.reason } : {};
  return end.type === 'ERROR'
    ? {
        type: 'ERROR',
        error: wordsOf(frame),
        ...(end.code === undefined ? {} : { code: end.code }),
        ...end.cost,
        ...reason,
      }
    : { type: 'TASK_COMPLETE', result: wordsOf(frame), ...reason };
}

/** The text that people read as the result of a task. */
export function wordsOf(frame: FinalEvent): string {
  switch (frame.event_type) {
    case 'TASK_COMPLETE':
      return frame.result;
    case 'WAIT_FOR_USER':
      return frame.result || frame.prompt;
    case 'ERROR':
      return frame.error;
  }
}
