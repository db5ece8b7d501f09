/** The parts of a query that several routes have. */
import { Type, id, limits, maybe, oneOf } from '../schema.ts';
import { version } from '../transcript/index.ts';

export const page = (maximum: number) => maybe(Type.Integer({ description: 'Page size', minimum: 1, maximum }));

export const HistoryQuery = Type.Object({
  limit: page(limits.historyPage),
  before: maybe(id('Only messages before this uuid')),
  after: maybe(id('Only messages after this uuid')),
  parts: maybe(oneOf(['0', '1'], '1: items with their parts, if the daemon has them')),
  changed: maybe(version('With `parts=1`, instead of a cursor: only items that changed after this version')),
});
