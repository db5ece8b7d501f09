/** The entries of an audit as the cards of its page. */
import type { AuditEntry } from '@relay/protocol';

/** Joins equal actions in a row, on the same target and by the same program, to one card. */
export function together(entries: readonly AuditEntry[]): { entry: AuditEntry; count: number }[] {
  const cards: { entry: AuditEntry; count: number }[] = [];
  const keyOf = ({ action, outcome, program, address, target }: AuditEntry) =>
    [action, outcome, program, address, target].join('\n');
  for (const entry of entries) {
    const last = cards.at(-1);
    if (last && keyOf(last.entry) === keyOf(entry)) last.count += 1;
    else cards.push({ entry, count: 1 });
  }
  return cards;
}
