/** Failed replies of an instance. Pure. */
import { type DetailedCode, type ErrorCode, type Reply, cutText, sentenceOf } from '@relay/protocol';

type Failure = Extract<Reply, { kind: 'failure' }>;
type Facts = Pick<Failure, 'scopes' | 'received'>;

/** A failure with the sentence of its code. */
export const failure = (code: ErrorCode, more: Facts = {}): Failure => ({
  v: 1,
  kind: 'failure',
  code,
  error: sentenceOf(code),
  ...more,
});

/** A failure with a text of the daemon, or about its answer. */
export const detailed = (code: DetailedCode, detail: string, more: Facts = {}): Failure => ({
  ...failure(code, more),
  error: cutText(detail, 1024),
});

/** The daemon answered with an error, or without the fields of its answer. */
export const answeredBadly = (error: string | null | undefined): Failure =>
  detailed('DEVICE_ERROR', `The device answered: ${error || 'nothing'}`);
