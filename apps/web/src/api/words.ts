/** The text of an error on screen, by stable code: one sentence that says what to do. */
import { words } from '../catalogue.ts';
import type { Refusal } from './refusal.ts';

const sentenceOf = (code: string): string | undefined => new Map(Object.entries(words.errors.byCode)).get(code);

/** By code; else what the relay said, which is written for people too; else that it failed. */
export function sentenceFor({
  code,
  message,
  retryAfterSeconds,
}: Pick<Refusal, 'code' | 'message' | 'retryAfterSeconds'>): string {
  if (code === 'RATE_LIMITED' && retryAfterSeconds !== undefined) return words.errors.tooOften(retryAfterSeconds);
  return sentenceOf(code) ?? (message === '' ? words.errors.unknown : message);
}

export const taskSentence = (code: string): string => sentenceOf(code) ?? words.errors.unknownTask;
