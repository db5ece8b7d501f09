/**
 * A form (`elicitation/create`), asked field by field. An answer belongs to the field that was asked: a value that does
 * not fit is refused with the reason, and the field is asked again. Optional fields can be skipped; a form with
 * required fields can be declined.
 */
import type { CreateElicitationResponse, ElicitationContentValue } from '@agentclientprotocol/sdk';
import { type Fields, chosen, named, recordOf, wordsOf } from '@relay/daemon-kit';
import { oneLine } from './calls.ts';
import { type FormField, aboutField, defaultOf, fieldsOf, givenValue, questionField, valueOf } from './form-fields.ts';
import { type AgentQuestion, type QuestionReply, questionOf } from './questions.ts';

const labels = {
  ok: 'OK',
  opened: 'I opened it',
  skip: 'Skip',
  skipRest: 'Skip the rest',
  decline: 'Decline',
} as const;
/** The daemon shows a hundred labels; there is always room for those above. */
const maxChoices = 95;

interface Responses<R> {
  cancelled: R;
  declined: R;
  accepted: (content: Record<string, ElicitationContentValue>) => R;
}

export function askForm(request: Fields): AgentQuestion<CreateElicitationResponse> {
  const message = wordsOf(request.message) || 'The agent asks:';
  if (request.mode === 'url') return askVisit(message, wordsOf(request.url));
  return askFields<CreateElicitationResponse>(message, fieldsOf(recordOf(request.requestedSchema)), {
    cancelled: { action: 'cancel' },
    declined: { action: 'decline' },
    accepted: (content) => ({ action: 'accept', content }),
  });
}

/** The person opens an address. Only the word for that accepts. */
function askVisit(message: string, url: string): AgentQuestion<CreateElicitationResponse> {
  const options = [labels.opened, labels.decline];
  const take = (label: string | undefined): QuestionReply<CreateElicitationResponse> | undefined => {
    if (label === labels.opened) return { kind: 'answer', response: { action: 'accept' } };
    return label === labels.decline ? { kind: 'answer', response: { action: 'decline' }, rejected: true } : undefined;
  };
  return {
    cancelled: { action: 'cancel' },
    question: (before) => questionOf(before, `${message}\n${url || 'The agent gave no address.'}`, '', options),
    choose: (id) => take(options[Number(id) - 1]),
    reply: (words) =>
      take(options[chosen(words, options)]) ?? {
        kind: 'ask',
        why: `Open the address, then answer with “${labels.opened}”, or with “${labels.decline}”.`,
      },
  };
}

/** `message` precedes every field. */
export function askFields<R>(message: string, fields: readonly FormField[], responses: Responses<R>): AgentQuestion<R> {
  const content: Record<string, ElicitationContentValue> = {};
  let at = 0;

  const controls = (field: FormField): string[] => {
    if (field.required) return [labels.decline];
    const rest = fields.slice(at);
    return rest.length > 1 && rest.every(({ required }) => !required) ? [labels.skip, labels.skipRest] : [labels.skip];
  };
  /** The options: the choices, or the default of a field without any, and the general options of a form. */
  const offered = (field: FormField): string[] => {
    const fallback = field.choices.length > 0 ? '' : defaultOf(field);
    const own = fallback === '' ? field.choices.slice(0, maxChoices).map(({ label }) => label) : [fallback];
    return [...own, ...controls(field).filter((label) => named(label, own) < 0)];
  };
  const accept = (): QuestionReply<R> => ({ kind: 'answer', response: responses.accepted(content) });
  const refuse = (): QuestionReply<R> => ({ kind: 'answer', response: responses.declined, rejected: true });
  const next = (): QuestionReply<R> => (++at < fields.length ? { kind: 'ask' } : accept());

  return {
    cancelled: responses.cancelled,
    question(before) {
      const field = fields[at];
      if (!field) return questionOf(before, message, '', [labels.ok, labels.decline]);
      const many = fields.length > 1;
      const name = field.title || (many && field.description === '' ? field.name : '');
      const lines = [message, isSame(message, name) ? '' : name, many ? field.description : ''].filter(Boolean);
      const about = [many ? '' : field.description, aboutField(field)].filter(Boolean).join('\n');
      const rest = fields.slice(at).map(questionField);
      const whole = rest.every((one) => one !== undefined) ? { kind: 'form', fields: rest } : {};
      return { ...questionOf(before, lines.join('\n'), about, offered(field)), ...whole };
    },
    fill(values) {
      for (const field of fields.slice(at)) {
        const value = Object.hasOwn(values, field.name) ? values[field.name] : undefined;
        if (value === undefined) continue;
        const taken = givenValue(field, value);
        if ('value' in taken) content[field.name] = taken.value;
        else if (field.words !== undefined && typeof value === 'string') content[field.words] = value;
        else return { kind: 'ask', why: `“${oneLine(String(value))}” is not a valid answer: ${taken.why}` };
      }
      return accept();
    },
    reply(words) {
      const field = fields[at];
      if (!field) {
        const pick = chosen(words, [labels.ok, labels.decline]);
        if (pick < 0) return { kind: 'ask', why: `Answer with ${labels.ok} or ${labels.decline}.` };
        return pick === 0 ? accept() : refuse();
      }
      const shown = offered(field);
      // Where free text is allowed, a number is a number.
      const pick = shown[field.choices.length > 0 ? chosen(words, shown) : named(words, shown)] ?? '';
      if (controls(field).includes(pick) && !field.choices.some(({ label }) => label === pick)) {
        if (pick === labels.decline) return refuse();
        if (pick === labels.skipRest) at = fields.length;
        return next();
      }
      const value = valueOf(field, words);
      if ('value' in value) content[field.name] = value.value;
      else if (field.words !== undefined) content[field.words] = words;
      else return { kind: 'ask', why: `“${oneLine(words)}” is not a valid answer: ${value.why}` };
      return next();
    },
  };
}

/** True if the message is the name and nothing else. A name inside a sentence does not identify the asked field. */
const isSame = (message: string, name: string) => bareName(message) === bareName(name);
const bareName = (text: string) =>
  text
    .trim()
    .replace(/[?:.]+$/, '')
    .toLowerCase();
