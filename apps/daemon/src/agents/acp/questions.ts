/**
 * What an agent asks, and what an answer in words means for it. Pure: requests of ACP in, a question for the user out; words in,
 * a response for the agent out. A label counts as chosen when the text equals it, or is its number (1 is the first).
 */
import type {
  CreateElicitationResponse,
  ElicitationContentValue,
  RequestPermissionResponse,
} from '@agentclientprotocol/sdk';
import { type Question } from '@relay/daemon-kit';
import { type Fields, commandOf, contentOf } from './narrator.ts';

/** What the words of the user make of a question. */
export type Reply<R> =
  /** The agent goes on with this. */
  | { kind: 'answer'; response: R; rejected?: boolean }
  /** One more thing must be asked before the agent can go on. */
  | { kind: 'ask' }
  /** No answer: the agent is told no, and the words are the next message of the conversation. */
  | { kind: 'decline'; response: R };

export interface Asking<R> {
  /** The question as it stands now. `said` is what the agent said before it. */
  question(said: string): Question;
  reply(words: string): Reply<R>;
  /** The response when the turn was cancelled. */
  cancelled: R;
}

/** The index of the label that the words choose; -1 if none. */
export function chosen(words: string, labels: readonly string[]): number {
  const text = words.trim().toLowerCase();
  const exact = labels.findIndex((label) => label.trim().toLowerCase() === text);
  if (exact >= 0 || !/^\d{1,4}$/.test(text)) return exact;
  const number = Number(text);
  return number >= 1 && number <= labels.length ? number - 1 : -1;
}

interface PermissionOption {
  optionId: string;
  name: string;
  kind: string;
}

export function askPermission(request: Fields, cwd: string): Asking<RequestPermissionResponse> {
  const call = recordOf(request.toolCall);
  const options = listOf(request.options).flatMap((option): PermissionOption[] => {
    const { optionId, name, kind } = option;
    if (typeof optionId !== 'string') return [];
    return [{ optionId, name: typeof name === 'string' ? name : optionId, kind: typeof kind === 'string' ? kind : '' }];
  });
  const own = ownQuestion(request, options);
  if (own) return own;
  const labels = options.map(({ name }) => name);
  const title = typeof call.title === 'string' && call.title !== '' ? call.title : (commandOf(call) ?? 'a tool');
  const select = (option: PermissionOption): RequestPermissionResponse => ({
    outcome: { outcome: 'selected', optionId: option.optionId },
  });
  const cancelled: RequestPermissionResponse = { outcome: { outcome: 'cancelled' } };
  return {
    cancelled,
    question(said) {
      const command = commandOf(call);
      const detail = [command === undefined || title.includes(command) ? '' : command, contentOrDiff(call, cwd)];
      const result = [said, ...detail].filter((text) => text.trim() !== '').join('\n\n');
      return { prompt: `Allow: ${title}?`, result, options: labels };
    },
    reply(words) {
      const option = options[chosen(words, labels)];
      if (option) return { kind: 'answer', response: select(option), rejected: option.kind.startsWith('reject') };
      const no =
        options.find(({ kind }) => kind === 'reject_once') ?? options.find(({ kind }) => kind === 'reject_always');
      return { kind: 'decline', response: no ? select(no) : cancelled };
    },
  };
}

/** Some agents ask their own questions as a permission, with the questions beside it and the answers beside the outcome, by index. */
function ownQuestion(
  request: Fields,
  options: readonly PermissionOption[],
): Asking<RequestPermissionResponse> | undefined {
  const [question] = listOf(
    recordOf(request._meta).qwenQuestions ?? recordOf(recordOf(request.toolCall)._meta).qwenQuestions,
  );
  const allow = options.find(({ kind }) => kind.startsWith('allow'));
  if (!question || !allow) return undefined;
  const labels = listOf(question.options).flatMap(({ label }) => (typeof label === 'string' ? [label] : []));
  const prompt = typeof question.question === 'string' ? question.question : 'The agent asks:';
  return {
    cancelled: { outcome: { outcome: 'cancelled' } },
    question: (said) => ({ prompt, result: said, options: labels }),
    reply(words) {
      const answer = labels[chosen(words, labels)] ?? words;
      const outcome = { outcome: 'selected' as const, optionId: allow.optionId };
      return { kind: 'answer', response: { outcome, answers: { '0': answer } } as RequestPermissionResponse };
    },
  };
}

