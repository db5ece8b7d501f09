/** Entries of a report that are written in one transaction: some twenty milliseconds in the embedded database. */
const together = 50;

/**
 * Hands over `items` in parts, in order, one after another; at least one, which is empty without items. `work` answers whether to go on.
 * True: all were handed over.
 */
export async function inParts<T>(
  items: readonly T[],
  work: (part: readonly T[], isLast: boolean) => Promise<boolean>,
): Promise<boolean> {
  for (let start = 0; ; start += together) {
    const isLast = start + together >= items.length;
    if (!(await work(items.slice(start, start + together), isLast))) return false;
    if (isLast) return true;
  }
}
