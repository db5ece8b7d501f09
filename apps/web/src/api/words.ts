/** The text of an error on screen, by stable code: one sentence with advice. */
import { words } from '../catalogue.ts';
import type { Refusal } from './refusal.ts';

const sentenceOf = (code: string): string | undefined => new Map(Object.entries(words.errors.byCode)).get(code);

/** Returns the sentence of the code; else the relay's message, which people can read too; else a general failure. */
export function sentenceFor({
  code,
  message,
  retryAfterSeconds,
}: Pick<Refusal, 'code' | 'message' | 'retryAfterSeconds'>): string {
  if (code === 'RATE_LIMITED' && retryAfterSeconds !== undefined) return words.errors.tooOften(retryAfterSeconds);
  return sentenceOf(code) ?? (message === '' ? words.errors.unknown : message);
}

export const taskSentence = (code: string): string => sentenceOf(code) ?? words.errors.unknownTask;
