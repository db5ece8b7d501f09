/** A question as lines of a notification, and whether these lines contain all of it. Pure. */
import type { DueQuestion } from '@relay/database';
import { visible } from '@relay/protocol';

/** Screens that show notifications display no more than this, even if the message has room. */
const seenCharacters = 400;
const seenLines = 10;

/** All parts of a permission that text can show. */
const shownOfQuestion = new Set('id kind prompt result context options text subject expires digest at'.split(' '));
const shownOfSubject = new Set('type command cwd tool input'.split(' '));

const onlyHas = (value: object, allowed: ReadonlySet<string>) => Object.keys(value).every((key) => allowed.has(key));

interface QuestionText {
  text: string;
  /** The text contains the complete question, and a notification shows all of it. */
  isWhole: boolean;
}

export function questionText(question: DueQuestion): QuestionText {
  const { prompt = '', result = '', context = '', subject } = question;
  const lines = [
    ...new Set([
      prompt,
      result,
      context,
      subject?.tool ?? '',
      subject?.command === undefined ? '' : `$ ${subject.command}`,
      subject?.input ?? '',
      subject?.cwd ?? '',
    ]),
  ];
  const text = lines.filter((line) => line.trim() !== '').join('\n');
  const isWhole =
    question.isCut !== true &&
    onlyHas(question, shownOfQuestion) &&
    onlyHas(subject ?? {}, shownOfSubject) &&
    text.length <= seenCharacters &&
    text.split('\n').length <= seenLines &&
    // Characters that hide in a text, or reverse it, can change its meaning for the reader.
    visible(text) === text;
  return { text, isWhole };
}
