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

const path = (description: string) => text(description, { maxLength: limits.pathCharacters });
const open = maybe(Type.Literal(true, { description: 'It still grows' }));
const part = <K extends string, T extends Parameters<typeof Type.Object>[0]>(
  kind: K,
  title: string,
  description: string,
  fields: T,
) => Type.Object({ kind: Type.Literal(kind), ...fields }, { title, description });

const image = {
  data: text('A name by which the bytes are fetched apart (`GET …/content/:name`); empty: they are not kept', {
    maxLength: limits.idCharacters,
  }),
  mime: line('Media type'),
  bytes: count('Size'),
};
export const version = (description: string) =>
  Type.Integer({ description, minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

const toolStatuses = ['pending', 'running', 'completed', 'failed', 'rejected', 'cancelled', 'unknown'] as const;
export const questionStates = ['open', 'answered', 'superseded', 'expired', 'cancelled', 'interrupted'] as const;

export const parts = {
  user: part('user', 'UserPart', 'Words of the user. In the plain list.', {
    images: maybe(list(record('PartImage', 'A picture.', image), 'Attached', { maxItems: transcriptLimits.images })),
    answers: maybe(id('Uuid of the question that it answers')),
    at: maybe(word(['desk'], 'Where it was written, if the agent records that. `desk`: in a terminal of the machine')),
    steer: maybe(
      word(
        ['now', 'dropped', 'next'],
        'Sent to a running turn. `now`: the agent got it there. `dropped`: that turn ended before the agent read it. `next`: that turn was over, and this one is its own',
      ),
    ),
  }),
  text: part('text', 'TextPart', 'Words of the agent, in `content`. In the plain list.', { open }),
  thought: part('thought', 'ThoughtPart', 'A thought of the agent, in `content`.', { open }),
  tool: part('tool', 'ToolPart', 'A call of a tool.', {
    id: id("The agent's id of the call"),
    name: maybe(line('Name of the tool')),
    does: maybe(line('What kind of work: read, edit, delete, move, search, execute, think, fetch, other')),
    title: text('For people', { maxLength: transcriptLimits.inputBytes }),
    status: word(
      toolStatuses,
      'State. Only the agent’s own report makes it `completed` or `failed`; `unknown`: its turn ended without a report. Older daemons send `interrupted` for `unknown`',
    ),
    ended: maybe(text('When it ended (ISO 8601); it began at `timestamp`', { maxLength: limits.timeCharacters })),
    asked: maybe(
      record('ToolPermission', 'The permission that the agent asked for.', {
        question: maybe(id('Uuid of its question. Absent where the machine itself answered')),
        answer: maybe(word(['allowed', 'rejected'], 'The choice. Absent while it is open, or without an answer')),
        by: maybe(line('Who or where, as far as it is known, as in the answer of a question')),
        at: maybe(text('When it was answered (ISO 8601)', { maxLength: limits.timeCharacters })),
      }),
    ),
    about: maybe(
      text('What the agent says about the call: a description, not output', { maxLength: transcriptLimits.inputBytes }),
    ),
    input: maybe(text('What it was given, as a summary', { maxLength: transcriptLimits.inputBytes })),
    command: maybe(text('The command that runs', { maxLength: transcriptLimits.inputBytes })),
    cwd: maybe(path('Where it runs')),
    output: maybe(text('What it printed: the first 4 and the last 12 KiB')),
    left: maybe(version('Bytes of the output that are not shown')),
    data: maybe(
      text('A name by which all of a longer output is fetched apart (`GET …/content/:name`)', {
        maxLength: limits.idCharacters,
      }),
    ),
    exit: maybe(Type.Integer({ description: 'Exit code' })),
    places: maybe(
      list(
        record('Place', 'A place in a file.', { path: path('File'), line: maybe(count('Line, from 1')) }),
        'Where it works',
        { maxItems: transcriptLimits.places },
      ),
    ),
    diffs: maybe(list(Diff, 'What it changed', { maxItems: transcriptLimits.diffFiles })),
    parent: maybe(id('Id of the call that this one belongs to')),
    open,
  }),
  plan: part('plan', 'PlanPart', 'The plan of the agent. One item per turn, replaced.', {
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
    'How full the context is, what the session has cost so far, and the limits of the plan. One item per turn, replaced.',
    {
      used: maybe(version('Tokens in the context')),
      size: maybe(version('Tokens that fit into it')),
      cost: maybe(Cost),
      limits: maybe(usageLimits),
    },
  ),
  question: part('question', 'QuestionPart', 'A question of the agent. In the plain list.', {
    question: Question,
    state: word(questionStates, 'State'),
    answer: maybe(
      record('QuestionAnswer', 'How it was answered.', {
        option: maybe(id('Id of the option')),
        text: maybe(text('Words', { maxLength: limits.messageBytes })),
        at: text('When (ISO 8601)', { maxLength: limits.timeCharacters }),
        by: maybe(line('Who, as far as it is known')),
      }),
    ),
  }),
  image: part('image', 'ImagePart', 'A picture of the agent.', image),
  error: part('error', 'ErrorPart', 'An error, with its text in `content`. In the plain list.', {
    code: maybe(line('Code')),
  }),
  mark: part('mark', 'MarkPart', 'Something that happened between the words.', {
    what: word(['cancelled', 'interrupted', 'mode', 'compacted', 'notice'], 'Kind'),
    text: maybe(text('For people', { maxLength: transcriptLimits.inputBytes })),
    by: maybe(line('Of a mode: where a person chose it; absent: the agent changed it')),
    danger: maybe(flag('Of a mode: the agent never asks now')),
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
  seq: version('Place in the list; given once'),
  v: maybe(version('Version of the session at the last change of the item')),
  turn: maybe(id('Uuid of the USER item that began the turn. A turn that the agent began itself has an id of its own')),
  part: Type.Unsafe<AnyPart>(
    Type.Object(
      { kind: text('One of the kinds below; others may come', { maxLength: 64 }) },
      {
        description:
          '`UserPart`, `TextPart`, `ThoughtPart`, `ToolPart`, `PlanPart`, `UsagePart`, `QuestionPart`, `ImagePart`, `ErrorPart` or `MarkPart`',
      },
    ),
  ),
};

export const Item = record('Item', 'One entry of a conversation, with its part.', {
  uuid: id('Identity for ever; the cursor of pages'),
  role: oneOf(['USER', 'AGENT', 'SYSTEM'], 'Who said it'),
  content: text('Always a complete plain text; may be empty'),
  timestamp: text('When it began (ISO 8601)', { maxLength: limits.timeCharacters }),
  ...itemFields,
});
export type Item = Static<typeof Item>;