interface FormField {
  name: string;
  title: string;
  type: string;
  required: boolean;
  /** Choices as they are shown, and what each of them is for the agent. */
  choices: { label: string; value: ElicitationContentValue }[];
}

/** A form is asked field by field: the required ones and those with choices. A free field takes what is no choice. */
export function askForm(request: Fields): Asking<CreateElicitationResponse> {
  const fields = fieldsOf(recordOf(request.requestedSchema));
  const free = fields.find(({ type, choices }) => type === 'string' && choices.length === 0);
  const asked = fields.filter(({ required, choices }) => required || choices.length > 0);
  const open = asked.length > 0 ? asked : fields.slice(0, 1);
  const content: Record<string, ElicitationContentValue> = {};
  const message = typeof request.message === 'string' && request.message !== '' ? request.message : 'The agent asks:';
  let at = 0;
  const accept = (): Reply<CreateElicitationResponse> => ({ kind: 'answer', response: { action: 'accept', content } });
  return {
    cancelled: { action: 'cancel' },
    question(said) {
      const field = open[at];
      const single = open.length === 1 || !field;
      return {
        prompt: single ? message : `${message}\n${field.title}`,
        result: said,
        options: field?.choices.map(({ label }) => label) ?? ['OK'],
      };
    },
    reply(words) {
      const field = open[at];
      if (!field) return chosen(words, ['OK']) === 0 ? accept() : { kind: 'decline', response: { action: 'decline' } };
      const value = valueOf(field, words);
      if (value !== undefined) content[field.name] = value;
      else if (free && free !== field) content[free.name] = words;
      else return { kind: 'decline', response: { action: 'decline' } };
      at++;
      return at < open.length ? { kind: 'ask' } : accept();
    },
  };
}

function valueOf(field: FormField, words: string): ElicitationContentValue | undefined {
  const labels = field.choices.map(({ label }) => label);
  if (field.type === 'array') {
    const whole = chosen(words, labels);
    const picks = whole >= 0 ? [whole] : words.split(',').map((word) => chosen(word, labels));
    if (picks.length === 0 || picks.includes(-1)) return undefined;
    return [...new Set(picks)].map((pick) => String(field.choices[pick]?.value));
  }
  if (field.choices.length > 0) return field.choices[chosen(words, labels)]?.value;
  if (field.type === 'string') return words;
  const number = Number(words.trim());
  if (words.trim() === '' || !Number.isFinite(number)) return undefined;
  return field.type === 'integer' && !Number.isInteger(number) ? undefined : number;
}

function fieldsOf(schema: Fields): FormField[] {
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(recordOf(schema.properties)).map(([name, value]) => {
    const property = recordOf(value);
    const title = [property.title, property.description].find((text) => typeof text === 'string' && text !== '');
    return {
      name,
      title: typeof title === 'string' ? title : name,
      type: typeof property.type === 'string' ? property.type : 'string',
      required: required.includes(name),
      choices: choicesOf(property),
    };
  });
}

function choicesOf(property: Fields): FormField['choices'] {
  if (property.type === 'boolean')
    return [
      { label: 'Yes', value: true },
      { label: 'No', value: false },
    ];
  const source = property.type === 'array' ? recordOf(property.items) : property;
  const titled = listOf(source.oneOf ?? source.anyOf).flatMap(({ const: value, title }) =>
    typeof value === 'string' ? [{ label: typeof title === 'string' && title !== '' ? title : value, value }] : [],
  );
  if (titled.length > 0) return titled;
  const plain = Array.isArray(source.enum) ? source.enum : [];
  return plain.flatMap((value: unknown) => (typeof value === 'string' ? [{ label: value, value }] : []));
}

function contentOrDiff(call: Fields, cwd: string): string {
  const diffs = listOf(call.content).flatMap(({ type, oldText, newText, path }) => {
    if (type !== 'diff' || typeof newText !== 'string') return [];
    const before = typeof oldText === 'string' ? prefixed('- ', oldText) : '';
    return [[String(path), before, prefixed('+ ', newText)].filter((text) => text !== '').join('\n')];
  });
  return diffs.length > 0 ? diffs.join('\n\n') : contentOf(call.content, cwd);
}

const prefixed = (sign: string, text: string) =>
  text === ''
    ? ''
    : text
        .split('\n')
        .map((line) => `${sign}${line}`)
        .join('\n');

const recordOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
const listOf = (value: unknown): Fields[] =>
  Array.isArray(value)
    ? value.filter((item) => typeof item === 'object' && item !== null).map((item) => item as Fields)
    : [];
