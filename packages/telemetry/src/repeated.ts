/**
 * Repeated warnings: the first is written, then how many there were in each interval. A fault that hits every
 * frame must not fill the disk with the same line (rules, 15.14).
 */
/** More kinds than this at a time are written as they come. */
const maxKinds = 1_000;

/** `write` writes the line; with a number: that there were so many more of this kind since the last line of it. */
type FirstThenCounts = (kind: string, write: (repeated?: number) => void) => void;

/** A kind that did not come for a whole interval counts as new. The timers keep no process alive. */
export function firstThenCounts(intervalMs: number): FirstThenCounts {
  const kinds = new Map<string, { count: number; write: (repeated?: number) => void }>();
  return (kind, write) => {
    const existing = kinds.get(kind);
    if (existing) {
      existing.count += 1;
      existing.write = write;
      return;
    }
    write();
    if (kinds.size >= maxKinds) return;
    const entry = { count: 0, write };
    kinds.set(kind, entry);
    const timer = setInterval(() => {
      if (entry.count > 0) {
        entry.write(entry.count);
        entry.count = 0;
        return;
      }
      clearInterval(timer);
      kinds.delete(kind);
    }, intervalMs);
    timer.unref();
  };
}
