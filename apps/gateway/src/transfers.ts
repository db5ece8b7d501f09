/** Pieces of files on their way to a daemon, and its answers. Each goes through this process once, and is kept nowhere (rules, 27.1). Pure. */
import { type FromDaemon, type Reply, type ToDaemon, cutText, limits } from '@relay/protocol';
import type { Question } from './requests.ts';

type Transfer = Extract<Question, { kind: 'send_file' | 'send_piece' }>;

export const isTransfer = (question: Question): question is Transfer =>
  question.kind === 'send_file' || question.kind === 'send_piece';

export function transferAsked(question: Transfer, requestId: string): ToDaemon<'file_open' | 'file_piece'> {
  const about = { request_id: requestId, file_id: question.fileId };
  if (question.kind === 'send_piece')
    return { type: 'file_piece', ...about, offset: question.offset, data: question.data };
  const { name, size, mime } = question;
  return { type: 'file_open', ...about, name, size, ...(mime === undefined ? {} : { mime }) };
}

const sentences = {
  FILE_INCOMPLETE: 'The piece does not begin where the received part of the file ends.',
  FILE_NOT_FOUND: 'The device does not have this file, or no longer.',
  FILE_TOO_LARGE: 'A file can have 25 MiB.',
  INVALID_FILE: 'The file has another size than announced, or its id is not a ULID.',
  DEVICE_FULL: 'The device has no room for the file.',
} as const;

export function transferReply({ received, done, name, sha256, code, error }: FromDaemon<'file_result'>): Reply {
  const known = (Object.keys(sentences) as (keyof typeof sentences)[]).find((one) => one === code);
  if (known)
    return {
      v: 1,
      kind: 'failure',
      code: known,
      error: sentences[known],
      ...(typeof received === 'number' ? { received } : {}),
    };
  if (error || typeof received !== 'number')
    return {
      v: 1,
      kind: 'failure',
      code: 'DEVICE_ERROR',
      error: `The device answered: ${cutText(error || 'nothing', limits.lineCharacters)}`,
    };
  return {
    v: 1,
    kind: 'device_file',
    received,
    done: done === true,
    ...(name ? { name } : {}),
    ...(sha256 ? { sha256 } : {}),
  };
}
