/**
 * The three operations that make a transcript: every reader that applies them in order has the daemon's list. A fourth, `print`, is text for
 * readers that keep no items, and changes nothing.
 */
import { type Static, Type, id, list, maybe, oneOf, text } from '../schema.ts';
import { transcriptLimits } from './bounds.ts';
import { Item } from './item.ts';

const operation = <N extends string, T extends Parameters<typeof Type.Object>[0]>(
  op: N,
  title: string,
  description: string,
  fields: T,
) => Type.Object({ op: Type.Literal(op), ...fields }, { title, description });

export const operations = {
  put: operation('put', 'PutOperation', 'Makes an item, or replaces it. Its place stays.', { item: Item }),
  add: operation('add', 'AddOperation', 'Appends to `content`, or to `part.output`.', {
    uuid: id('Item'),
    text: text('What is appended', { maxLength: transcriptLimits.operationBytes }),
    to: maybe(oneOf(['output', 'thought'], 'Absent: to `content`; `thought`: to the `content` of a thought')),
  }),
  set: operation(
    'set',
    'SetOperation',
    'Merges into `part` (RFC 7396): absent is unchanged, null is removed, lists are replaced.',
    {
      uuid: id('Item'),
      part: Type.Unsafe<Record<string, unknown>>({ type: 'object', description: 'What changes' }),
      content: maybe(text('Takes the place of `content`')),
    },
  ),
  print: operation(
    'print',
    'PrintOperation',
    'The text of this frame for apps that read no items, as `task_output`, in the place of the text that its operations add. Changes no item.',
    { text: text('May be empty', { maxLength: transcriptLimits.operationBytes }) },
  ),
} as const;
export type Operation = { [K in keyof typeof operations]: Static<(typeof operations)[K]> }[keyof typeof operations];

/** The operations of a frame. Their inside is checked by the app that applies them, not by the relay. */
export const operationList = list(
  Type.Unsafe<Operation>({
    type: 'object',
    description: '`PutOperation`, `AddOperation` or `SetOperation`; others may come',
  }),
  'In order',
  { maxItems: transcriptLimits.operations },
);
