/**
 * Settings of the planner that every connection to PostgreSQL turns off (ADR 100).
 *
 * - jit: PostgreSQL compiles a statement when it overestimates the cost, and compiling takes seconds where the statement takes milliseconds.
 * - the others: statements find their rows by an index, and lists read an index in its order. A connection keeps the plan of each statement,
 *   and a plan that it made while a table was small would read all of that table for as long as the connection lasts.
 */
export const planSettings = [
  'jit',
  'enable_seqscan',
  'enable_bitmapscan',
  'enable_hashjoin',
  'enable_mergejoin',
] as const;
