/**
 * One entry of a conversation with all its details. An item is a message with more fields, so that a reader that
 * ignores `part` shows its `content`. Names inside a part are single lower-case identifiers: no instance translates
 * them, and unknown kinds pass.
 */
import {
  type Static,
  type TSchema,
  Type,
  count,
  flag,
  id,
  limits,
  line,
  list,
  maybe,
  oneOf,
  record,
  text,
} from '../schema.ts';
import { transcriptLimits } from './bounds.ts';
import { Cost, usageLimits } from './figures.ts';
import { Diff, Question, word } from './question.ts';
import { TextReason } from './text-reason.ts';

const path = (description: string) => text(description, { maxLength: limits.pathCharacters });
const open = maybe(Type.Literal(true, { description: 'The text still grows' }));
const reason = maybe(TextReason);
const part = <K extends string, T extends Parameters<typeof Type.Object>[0]>(
  kind: K,
  title: string,
  description: string,
  fields: T,
) => Type.Object({ kind: Type.Literal(kind), ...fields }, { title, description });

const image = {
  data: text('Name for fetching the bytes (`GET …/content/:name`); empty: the daemon does not keep them', {
    maxLength: limits.idCharacters,
  }),
  mime: line('Media type'),
  bytes: count('Size'),
};
const file = {
  name: text('Its name on the machine', { maxLength: limits.idCharacters }),
  ...image,
};
export const version = (description: string) =>
  Type.Integer({ description, minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

const toolStatuses = ['pending', 'running', 'completed', 'failed', 'rejected', 'cancelled', 'unknown'] as const;
export const questionStates = ['open', 'answered', 'superseded', 'expired', 'cancelled', 'interrupted'] as const;

export const parts = {
  user: part('user', 'UserPart', 'A message of the user. Part of the plain list.', {
    images: maybe(list(record('PartImage', 'An image.', image), 'Attached', { maxItems: transcriptLimits.images })),
    files: maybe(list(record('PartFile', 'A file.', file), 'Attached files', { maxItems: transcriptLimits.files })),
    answers: maybe(id('Uuid of the question that it answers')),
    at: maybe(word(['desk'], 'Where it was written, if the agent records that. `desk`: in a terminal of the machine')),
    steer: maybe(
      word(
        ['now', 'dropped', 'next'],
        'The message was sent into a running turn. `now`: the agent got it in that turn. `dropped`: that turn was over before the agent read it. `next`: that turn was already over, and the message began its own',
      ),
    ),
  }),
  text: part('text', 'TextPart', 'A message of the agent, in `content`. Part of the plain list.', { open, reason }),
  thought: part('thought', 'ThoughtPart', 'A thought of the agent, in `content`.', { open }),
  tool: part('tool', 'ToolPart', 'A tool call.', {
    id: id("The agent's id of the call"),
    name: maybe(line('Name of the tool')),
    does: maybe(line('Kind of work: read, edit, delete, move, search, execute, think, fetch, other')),
    title: text('Title for people', { maxLength: transcriptLimits.inputBytes }),
    status: word(
      toolStatuses,
      'State. Only a report of the agent makes it `completed` or `failed`; `unknown`: the turn was over without a report. Older daemons send `interrupted` for `unknown`',
    ),
    ended: maybe(
      text('Completion time (ISO 8601); the call began at `timestamp`', { maxLength: limits.timeCharacters }),
    ),
    asked: maybe(
      record('ToolPermission', 'The permission that the agent requested.', {
        question: maybe(id('Uuid of its question. Absent if the machine answered by itself')),
        answer: maybe(
          word(['allowed', 'rejected'], 'The chosen option. Absent while the question is open, or if it got no answer'),
        ),
        by: maybe(line('Person or place that answered, if known, as in the answer of a question')),
        at: maybe(text('When it was answered (ISO 8601)', { maxLength: limits.timeCharacters })),
      }),
    ),
    about: maybe(
      text("The agent's description of the call, not its output", { maxLength: transcriptLimits.inputBytes }),
    ),
    input: maybe(text('Summary of its input', { maxLength: transcriptLimits.inputBytes })),
    command: maybe(text('The command', { maxLength: transcriptLimits.inputBytes })),
    cwd: maybe(path('Working directory of the command')),
    output: maybe(text('Its output: the first 4 KiB and the last 12 KiB')),
    left: maybe(version('Number of omitted bytes of the output')),
    data: maybe(
      text('Name for fetching the whole of a longer output (`GET …/content/:name`)', {
        maxLength: limits.idCharacters,
      }),
    ),
    exit: maybe(Type.Integer({ description: 'Exit code' })),
    places: maybe(
      list(
        record('Place', 'A location in a file.', { path: path('File'), line: maybe(count('Line, from 1')) }),
        'Files and lines that the call works on',
        { maxItems: transcriptLimits.places },
      ),
    ),
    diffs: maybe(list(Diff, 'Its changes', { maxItems: transcriptLimits.diffFiles })),
    parent: maybe(id('Id of the parent call')),
    open,
  }),
  plan: part('plan', 'PlanPart', 'The plan of the agent. Each turn has one such item; an update replaces it.', {
    entries: list(
      record('PlanEntry', 'A step.', {
        text: text('Step', { maxLength: transcriptLimits.planBytes }),
        status: word(['pending', 'in_progress', 'completed'], 'State'),
        priority: maybe(word(['high', 'medium', 'low'], 'Weight')),
      }),
      'Steps',
      { maxItems: transcriptLimits.planEntries },
    ),
  }),
  usage: part(
    'usage',
    'UsagePart',
    'Context usage, cost of the session so far, and the limits of the plan. Each turn has one such item; an update replaces it.',
    {
      used: maybe(version('Tokens in the context')),
      size: maybe(version('Capacity of the context in tokens')),
      cost: maybe(Cost),
      limits: maybe(usageLimits),
    },
  ),
  question: part('question', 'QuestionPart', 'A question of the agent. Part of the plain list.', {
    question: Question,
    state: word(questionStates, 'State'),
    answer: maybe(
      record('QuestionAnswer', 'The answer to the question.', {
        option: maybe(id('Id of the option')),
        text: maybe(text('Words', { maxLength: limits.messageBytes })),
        at: text('Time (ISO 8601)', { maxLength: limits.timeCharacters }),
        by: maybe(line('Person or place that answered, if known')),
      }),
    ),
  }),
  image: part('image', 'ImagePart', 'An image from the agent.', image),
  file: part('file', 'FilePart', 'A file from the agent.', {
    ...file,
    shared: maybe(
      Type.Literal(true, {
        description: 'Several sessions ran in the folder when the file appeared: it can be from another one',
      }),
    ),
  }),
  error: part('error', 'ErrorPart', 'An error, with its text in `content`. Part of the plain list.', {
    code: maybe(line('Code')),
    spent: maybe(Type.Number({ description: 'With `COST_CAP`: the cost, in dollars' })),
    cap: maybe(Type.Number({ description: 'With `COST_CAP`: the amount that the person allowed, in dollars' })),
    reason,
  }),
  mark: part('mark', 'MarkPart', 'A marker for an event between messages.', {
    what: word(['cancelled', 'interrupted', 'mode', 'compacted', 'notice'], 'Kind'),
    text: maybe(text('Text for people', { maxLength: transcriptLimits.inputBytes })),
    by: maybe(line('For a mode: the program in which a person chose it; absent: the agent changed it')),
    danger: maybe(flag('For a mode: the agent never asks from now on')),
    reason,
  }),
} as const satisfies Readonly<Record<string, TSchema>>;

type PartKind = keyof typeof parts;
/** A part of a known kind. */
export type Part<K extends PartKind = PartKind> = { [T in K]: Static<(typeof parts)[T]> }[K];
/** A part on the wire: its kind can be unknown to this release. */
export interface AnyPart {
  kind: string;
  [field: string]: unknown;
}

/** Kinds that a reader who knows no parts gets as messages. */
const plain: ReadonlySet<string> = new Set<PartKind>(['user', 'text', 'question', 'error']);
export const isPlain = ({ part }: { part?: unknown }): boolean =>
  typeof part !== 'object' || part === null || plain.has((part as { kind?: unknown }).kind as string);

/** Fields of an item in addition to those of a message. */
export const itemFields = {
  seq: version('Place in the list; never changes'),
  v: maybe(version('Version of the session at the last change of the item')),
  turn: maybe(id('Uuid of the USER item that began the turn; a turn begun by the agent has its own id')),
  part: Type.Unsafe<AnyPart>(
    Type.Object(
      { kind: text('One of the kinds below; new kinds can be added', { maxLength: 64 }) },
      {
        description:
          '`UserPart`, `TextPart`, `ThoughtPart`, `ToolPart`, `PlanPart`, `UsagePart`, `QuestionPart`, `ImagePart`, `FilePart`, `ErrorPart` or `MarkPart`',
      },
    ),
  ),
};

export const Item = record('Item', 'One entry of a conversation, with its part.', {
  uuid: id('Permanent id; also the cursor of pages'),
  role: oneOf(['USER', 'AGENT', 'SYSTEM'], 'Author'),
  content: text('Always complete plain text; can be empty'),
  timestamp: text('Start time (ISO 8601)', { maxLength: limits.timeCharacters }),
  ...itemFields,
});
export type Item = Static<typeof Item>;
