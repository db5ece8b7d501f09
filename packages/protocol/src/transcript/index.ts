/** The conversation as a list of items, and the operations that make it. */
export * from './apply.ts';
export * from './bounds.ts';
export * from './figures.ts';
export * from './for-person.ts';
export * from './form-values.ts';
export * from './item.ts';
export * from './operations.ts';
export {
  Diff,
  FieldValues,
  Hunk,
  Question,
  QuestionField,
  QuestionReason,
  QuestionOption,
  Subject,
  optionKinds,
  promptKinds,
  word,
} from './question.ts';
export { TextReason, type TextReasonCode } from './text-reason.ts';
