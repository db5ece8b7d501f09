/**
 * Shows `session/request_permission` as a question. Some agents ask questions of their own through the same request.
 */
import type { RequestPermissionResponse } from '@agentclientprotocol/sdk';
import { type Fields, bareTitle, chosen, listOf, recordOf, subjectOf, wordsOf } from '@relay/daemon-kit';
import { detailsOf, intentOf } from './calls.ts';
import { isDangerous } from './danger.ts';
import { askFields } from './form.ts';
import type { FormField } from './form-fields.ts';
import type { Quirks } from './presets.ts';
import { type AgentQuestion, type QuestionReply, questionOf } from './questions.ts';

interface PermissionOption {
  optionId: string;
  name: string;
  kind: string;
}

/** The request without options that stop the agent from asking, such as a mode for the work after a plan. */
export const withoutDanger = (request: Fields, quirks: Pick<Quirks, 'doesNotAsk'>): Fields => ({
  ...request,
  options: listOf(request.options).filter(({ optionId, name, kind }) => {
    const option = { id: wordsOf(optionId), name: wordsOf(name) };
    return wordsOf(kind).startsWith('reject') || !isDangerous({ id: 'mode', name: '' }, option, quirks);
  }),
});

export function askPermission(request: Fields, cwd: string): AgentQuestion<RequestPermissionResponse> {
  const call = recordOf(request.toolCall);
  const options = listOf(request.options).flatMap(({ optionId, name, kind }): PermissionOption[] =>
    typeof optionId === 'string' ? [{ optionId, name: wordsOf(name) || optionId, kind: wordsOf(kind) }] : [],
  );
  const own = ownQuestions(request, options);
  if (own) return own;
  const labels = options.map(({ name }) => name);
  const prompt = promptOf(call, options, cwd);
  const select = (option: PermissionOption): RequestPermissionResponse => ({
    outcome: { outcome: 'selected', optionId: option.optionId },
  });
  const taken = (option: PermissionOption): QuestionReply<RequestPermissionResponse> => ({
    kind: 'answer',
    response: select(option),
    rejected: option.kind.startsWith('reject'),
  });
  const cancelled: RequestPermissionResponse = { outcome: { outcome: 'cancelled' } };
  return {
    cancelled,
    question: (before) => ({
      ...questionOf(before, prompt, detailsOf(call, cwd, prompt), labels),
      kind: options.some(({ kind }) => /^(allow|reject)/.test(kind)) ? 'permission' : 'choice',
      choices: options.map(({ optionId: id, name: label, kind }) => ({ id, label, ...(kind === '' ? {} : { kind }) })),
      subject: subjectOf(call, cwd),
    }),
    choose(id) {
      const option = options.find(({ optionId }) => optionId === id);
      return option && taken(option);
    },
    reply(words) {
      const option = options[chosen(words, labels)];
      if (option) return taken(option);
      const no =
        options.find(({ kind }) => kind === 'reject_once') ?? options.find(({ kind }) => kind === 'reject_always');
      return { kind: 'decline', response: no ? select(no) : cancelled };
    },
  };
}

/** A question of the agent's own is shown unchanged; anything else is a request for permission. */
function promptOf(call: Fields, options: readonly PermissionOption[], cwd: string): string {
  const title = bareTitle(call);
  if (title.endsWith('?')) return title;
  if (title !== '' && !options.some(({ kind }) => /^(allow|reject)/.test(kind))) return title;
  return `${intentOf(call, cwd)}?`;
}

/**
 * The agent sends the questions beside the request and expects the answers beside the outcome, by index. Free text
 * counts as an answer.
 */
function ownQuestions(
  request: Fields,
  options: readonly PermissionOption[],
): AgentQuestion<RequestPermissionResponse> | undefined {
  const beside = (fields: Fields) => listOf(recordOf(fields._meta).qwenQuestions);
  const questions = beside(request).length > 0 ? beside(request) : beside(recordOf(request.toolCall));
  const allow = options.find(({ kind }) => kind.startsWith('allow'));
  if (questions.length === 0 || !allow) return undefined;
  const fields = questions.map((question, index): FormField => ({
    name: String(index),
    title: wordsOf(question.question) || 'The agent asks:',
    description: '',
    schema: {},
    required: true,
    words: String(index),
    choices: listOf(question.options).flatMap(({ label, description }) =>
      typeof label === 'string' ? [{ label, value: label, about: wordsOf(description) }] : [],
    ),
  }));
  const reject = options.find(({ kind }) => kind.startsWith('reject'));
  const cancelled: RequestPermissionResponse = { outcome: { outcome: 'cancelled' } };
  return askFields<RequestPermissionResponse>('', fields, {
    cancelled,
    declined: reject ? { outcome: { outcome: 'selected', optionId: reject.optionId } } : cancelled,
    accepted: (answers) =>
      ({ outcome: { outcome: 'selected', optionId: allow.optionId }, answers }) as RequestPermissionResponse,
  });
}
