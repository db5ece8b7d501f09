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
  put: operation('put', 'PutOperation', 'Creates an item, or replaces it in its place.', { item: Item }),
  add: operation('add', 'AddOperation', 'Appends to `content`, or to `part.output`.', {
    uuid: id('Item'),
    text: text('Text to append', { maxLength: transcriptLimits.operationBytes }),
    to: maybe(oneOf(['output', 'thought'], 'Target; absent: `content`; `thought`: the `content` of a thought')),
  }),
  set: operation(
    'set',
    'SetOperation',
    'Merges into `part` (RFC 7396): absent members stay, null removes a member, a list replaces the old list.',
    {
      uuid: id('Item'),
      part: Type.Unsafe<Record<string, unknown>>({ type: 'object', description: 'Members to change' }),
      content: maybe(text('Replaces `content`')),
    },
  ),
  print: operation(
    'print',
    'PrintOperation',
    'For apps that do not read items: the text to send as `task_output` instead of the text that the operations of this frame add. Changes no item.',
    { text: text('Can be empty', { maxLength: transcriptLimits.operationBytes }) },
  ),
} as const;
export type Operation = { [K in keyof typeof operations]: Static<(typeof operations)[K]> }[keyof typeof operations];

/** The operations of a frame. Their inside is checked by the app that applies them, not by the relay. */
export const operationList = list(
  Type.Unsafe<Operation>({
    type: 'object',
    description: '`PutOperation`, `AddOperation` or `SetOperation`; new kinds can be added',
  }),
  'In the order of application',
  { maxItems: transcriptLimits.operations },
);
