/**
 * Parts as they are shown. A part from the wire can have any shape, also of a later release: each reader takes the fields that
 * have the right shape and leaves out the rest, so that no part can break the page.
 */
import type { Diff, Hunk, Part, Question } from '@relay/protocol';

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;
const listOf = <T>(value: unknown, read: (one: unknown) => T | undefined, most: number): T[] =>
  Array.isArray(value)
    ? value.slice(0, most).flatMap((one) => {
        const found = read(one);
        return found === undefined ? [] : [found];
      })
    : [];
/** Removes undefined fields. */
const with_ = <T extends object>(fields: { [K in keyof T]: T[K] | undefined }): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;

function hunkOf(value: unknown): Hunk | undefined {
  const { old, new: fresh, lines } = fieldsOf(value);
  const shown = listOf(lines, textOf, 20_000);
  return shown.length === 0 ? undefined : { old: countOf(old) ?? 0, new: countOf(fresh) ?? 0, lines: shown };
}

function diffOf(value: unknown): Diff | undefined {
  const fields = fieldsOf(value);
  const path = textOf(fields['path']);
  if (path === undefined) return undefined;
  const hunks = Array.isArray(fields['hunks']) ? listOf(fields['hunks'], hunkOf, 2000) : undefined;
  const counted = (mark: string) =>
    (hunks ?? []).reduce((sum, { lines }) => sum + lines.filter((line) => line.startsWith(mark)).length, 0);
  return with_<Diff>({
    path,
    change: textOf(fields['change']) ?? 'edit',
    from: textOf(fields['from']),
    added: countOf(fields['added']) ?? counted('+'),
    removed: countOf(fields['removed']) ?? counted('-'),
    hunks,
  });
}
export const diffList = (value: unknown): Diff[] => listOf(value, diffOf, 50);

interface PermissionShape {
  /** Undefined while the question is unanswered. */
  answer: 'allowed' | 'rejected' | undefined;
  /** The choice as the agent labels it, if it covers more than one call. */
  choice: string | undefined;
  by: string | undefined;
  at: string | undefined;
}

export type ToolShape = Omit<Part<'tool'>, 'kind' | 'places' | 'diffs' | 'asked'> & {
  paths: readonly string[];
  diffs: readonly Diff[];
  asked?: PermissionShape;
};

/** The uuid of the question that the agent asked about this call. */
export const questionIn = (part: unknown): string | undefined => textOf(fieldsOf(fieldsOf(part)['asked'])['question']);

/** The permission of a call, from the call itself and from its question, which can arrive earlier. */
function permissionOf(value: unknown, question: QuestionShape | undefined): PermissionShape | undefined {
  if (value === undefined && !question) return undefined;
  const { answer, by, at } = fieldsOf(value);
  const given = question?.answer;
  const option = given?.option;
  const kind = option?.kind ?? '';
  const chosen = kind.startsWith('reject') ? 'rejected' : kind.startsWith('allow') ? 'allowed' : undefined;
  return {
    answer: answer === 'allowed' || answer === 'rejected' ? answer : chosen,
    choice: kind === 'allow_always' || kind === 'reject_always' ? option?.label : undefined,
    by: textOf(by) ?? given?.by,
    at: textOf(at) ?? given?.at,
  };
}

const toolStates = new Set(['pending', 'running', 'completed', 'failed', 'rejected', 'cancelled']);
/** States of older and of later releases are ‘unknown’. Older daemons completed calls that the person had rejected. */
function statusOf({ status, asked }: Fields, answer: PermissionShape['answer']): string {
  if (answer === 'rejected' && fieldsOf(asked)['answer'] === undefined) return 'rejected';
  return typeof status === 'string' && toolStates.has(status) ? status : 'unknown';
}

/** `question`: the question about this call, where it is known. */
export function toolOf(part: unknown, question?: QuestionShape): ToolShape {
  const fields = fieldsOf(part);
  const permission = permissionOf(fields['asked'], question);
  return with_<ToolShape>({
    id: textOf(fields['id']) ?? '',
    name: textOf(fields['name']),
    does: textOf(fields['does']),
    title: textOf(fields['title']) ?? '',
    status: statusOf(fields, permission?.answer),
    ended: textOf(fields['ended']),
    asked: permission,
    about: textOf(fields['about']),
    input: textOf(fields['input']),
    command: textOf(fields['command']),
    cwd: textOf(fields['cwd']),
    output: textOf(fields['output']),
    left: countOf(fields['left']),
    data: textOf(fields['data']),
    exit: countOf(fields['exit']),
    parent: textOf(fields['parent']),
    open: fields['open'] === true ? true : undefined,
    paths: listOf(fields['places'], (place) => textOf(fieldsOf(place)['path']), 100),
    diffs: diffList(fields['diffs']),
  });
}

export interface PlanStep {
  text: string;
  status: string;
}
export const planOf = (part: unknown): PlanStep[] =>
  listOf(
    fieldsOf(part)['entries'],
    (entry) => {
      const { text, status } = fieldsOf(entry);
      return typeof text === 'string' ? { text, status: textOf(status) ?? 'pending' } : undefined;
    },
    200,
  );

export interface PictureShape {
  data: string;
  mime: string;
  bytes: number;
}
const pictureOf = (value: unknown): PictureShape | undefined => {
  const { data, mime, bytes } = fieldsOf(value);
  return typeof data === 'string' ? { data, mime: textOf(mime) ?? '', bytes: countOf(bytes) ?? 0 } : undefined;
};
export const pictures = (part: unknown): PictureShape[] => listOf(fieldsOf(part)['images'], pictureOf, 20);
export const picture = (part: unknown): PictureShape | undefined => pictureOf(part);

export interface QuestionShape {
  title: string;
  state: string;
  /** The command of a permission. */
  command: string | undefined;
  /** `isNo`: an option that rejects. */
  answer:
    | {
        text: string;
        at: string;
        by: string | undefined;
        isNo: boolean;
        option: { id: string; label: string; kind?: string } | undefined;
      }
    | undefined;
  /** Why its daemon asks. */
  reason: Question['reason'];
}
/** A question that is closed, or has a card already: one line. */
export function questionOf(part: unknown): QuestionShape {
  const { question, state, answer } = fieldsOf(part);
  const content = fieldsOf(question) as Partial<Question>;
  const given = answer === undefined ? undefined : fieldsOf(answer);
  const options = listOf(
    content.options,
    (option) => {
      const { id, label, kind } = fieldsOf(option);
      return typeof id === 'string' && typeof label === 'string' ? { id, label, kind: textOf(kind) } : undefined;
    },
    100,
  );
  const chosen = options.find(({ id }) => id === given?.['option']);
  return {
    title: textOf(content.title) ?? '',
    state: textOf(state) ?? '',
    command: textOf(fieldsOf(content.subject)['command']),
    answer: given && {
      option: chosen && with_<{ id: string; label: string; kind?: string }>(chosen),
      isNo: chosen?.kind?.startsWith('reject') === true,
      text: chosen?.label ?? textOf(given['text']) ?? textOf(given['option']) ?? '',
      at: textOf(given['at']) ?? '',
      by: textOf(given['by']),
    },
    reason: typeof fieldsOf(content.reason)['code'] === 'string' ? content.reason : undefined,
  };
}

export const markOf = (part: unknown) => {
  const { what, text, by, danger } = fieldsOf(part);
  return { what: textOf(what) ?? '', text: textOf(text) ?? '', by: textOf(by), danger: danger === true };
};
