/**
 * The answers that only a person gives (rules, 19.9): to a question of the daemon about its person's money or programs, and any answer that stops
 * an agent from asking. The relay asks before it accepts an agent's answer, the daemon before it applies one. Pure.
 */
import type { FieldValues, QuestionField } from './question.ts';

/** A question, as the relay keeps it or as the daemon asked it. */
interface AnswerableQuestion {
  kind?: string;
  options: readonly { id?: string; label: string; kind?: string }[];
  fields?: readonly QuestionField[] | null;
  person?: boolean | null;
}

interface Given {
  option?: string | undefined;
  text?: string | undefined;
  fields?: FieldValues | undefined;
}

/** A choice with the texts that describe it, its id included. */
interface Chosen {
  label: string;
  kind?: string | undefined;
}

const bypasses =
  /bypass|yolo|full[\s_-]*access|unrestricted|(?:skip|no)[\s_-]*permissions|allow[\s_-]*(?:all|everything)|never[\s_-]*asks?\b|without[\s_-]*asking/i;

/** Whether a choice with this id or name lets an agent work without asking. A guess, which can be wrong in both directions. */
export const neverAsks = (text: string): boolean => bypasses.test(text.normalize('NFKC'));

/** The choices of the question that the answer takes. Free text can take any choice of an agent that names no kinds. */
export function choicesOf({ kind, options, fields }: AnswerableQuestion, given: Given): Chosen[] {
  const values = new Set<unknown>(Object.values(given.fields ?? {}).flat());
  const canMean = given.text !== undefined && kind !== 'permission';
  const ofForm = (fields ?? []).flatMap(({ name, title, type, choices = [] }) => [
    ...(type === 'boolean' && given.fields?.[name] === true ? [{ label: title }] : []),
    ...choices.filter(({ id }) => values.has(id)).map(({ id, label }) => ({ label: `${id} ${label}` })),
  ]);
  const named = options.filter(({ id }) => canMean || (id !== undefined && id === given.option));
  return [...named.map((one) => ({ label: `${one.id ?? ''} ${one.label}`, kind: one.kind })), ...ofForm];
}

/** Whether an agent with any scope has to leave this answer to its person. */
export const isForPerson = (question: AnswerableQuestion, given: Given): boolean =>
  question.person === true ||
  choicesOf(question, given).some(({ label, kind }) => !kind?.startsWith('reject') && neverAsks(label));
