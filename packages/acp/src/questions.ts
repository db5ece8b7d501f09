/**
 * Turns a question of the agent into a request to the client, and the reply into an answer that is bound to the question: to its option by id,
 * and to its digest. Pure.
 */
import type {
  CreateElicitationRequest,
  CreateElicitationResponse,
  ElicitationPropertySchema,
  PermissionOptionKind,
  RequestPermissionRequest,
  RequestPermissionResponse,
} from '@agentclientprotocol/sdk';
import type { AnswerPrompt, Prompt, QuestionField } from '@relay/protocol';
import { contentOfDiffs, textContent } from './diffs.ts';
import { type Paths, localPath } from './paths.ts';

export interface AskOptions {
  /** The session id that the client uses. */
  sessionId: string;
  /** The client shows forms. */
  forms: boolean;
  /** The client must not answer. */
  isReadOnly?: boolean;
  /** The tool call that waits for the permission, if known. */
  toolCallId?: string | undefined;
  /** Folder of the session on the device. */
  cwd: string;
  paths: Paths;
}

/** `elsewhere`: this client cannot show it; a page or a phone can. */
type Asking =
  | {
      how: 'permission';
      request: RequestPermissionRequest;
      answerOf(reply: RequestPermissionResponse): AnswerPrompt | undefined;
    }
  | {
      how: 'form';
      request: CreateElicitationRequest;
      answerOf(reply: CreateElicitationResponse): AnswerPrompt | undefined;
    }
  | { how: 'elsewhere' };

type Option = Prompt['options'][number];

export function askingOf(prompt: Prompt, options: AskOptions): Asking {
  const isBound = prompt.id !== undefined && prompt.options.every(({ id }) => id !== undefined);
  if (!isBound || options.isReadOnly) return { how: 'elsewhere' };
  if (prompt.kind !== 'permission' && options.forms) return formOf(prompt, options);
  return prompt.options.length > 0 ? permissionOf(prompt, options) : { how: 'elsewhere' };
}

const bound = ({ digest }: Prompt): { digest?: string } => (digest === undefined ? {} : { digest });
const optionKinds = new Set<string>(['allow_once', 'allow_always', 'reject_once', 'reject_always']);

/** ACP requires a kind for every option. It is a hint for icons; the answer is the id. */
const kindOf = ({ kind }: Option): PermissionOptionKind =>
  (kind !== undefined && optionKinds.has(kind) ? kind : 'allow_once') as PermissionOptionKind;

function permissionOf(prompt: Prompt, { sessionId, toolCallId, cwd, paths }: AskOptions): Asking {
  const { subject } = prompt;
  const words = [prompt.result, prompt.context].filter((text) => text !== undefined && text.trim() !== '');
  const text = [...new Set(words)].join('\n\n');
  const changes = contentOfDiffs(subject?.diffs, cwd, paths);
  return {
    how: 'permission',
    request: {
      sessionId,
      toolCall: {
        toolCallId: toolCallId ?? prompt.id!,
        title: prompt.prompt,
        status: 'pending',
        ...(subject?.type === 'command' ? { kind: 'execute' as const } : {}),
        ...(subject?.type === 'edit' ? { kind: 'edit' as const } : {}),
        ...(subject?.command === undefined
          ? {}
          : {
              rawInput: {
                command: subject.command,
                ...(subject.cwd === undefined ? {} : { cwd: localPath(subject.cwd, cwd, paths) }),
              },
            }),
        content: changes.length > 0 || text === '' || text === prompt.prompt ? changes : [textContent(text)],
      },
      options: prompt.options.map((option) => ({
        optionId: option.id!,
        name: option.label,
        kind: kindOf(option),
      })),
    },
    answerOf: ({ outcome }) =>
      outcome.outcome === 'selected' && prompt.options.some(({ id }) => id === outcome.optionId)
        ? { option: outcome.optionId, ...bound(prompt) }
        : undefined,
  };
}

/** Field names for a question without fields. */
const choiceField = 'answer';
const wordsField = 'words';

function formOf(prompt: Prompt, { sessionId }: AskOptions): Asking {
  const { fields = [], options } = prompt;
  const properties: Record<string, ElicitationPropertySchema> = {};
  for (const field of fields) properties[field.name] = propertyOf(field);
  if (fields.length === 0 && options.length > 0)
    properties[choiceField] = {
      type: 'string',
      title: 'Answer',
      oneOf: options.map(({ id, label }) => ({ const: id!, title: label })),
    };
  if (fields.length === 0 && (options.length === 0 || prompt.text === true))
    properties[wordsField] = { type: 'string', title: options.length === 0 ? 'Answer' : 'Other words' };
  const required =
    fields.length > 0
      ? fields.filter((field) => field.required === true).map(({ name }) => name)
      : Object.keys(properties).length === 1
        ? Object.keys(properties)
        : [];
  const text = prompt.result.trim();
  const message = text === '' || text.includes(prompt.prompt) ? text || prompt.prompt : `${prompt.prompt}\n\n${text}`;
  return {
    how: 'form',
    request: { sessionId, mode: 'form', message, requestedSchema: { type: 'object', properties, required } },
    answerOf: (reply) => {
      if (reply.action === 'decline') {
        const no = options.find(({ kind, label }) => kind?.startsWith('reject') ?? label === 'Decline');
        return no?.id === undefined ? undefined : { option: no.id, ...bound(prompt) };
      }
      const { content } = reply as { content?: Record<string, string | number | boolean | string[]> | null };
      if (reply.action !== 'accept' || !content) return undefined;
      if (fields.length > 0) return { fields: content, ...bound(prompt) };
      const option = options.find(({ id }) => id === content[choiceField]);
      if (option?.id !== undefined) return { option: option.id, ...bound(prompt) };
      const words = content[wordsField];
      return typeof words === 'string' && words.trim() !== '' ? { text: words, ...bound(prompt) } : undefined;
    },
  };
}

function propertyOf(field: QuestionField): ElicitationPropertySchema {
  const { title, about, choices, min, max } = field;
  const common = { title, ...(about === undefined ? {} : { description: about }) };
  const bounds = { ...(min === undefined ? {} : { minimum: min }), ...(max === undefined ? {} : { maximum: max }) };
  const values = (choices ?? []).map(({ id, label }) => ({ const: id, title: label }));
  const byDefault = field.default;
  switch (field.type) {
    case 'boolean':
      return { type: 'boolean', ...common, ...(byDefault === undefined ? {} : { default: byDefault === 'true' }) };
    case 'number':
    case 'integer':
      return {
        type: field.type,
        ...common,
        ...bounds,
        ...(byDefault === undefined || !Number.isFinite(Number(byDefault)) ? {} : { default: Number(byDefault) }),
      };
    case 'choices':
      return { type: 'array', ...common, items: { anyOf: values } };
    default:
      return {
        type: 'string',
        ...common,
        ...(values.length > 0 && field.text !== true ? { oneOf: values } : {}),
        ...(min === undefined || values.length > 0 ? {} : { minLength: min }),
        ...(max === undefined || values.length > 0 ? {} : { maxLength: max }),
        ...(byDefault === undefined ? {} : { default: byDefault }),
      };
  }
}
